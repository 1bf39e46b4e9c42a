// SPDX-License-Identifier: Apache-2.0
// `sextant synth` as a script uses it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/io/bop_dataset.h"
#include "sextant/io/bop_models.h"
#include "sextant/io/bop_results.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/json_file.h"
#include "sextant/io/ply.h"
#include "sextant/io/png.h"
#include "tests/end_to_end/command_line.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

class SynthCli : public testing::CommandLine {
 protected:
  /// The exit status; stdout and stderr are kept.
  int run(const std::string& arguments) {
    const testing::Outcome outcome = CommandLine::run("synth " + arguments);
    out_ = outcome.out;
    err_ = outcome.err;
    return outcome.status;
  }

  std::string out_, err_;
};

TEST_F(SynthCli, ListsItsObjects) {
  ASSERT_EQ(run("--list --json"), 0) << err_;
  const auto objects = nlohmann::json::parse(out_).at("objects");
  EXPECT_EQ(objects.at(0).at("name"), "cube");
  EXPECT_GE(objects.size(), 10u);
  ASSERT_EQ(run("--help"), 0);
  EXPECT_NE(out_.find("Example:"), std::string::npos);
  EXPECT_NE(out_.find("--occlusion"), std::string::npos);
}

TEST_F(SynthCli, ATableWithItsTruth) {
  const std::string small = "--width 320 --height 240 --focal-px 262.5 ";
  ASSERT_EQ(run(small + "--objects 4 --seed 3 --noise kinect --meshes --output a/b --json"), 0)
      << err_;
  const fs::path made = folder_ / "a/b";
  const auto truth = read_json_file(made / "ground_truth.json");
  ASSERT_EQ(truth.at("objects").size(), 4u);
  const CameraFile camera = read_camera_json(made / "camera.json");
  EXPECT_EQ(camera.camera.width, 320);
  EXPECT_DOUBLE_EQ(camera.depth_scale_mm.value(), 1.0);
  const Image<float> depth = read_depth_png(made / "depth_true.png");
  EXPECT_EQ(read_png(made / "color.png").width(), 320);
  EXPECT_EQ(read_png(made / "normals.png").height(), 240);
  EXPECT_EQ(read_depth_png(made / "depth.png").width(), 320);
  // A visible vertex of a mesh, put where its pose says, lies on the depth map.
  for (const auto& object : truth.at("objects")) {
    if (object.at("visible_fraction") < 0.5) continue;
    const TriangleMesh mesh = read_ply(made / object.at("mesh").get<std::string>());
    const auto pose = object.at("camera_from_object").get<std::vector<std::vector<double>>>();
    int on_surface = 0;
    for (const Vec3f& p : mesh.vertices.points.host()) {
      double q[3];
      for (int i = 0; i < 3; ++i) {
        q[i] = pose[i][0] * p.x + pose[i][1] * p.y + pose[i][2] * p.z + pose[i][3];
      }
      const Vec2d pixel = project(camera.camera, Vec3d{q[0], q[1], q[2]});
      const int u = static_cast<int>(pixel.x + 0.5), v = static_cast<int>(pixel.y + 0.5);
      if (!(u >= 0 && v >= 0 && u < 320 && v < 240)) continue;
      on_surface += std::abs(depth(u, v) - q[2]) < 0.006;  // a slanted pixel and 1 mm steps
    }
    EXPECT_GT(on_surface, 0) << object.at("name");
  }
  // The same command gives the same bytes.
  ASSERT_EQ(run(small + "--objects 4 --seed 3 --noise kinect --output c"), 0) << err_;
  for (const char* name : {"depth.png", "depth_true.png", "color.png", "ids.png"}) {
    EXPECT_EQ(testing::text_of(made / name), testing::text_of(folder_ / (std::string("c/") + name)))
        << name;
  }
}

TEST_F(SynthCli, AnalyticShapes) {
  for (const char* scene : {"plane", "sphere", "cylinder", "torus", "box"}) {
    SCOPED_TRACE(scene);
    ASSERT_EQ(run(std::string("--scene ") + scene +
                  " --width 64 --height 48 --focal-px 60 --distance-m 0.8 --depth-unit-m 0.0001 "
                  "--output " +
                  scene),
              0)
        << err_;
    const Image<float> depth =
        read_depth_png(folder_ / (std::string(scene) + "/depth.png"), {.unit_m = 0.0001});
    float nearest = INFINITY;
    for (const float z : depth.pixels().host()) nearest = z < nearest ? z : nearest;
    EXPECT_GT(nearest, 0.4f);
    EXPECT_LT(nearest, 0.8f);
    const TriangleMesh cloud = read_ply(folder_ / (std::string(scene) + "/cloud.ply"));
    ASSERT_EQ(cloud.vertices.attributes.size(), 2u);
    EXPECT_EQ(cloud.vertices.attributes[0].name, "k1_per_m");
  }
}

TEST_F(SynthCli, SensorsAndTheirOptions) {
  const std::string plane = "--scene plane --width 96 --height 64 --focal-px 80 --output ";
  const auto depth = [&](const std::string& options) {
    EXPECT_EQ(run(plane + "x " + options), 0) << err_;
    return testing::text_of(folder_ / "x/depth.png");
  };
  const std::string kinect = depth("--noise kinect");
  EXPECT_NE(kinect, depth("--noise none"));
  EXPECT_NE(kinect, depth("--noise kinect-registered"));
  EXPECT_NE(kinect, depth("--noise independent"));
  EXPECT_NE(depth("--noise realsense"), depth("--noise realsense-near"));
  // A flag replaces the sensor's own value and nothing else.
  EXPECT_EQ(kinect, depth("--noise kinect --sigma-per-m 0.85e-3 --kernel box"));
  EXPECT_NE(kinect, depth("--noise kinect --sigma-per-m 3e-3"));
  EXPECT_EQ(depth("--noise realsense"), depth("--noise realsense --kernel gaussian"));
  EXPECT_NE(depth("--noise realsense"), depth("--noise realsense --rim-px 0 --step-per-m 0"));
  EXPECT_EQ(run(plane + "x --noise lidar"), 2);
  EXPECT_EQ(run(plane + "x --sigma-per-m 3e-3"), 2);
  EXPECT_TRUE(testing::mentions(err_, "--noise")) << err_;
  EXPECT_EQ(run(plane + "x --blur-px 2"), 2);
  ASSERT_EQ(run("--help"), 0);
  EXPECT_TRUE(testing::mentions(out_, "realsense-near"));
}

TEST_F(SynthCli, TablesAsADataSetThatCanBeJudged) {
  const std::string small =
      "--bop --set printed --objects 4 --frames 2 --strangers 3 --noise kinect --seed 4 "
      "--width 320 --height 240 --focal-px 262.5 ";
  ASSERT_EQ(run(small + "--output set --json --threads 2"), 0) << err_;
  const auto made = nlohmann::json::parse(out_);
  const std::vector<BopModel> models = read_bop_models(folder_ / "set/models/models_info.json");
  ASSERT_EQ(made.at("strangers").size(), 5u);  // and both playing cards
  ASSERT_EQ(made.at("objects").size(), models.size());
  const bool symmetric = std::any_of(
      models.begin(), models.end(), [](const BopModel& model) { return !model.symmetries.none(); });
  EXPECT_TRUE(symmetric);
  const auto scenes = find_bop_scenes(folder_ / "set");
  ASSERT_EQ(scenes.size(), 1u);
  const BopScene scene = read_bop_scene(scenes[0]);
  ASSERT_EQ(scene.images.size(), 2u);
  std::vector<BopResult> truth;
  std::size_t instances = 0, seen = 0;
  for (const BopImage& image : scene.images) {
    instances += image.truth.size();
    ASSERT_EQ(image.info.size(), image.truth.size());
    for (std::size_t i = 0; i < image.truth.size(); ++i) {
      const BopInstance& instance = image.truth[i];
      EXPECT_LE(instance.object_id, static_cast<int>(models.size()));
      // The poses are those of the pictures: what is large enough is mostly there to be seen.
      seen += image.info[i].visible_fraction > 0.1 ? 1 : 0;
      truth.push_back({scene.id, image.id, instance.object_id, 0.9, instance.camera_from_object});
    }
  }
  EXPECT_EQ(made.at("instances"), instances);
  EXPECT_LT(instances, 8u);  // five of seven kinds are strangers
  EXPECT_GT(seen, instances / 2);
  write_bop_results(folder_ / "truth.csv", truth);
  const testing::Outcome judged =
      CommandLine::run("eval set --results truth.csv --out report --json --tiles 0");
  ASSERT_EQ(judged.status, 0) << judged.err;
  const auto all = nlohmann::json::parse(judged.out).at("evaluation").at("all");
  EXPECT_EQ(all.at("instances"), seen);
  EXPECT_EQ(all.at("recall"), 1);
  EXPECT_EQ(all.at("precision"), 1);
  // The same command gives the same bytes for another number of threads.
  ASSERT_EQ(run(small + "--output again/set --threads 1"), 0) << err_;
  for (const char* name :
       {"models/models_info.json", "models/obj_000001.ply", "test/000001/scene_gt.json",
        "test/000001/scene_gt_info.json", "test/000001/depth/000001.png",
        "test/000001/rgb/000001.png", "test_targets_bop19.json", "sextant.json"}) {
    EXPECT_EQ(testing::text_of(folder_ / (std::string("set/") + name)),
              testing::text_of(folder_ / (std::string("again/set/") + name)))
        << name;
  }
  EXPECT_EQ(run("--bop --set printed --strangers 5 --output x"), 1);
  EXPECT_TRUE(testing::mentions(err_, "strangers: 5")) << err_;
  EXPECT_EQ(run("--frames 3 --output x"), 2);
  EXPECT_EQ(run("--bop --scene torus --output x"), 2);
  EXPECT_EQ(run("--bop --meshes --output x"), 2);
}

TEST_F(SynthCli, CutsOneThingOutOfEveryFrame) {
  const std::string tables =
      "--bop --set printed --objects 4 --frames 3 --strangers 3 --noise none --seed 4 "
      "--width 320 --height 240 --focal-px 262.5 --output ";
  ASSERT_EQ(run(tables + "whole"), 0) << err_;
  ASSERT_EQ(run(tables + "alone --cut-out-px 0"), 0) << err_;
  ASSERT_EQ(run(tables + "eroded --cut-out-px 6"), 0) << err_;
  const auto depth_of = [&](const std::string& set, const BopImage& image) {
    const std::string name = std::to_string(image.id) + ".png";
    return read_depth_png(folder_ / set / "test/000001/depth" /
                          (std::string(10 - name.size(), '0') + name));
  };
  const BopScene whole = read_bop_scene(find_bop_scenes(folder_ / "whole")[0]);
  const BopScene alone = read_bop_scene(find_bop_scenes(folder_ / "alone")[0]);
  std::int64_t kept = 0, left_of_eroded = 0;
  for (std::size_t i = 0; i < alone.images.size(); ++i) {
    EXPECT_LE(alone.images[i].truth.size(), 1u);
    const Image<float> all = depth_of("whole", whole.images[i]);
    const Image<float> one = depth_of("alone", alone.images[i]);
    const Image<float> rest = depth_of("eroded", alone.images[i]);
    for (std::int64_t k = 0; k < all.pixels().size(); ++k) {
      if (one.pixels().data()[k] > 0) {
        ++kept;
        EXPECT_EQ(one.pixels().data()[k], all.pixels().data()[k]);
      }
      if (rest.pixels().data()[k] > 0) {
        ++left_of_eroded;
        EXPECT_GT(one.pixels().data()[k], 0);
      }
    }
    EXPECT_LT(kept, all.pixels().size() / 4 * static_cast<std::int64_t>(i + 1));
  }
  EXPECT_GT(kept, 3 * 400);
  EXPECT_GT(left_of_eroded, 0);
  EXPECT_LT(left_of_eroded, kept);
  EXPECT_EQ(run("--cut-out-px 3 --output x"), 2);
  EXPECT_EQ(run("--bop --cut-out-px -1 --output x"), 2);
}

TEST_F(SynthCli, WrongUsageAndFailure) {
  EXPECT_EQ(run(""), 2);
  EXPECT_EQ(run("--scene moon --output x"), 2);
  EXPECT_EQ(run("--objects many --output x"), 2);
  EXPECT_EQ(run("--occlusion 3 --output x"), 2);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(run("--objects 1 --occlusion 0.5 --output x"), 1);
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
  std::ofstream(folder_ / "file") << "taken";
  EXPECT_EQ(run("--scene plane --output file"), 1);
  EXPECT_EQ(std::count(err_.begin(), err_.end(), '\n'), 1) << err_;
}

}  // namespace
}  // namespace sextant
