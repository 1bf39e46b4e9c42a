// SPDX-License-Identifier: Apache-2.0
// `sextant eval` and `sextant convert-dataset` as a script uses them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/io/bop_dataset.h"
#include "sextant/io/bop_results.h"
#include "sextant/io/json_file.h"
#include "sextant/io/ply.h"
#include "sextant/io/png.h"
#include "sextant/render/rasterize.h"
#include "tests/end_to_end/command_line.h"
#include "tests/error_message.h"
#include "tests/meshes.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

/// A ball of 50 mm radius, object 4, in three images before a wall.
class EvalCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const Camera camera{160, 120, 130, 130, 79.5, 59.5, {}};
    const TriangleMesh ball = testing::sphere(0.05f, 16, 24);
    TriangleMesh in_mm = testing::sphere(50.0f, 16, 24);
    fs::create_directories(folder_ / "set/models");
    write_ply(folder_ / "set/models/obj_000004.ply", in_mm);
    write_json_file(folder_ / "set/models/models_info.json", {{"4", {{"diameter", 100.0}}}});
    BopScene scene;
    scene.id = 1;
    scene.folder = folder_ / "set/test/000001";
    scene.has_truth = true;
    fs::create_directories(scene.folder / "depth");
    const RenderScene meshes(Context::cpu(), ball);
    for (int i = 0; i < 3; ++i) {
      BopImage image;
      image.id = i;
      image.camera = {camera, 1.0};
      const Rigid3d pose{Mat3d::identity(), {0.05 * i, 0, 0.8}};
      image.truth.push_back({4, pose});
      const Instance instance{0, 0, 0, cast<float>(pose)};
      Rendering seen = render(Context::cpu(), meshes, camera, {&instance, 1});
      for (float& z : seen.depth_m.host()) z = z > 0 ? z : 1.5f;
      write_depth_png(scene.folder / "depth" / (bop_name(i) + ".png"), seen.depth_m_of(0));
      scene.images.push_back(std::move(image));
    }
    write_bop_scene(scene);
    // Right; off by 30 mm; nothing for the third; one where nothing is.
    write_bop_results(folder_ / "ours.csv",
                      {{1, 0, 4, 0.9, {Mat3d::identity(), {0.001, 0, 0.8}}, 0.2},
                       {1, 1, 4, 0.6, {Mat3d::identity(), {0.08, 0, 0.8}}, 0.4},
                       {1, 1, 4, 0.3, {Mat3d::identity(), {-0.3, 0, 0.8}}, 0.4}});
  }
};

TEST_F(EvalCli, JudgesResultsAndGoesOnWhereItStopped) {
  const testing::Outcome first =
      run("eval set --results ours.csv --out report --json --device cpu --threads 2");
  ASSERT_EQ(first.status, 0) << first.err;
  const auto all = nlohmann::json::parse(first.out).at("evaluation").at("all");
  EXPECT_EQ(all.at("instances"), 3);
  EXPECT_EQ(all.at("right"), 1);
  EXPECT_EQ(all.at("wrong"), 1);
  EXPECT_EQ(all.at("false"), 1);
  EXPECT_EQ(all.at("missed"), 2);
  EXPECT_NEAR(all.at("median_distance_mm").get<double>(), 1, 1e-6);
  for (const char* name : {"index.html", "contact_sheet.png", "report.json", "judged.jsonl",
                           "precision_recall.svg", "reliability.svg"}) {
    EXPECT_TRUE(fs::exists(folder_ / (std::string("report/") + name))) << name;
  }
  EXPECT_EQ(read_png(folder_ / "report/contact_sheet.png").width(), 3 * 324);
  // A run that lost its last lines judges these again; any number of threads says the same.
  const std::string lines = testing::text_of(folder_ / "report/judged.jsonl");
  std::ofstream(folder_ / "report/judged.jsonl") << lines.substr(0, lines.size() / 2);
  const testing::Outcome again =
      run("eval set --results ours.csv --out report --json --device cpu --threads 1");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(nlohmann::json::parse(again.out).at("evaluation"),
            nlohmann::json::parse(first.out).at("evaluation"));
  // A looser criterion turns the wrong one right.
  const testing::Outcome loose = run("eval set --results ours.csv --out loose --json --share 0.4");
  ASSERT_EQ(loose.status, 0) << loose.err;
  EXPECT_EQ(nlohmann::json::parse(loose.out).at("evaluation").at("all").at("right"), 2);
}

TEST_F(EvalCli, ReadsModelsOfOlderSets) {
  fs::rename(folder_ / "set/models/obj_000004.ply", folder_ / "set/models/obj_04.ply");
  fs::remove(folder_ / "set/models/models_info.json");
  std::ofstream(folder_ / "set/models/models_info.yml") << "4: {diameter: 100.0}\n";
  const testing::Outcome outcome = run("eval set --results ours.csv --out old --json --tiles 0");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).at("evaluation").at("all").at("right"), 1);
}

TEST_F(EvalCli, JudgesPartOfASetAndByTheTruthRefinedOnDepth) {
  // Two of the three images, spread evenly: the first and the second; results for the others are
  // left out.
  const testing::Outcome part =
      run("eval set --results ours.csv --out part --json --tiles 0 --images 2");
  ASSERT_EQ(part.status, 0) << part.err;
  EXPECT_EQ(nlohmann::json::parse(part.out).at("evaluation").at("all").at("instances"), 2);
  const testing::Outcome last =
      run("eval set --results ours.csv --out last --json --tiles 0 --first 2");
  ASSERT_EQ(last.status, 0) << last.err;
  EXPECT_EQ(nlohmann::json::parse(last.out).at("evaluation").at("all").at("missed"), 1);
  EXPECT_EQ(run("eval set --results ours.csv --out last --first 3").status, 1);
  // The truth says 4 mm too far away; the depth maps know better.
  const BopSceneFolder folder = find_bop_scenes(folder_ / "set")[0];
  BopScene scene = read_bop_scene(folder);
  for (BopImage& image : scene.images) {
    image.truth[0].camera_from_object.translation.z += 0.004;
    image.info.clear();
  }
  write_bop_scene(scene);
  const testing::Outcome given = run("eval set --results ours.csv --out given --json --tiles 0");
  ASSERT_EQ(given.status, 0) << given.err;
  const auto distance = [](const testing::Outcome& outcome) {
    return nlohmann::json::parse(outcome.out)
        .at("evaluation")
        .at("all")
        .at("median_distance_mm")
        .get<double>();
  };
  EXPECT_GT(distance(given), 4);
  const testing::Outcome refined =
      run("eval set --results ours.csv --out refined --json --tiles 0 --truth refined");
  ASSERT_EQ(refined.status, 0) << refined.err;
  EXPECT_LT(distance(refined), 2);
  const auto moved = nlohmann::json::parse(refined.out).at("refined_truth");
  EXPECT_EQ(moved.at("moved"), 3);
  EXPECT_NEAR(moved.at("median_mm").get<double>(), 4, 1);
  const std::string lines = testing::text_of(folder_ / "refined/refined_truth.jsonl");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 3);
  EXPECT_EQ(run("eval set --results ours.csv --out x --refine-reach 0.2").status, 2);
}

TEST_F(EvalCli, BrokenInputIsOneLine) {
  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const testing::Outcome outcome = run("eval " + arguments);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(testing::mentions(outcome.err, part));
  };
  std::ofstream(folder_ / "bad.csv") << "scene_id,im_id,obj_id,score,R,t,time\n1,0,4,0.9\n";
  refused("set --results bad.csv --out r", "bad.csv: line 2");
  std::ofstream(folder_ / "far.csv") << "1,77,4,0.9,1 0 0 0 1 0 0 0 1,0 0 900,-1\n";
  refused("set --results far.csv --out r", "image 77");
  std::ofstream(folder_ / "other.csv") << "1,0,5,0.9,1 0 0 0 1 0 0 0 1,0 0 900,-1\n";
  refused("set --results other.csv --out r", "object 5");
  refused("nowhere --results ours.csv --out r", "nowhere");
  // Metres where BOP has millimetres.
  std::ofstream(folder_ / "metres.csv") << "1,0,4,0.9,1 0 0 0 1 0 0 0 1,0 0 0.9,-1\n";
  refused("set --results metres.csv --out r", "metres.csv: no object lies farther than 0.9 mm");
  const fs::path infos = folder_ / "set/models/models_info.json";
  const nlohmann::json right = read_json_file(infos.string());
  write_json_file(infos, {{"4", {{"diameter", 0.1}}}});
  refused("set --results ours.csv --out r",
          "object 4 has a diameter of 0.1 mm, but obj_000004.ply");
  write_json_file(infos, right);
  const fs::path cameras = folder_ / "set/test/000001/scene_camera.json";
  const nlohmann::json millimetres = read_json_file(cameras.string());
  nlohmann::json metres = millimetres;
  for (nlohmann::json& camera : metres) camera["depth_scale"] = 0.001;
  write_json_file(cameras, metres);
  refused("set --results ours.csv --out r", "with depth_scale 0.001 of scene_camera.json");
  write_json_file(cameras, millimetres);
  fs::remove(folder_ / "set/test/000001/depth/000002.png");
  refused("set --results ours.csv --out r", "depth/000002.png: is missing");
}

TEST_F(EvalCli, ConvertsLinemodAndFindsItsTruthRight) {
  const auto root = testing::shared_data("linemod_ape");
  if (!root) GTEST_SKIP() << "no captured data";
  const testing::Outcome made = run("convert-dataset '" + root->string() + "' bop --symlinks");
  ASSERT_EQ(made.status, 0) << made.err;
  std::vector<BopResult> truth;
  for (const BopSceneFolder& folder : find_bop_scenes(folder_ / "bop/linemod")) {
    const BopScene scene = read_bop_scene(folder);
    for (const BopImage& image : scene.images) {
      // The annotation fits the depth map: nearly all of the ape is visible by it.
      EXPECT_GT(image.info.at(0).visible_fraction, 0.9);
      truth.push_back({scene.id, image.id, 1, 1.0, image.truth[0].camera_from_object, -1});
    }
  }
  write_bop_results(folder_ / "truth.csv", truth);
  const testing::Outcome judged =
      run("eval bop/linemod --results truth.csv --out report --json --tiles 0");
  ASSERT_EQ(judged.status, 0) << judged.err;
  const auto evaluation = nlohmann::json::parse(judged.out).at("evaluation");
  EXPECT_EQ(evaluation.at("all").at("recall"), 1);
  EXPECT_EQ(evaluation.at("bop19").at("AR"), 1);
  EXPECT_NEAR(evaluation.at("bop24").at("AP").get<double>(), 1, 1e-12);
}

TEST_F(EvalCli, ConvertDatasetWrongUsage) {
  EXPECT_EQ(run("convert-dataset").status, 2);
  EXPECT_EQ(run("convert-dataset a b --only nothing").status, 2);
  EXPECT_EQ(run("convert-dataset --list").status, 0);
  const testing::Outcome empty = run("convert-dataset set out");
  EXPECT_EQ(empty.status, 1);
  EXPECT_TRUE(testing::mentions(empty.err, "--list"));
  // The sets that are read stay as they are.
  for (const char* inside : {"set", "set/../set/new", "./set/new/deep"}) {
    const testing::Outcome refused = run(std::string("convert-dataset set ") + inside);
    EXPECT_EQ(refused.status, 1);
    EXPECT_TRUE(testing::mentions(refused.err, "lies in set"));
    EXPECT_FALSE(fs::exists(folder_ / "set/new"));
  }
}

TEST_F(EvalCli, RefusesLimitsOfAnotherMeasure) {
  const std::string command = "eval set --results ours.csv --out r ";
  EXPECT_EQ(run(command + "--distance-m 0.1").status, 2);
  EXPECT_EQ(run(command + "--measure mssd --angle-rad 0.1").status, 2);
  EXPECT_EQ(run(command + "--measure distance-and-angle --share 0.1").status, 2);
}

}  // namespace
}  // namespace sextant
