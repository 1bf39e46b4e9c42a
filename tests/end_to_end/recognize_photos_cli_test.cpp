// SPDX-License-Identifier: Apache-2.0
// `sextant recognize` on photographs: cards that are learned from their pictures are found where
// they were put.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/evaluate/pose_error.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/json_file.h"
#include "sextant/io/ply.h"
#include "sextant/io/png.h"
#include "sextant/io/pose_json.h"
#include "sextant/io/rig_json.h"
#include "tests/card_photos.h"
#include "tests/each_device.h"
#include "tests/end_to_end/command_line.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Card;
using testing::CardPose;
using testing::facing;
using testing::Outcome;

class RecognizePhotosCli : public testing::CommandLine {
 protected:
  void prepare() override {
    write_image(folder_ / "tea.png", tea_.picture.view());
    write_image(folder_ / "milk.png", milk_.picture.view());
    write_camera_json(folder_ / "cam.json", {camera_, {}});
    take("both.png", {{&tea_, tea_pose_}, {&milk_, milk_pose_}}, camera_, {});
  }
  void take(const std::string& file, std::vector<CardPose> cards, const Camera& camera,
            const Rigid3d& world_from_camera) const {
    write_image(folder_ / file, testing::photograph(cards, camera, world_from_camera).view());
  }
  void learn() const {
    for (const char* name : {"tea", "milk"}) {
      const Outcome learned =
          run(std::string("learn cards.sxt ") + name + ".png --planar-width 120mm");
      ASSERT_EQ(learned.status, 0) << learned.err;
    }
  }
  json found(const std::string& arguments) const {
    const Outcome outcome = run("recognize cards.sxt " + arguments + " --json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json{};
  }
  /// Fails unless the document has this object once, in this pose.
  static void expect_found(const json& document, const std::string& name, const Rigid3d& truth,
                           const char* key = "camera_from_object") {
    int count = 0;
    for (const json& detection : document.at("detections")) {
      if (detection.at("object") != name) continue;
      ++count;
      const Rigid3d pose = pose_from_json(detection.at(key), "pose");
      EXPECT_LT(norm(pose.translation - truth.translation), 0.0015) << name;
      EXPECT_LT(rotation_angle(transpose(pose.rotation) * truth.rotation), 0.02) << name;
      EXPECT_GT(detection.at("score").get<double>(), 0.9);
      EXPECT_GT(detection.at("inliers").size(), 20u);
    }
    EXPECT_EQ(count, 1) << name;
  }

  Card tea_ = testing::blob_card(480, 320, 0.12, 3), milk_ = testing::blob_card(480, 320, 0.12, 4);
  Camera camera_{640, 480, 700, 700, 320, 240, {}};
  Rigid3d tea_pose_ = facing({-0.07, 0.02, 0.4}, {0.2, -0.3, 0.1});
  Rigid3d milk_pose_ = facing({0.06, -0.03, 0.45}, {-0.4, 0.2, 1.7});
};

TEST_F(RecognizePhotosCli, FindsObjectsWhereTheyAre) {
  learn();
  const json document = found("both.png --camera cam.json --overlay found.png --explain");
  EXPECT_EQ(document.at("detections").size(), 2u);
  expect_found(document, "tea", tea_pose_);
  expect_found(document, "milk", milk_pose_);
  EXPECT_EQ(document.at("features").size(), 1u);
  EXPECT_GT(document.at("matches").get<int>(), 100);
  EXPECT_EQ(document.at("overlay"), "found.png");
  const Image<Rgb8> picture = read_image(folder_ / "found.png");
  EXPECT_EQ(picture.width(), 640);
  // Something is drawn in colour over a grey photograph.
  int colored = 0;
  for (const Rgb8& p : picture.pixels().host()) colored += p.x != p.y ? 1 : 0;
  EXPECT_GT(colored, 2000);
  const Outcome text = run("recognize cards.sxt both.png --camera cam.json");
  EXPECT_NE(text.out.find("both.png: 2 found"), std::string::npos) << text.out;
  // The bytes are the same for any number of threads, but for the times.
  const auto without_times = [](json d) {
    d.erase("times_ms");
    return d;
  };
  const json one = found("both.png --camera cam.json --threads 1");
  EXPECT_EQ(without_times(one), without_times(found("both.png --camera cam.json --threads 3")));
}

TEST_F(RecognizePhotosCli, RunsOnCuda) {
  if (testing::cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  learn();
  const json document = found("both.png --camera cam.json --device cuda --explain");
  EXPECT_EQ(document.at("device"), "cuda:0");
  EXPECT_EQ(document.at("detections").size(), 2u);
  expect_found(document, "tea", tea_pose_);
  expect_found(document, "milk", milk_pose_);
  const Outcome both =
      run("recognize cards.sxt both.png --camera cam.json --device cuda --mode throughput");
  EXPECT_EQ(both.status, 1);
  EXPECT_NE(both.err.find("--device cpu"), std::string::npos) << both.err;
}

TEST_F(RecognizePhotosCli, LensDistortionIsTakenOut) {
  learn();
  Camera bent = camera_;
  bent.distortion = {-0.25, 0.08, 0.001, -0.002, 0};
  write_camera_json(folder_ / "bent.json", {bent, {}});
  take("bent.png", {{&tea_, tea_pose_}}, bent, {});
  const json document = found("bent.png --camera bent.json --overlay found.png");
  EXPECT_EQ(document.at("detections").size(), 1u);
  expect_found(document, "tea", tea_pose_);
}

TEST_F(RecognizePhotosCli, SeveralCamerasGivePosesInTheWorld) {
  learn();
  Rigid3d right;
  right.translation = {0.1, 0, 0};
  right.rotation = exp_rotation(Vec3d{0, -0.15, 0});
  write_rig_json(folder_ / "rig.json", {{"left", {camera_, {}}}, {"right", {camera_, right}}});
  const std::vector<CardPose> cards{{&tea_, tea_pose_}, {&milk_, milk_pose_}};
  take("right.png", cards, camera_, right);
  const json document = found("both.png right.png --camera rig.json --overlay pictures");
  EXPECT_EQ(document.at("detections").size(), 2u);
  expect_found(document, "tea", tea_pose_, "world_from_object");
  expect_found(document, "milk", milk_pose_, "world_from_object");
  EXPECT_EQ(document.at("detections")[0].at("views"), 2);
  EXPECT_EQ(document.at("detections")[0].at("camera_from_object").size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "pictures" / "both_left.png"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "pictures" / "both_right.png"));
  const Outcome one = run("recognize cards.sxt both.png --camera rig.json");
  EXPECT_EQ(one.status, 1);
  EXPECT_NE(one.err.find("has 2 cameras, but 1 input"), std::string::npos) << one.err;
}

TEST_F(RecognizePhotosCli, LooksAtAFolderInEitherMode) {
  learn();
  std::filesystem::create_directory(folder_ / "film");
  for (int i = 0; i < 3; ++i) {
    Rigid3d pose = tea_pose_;
    pose.translation.x += 0.02 * i;
    take("film/" + std::to_string(i) + ".png", {{&tea_, pose}}, camera_, {});
  }
  const json slow = found("film --camera cam.json"),
             fast = found("film --camera cam.json --mode throughput --threads 2");
  ASSERT_EQ(slow.at("frames").size(), 3u);
  EXPECT_EQ(slow.at("speed").at("frames"), 3);
  EXPECT_GT(slow.at("speed").at("latency_ms").at("p95").get<double>(), 0);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(slow.at("frames")[i].at("detections").size(), 1u);
    EXPECT_EQ(slow.at("frames")[i].at("detections"), fast.at("frames")[i].at("detections"));
  }
  // A broken photograph does not stop the others.
  std::ofstream(folder_ / "film" / "1.png") << "no picture";
  const Outcome broken = run("recognize cards.sxt film --camera cam.json --json");
  EXPECT_EQ(broken.status, 1);
  const json document = json::parse(broken.out);
  EXPECT_TRUE(document.at("frames")[1].contains("error"));
  EXPECT_EQ(document.at("frames")[2].at("detections").size(), 1u);
}

TEST_F(RecognizePhotosCli, ADataSetOfPhotographsIsJudged) {
  learn();
  // Flat models in millimetres, whose names in the set are those in the library.
  TriangleMesh flat;
  flat.vertices.points = copy(
      Context::cpu(), std::vector<Vec3f>{{-60, -40, 0}, {60, -40, 0}, {60, 40, 0}, {-60, 40, 0}});
  flat.triangles = copy(Context::cpu(), std::vector<Vec3i>{{0, 2, 1}, {0, 3, 2}});
  std::filesystem::create_directories(folder_ / "set/models");
  json infos, names;
  for (const auto& [id, name] : {std::pair{"2", "milk"}, {"5", "tea"}}) {
    write_ply(folder_ / ("set/models/obj_00000" + std::string(id) + ".ply"), flat);
    infos[id] = {{"diameter", 144.2}};
    names[id] = name;
  }
  write_json_file(folder_ / "set/models/models_info.json", infos);
  write_json_file(folder_ / "set/sextant.json", {{"name", "cards"},
                                                 {"source", ""},
                                                 {"truth", "exact"},
                                                 {"criterion", options_to_json(PoseCriterion{})},
                                                 {"objects", names},
                                                 {"distractors", json::array()},
                                                 {"unlisted", json::object()},
                                                 {"remarks", json::array()}});
  BopScene scene;
  scene.id = 1;
  scene.folder = folder_ / "set/test/000001";
  scene.has_truth = true;
  std::filesystem::create_directories(scene.folder / "rgb");
  for (int i = 0; i < 2; ++i) {
    BopImage image;
    image.id = i;
    image.camera = {camera_, {}};
    Rigid3d pose = tea_pose_;
    pose.translation.x += 0.05 * i;
    image.truth.push_back({5, pose});
    image.truth.push_back({2, milk_pose_});
    take("set/test/000001/rgb/" + bop_name(i) + ".png", {{&tea_, pose}, {&milk_, milk_pose_}},
         camera_, {});
    scene.images.push_back(std::move(image));
  }
  write_bop_scene(scene);
  for (const char* workers : {"1", "2"}) {
    const std::string out = std::string("report") + workers;
    const Outcome judged =
        run("eval set --library cards.sxt --out " + out + " --json --workers " + workers);
    ASSERT_EQ(judged.status, 0) << judged.err;
    const json all = json::parse(judged.out).at("evaluation").at("all");
    EXPECT_EQ(all.at("instances"), 4);
    EXPECT_EQ(all.at("right"), 4);
    EXPECT_EQ(all.at("false"), 0);
  }
  const auto says = [&](const std::string& flags, const char* part) {
    const Outcome outcome = run("eval set --out other " + flags);
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  says("--library cards.sxt --sources tensors", "has photographs");
  says("--results report1/results.csv --preset paper", "--preset: has no effect");
}

TEST_F(RecognizePhotosCli, NothingThereIsAnAnswer) {
  learn();
  take("wall.png", {}, camera_, {});
  EXPECT_TRUE(found("wall.png --camera cam.json").at("detections").empty());
  const Card other = testing::blob_card(480, 320, 0.12, 9);
  take("other.png", {{&other, tea_pose_}}, camera_, {});
  EXPECT_TRUE(found("other.png --camera cam.json").at("detections").empty());
  write_camera_json(folder_ / "dot.json", {{1, 1, 1, 1, 0, 0, {}}, {}});
  write_image(folder_ / "dot.png", Image<std::uint8_t>(Context::cpu(), 1, 1).view());
  EXPECT_TRUE(found("dot.png --camera dot.json").at("detections").empty());
}

TEST_F(RecognizePhotosCli, SaysWhatIsWrong) {
  learn();
  const auto message = [&](const std::string& arguments, int status = 1) {
    const Outcome outcome = run("recognize cards.sxt " + arguments);
    EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
    return outcome.err;
  };
  const auto says = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  Camera small = camera_;
  small.width = 320;
  write_camera_json(folder_ / "small.json", {small, {}});
  says(message("both.png --camera small.json"), "320 x 480");
  says(message("both.png --camera cam.json --segment a.ply"), "--segment: has no effect");
  std::filesystem::create_directory(folder_ / "other");
  take("other/both.png", {}, camera_, {});
  says(message("both.png other/both.png --camera cam.json --overlay pictures"), "would overwrite");
  says(message("both.png --camera cam.json --only coffee"), "has no object 'coffee'");
  says(message("both.png cam.json --camera cam.json"), "is no photograph");
  write_depth(folder_ / "depth.png",
              testing::make_image<float>(640, 480, [](int, int) { return 1.0f; }).view());
  says(message("both.png depth.png --camera cam.json"), "is no photograph");
  says(message("depth.png --camera cam.json --mode throughput"), "--mode: has no effect");
}

}  // namespace
}  // namespace sextant
