// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/bop_dataset.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/io/json_file.h"
#include "tests/error_message.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::error_message;
using testing::mentions;
using testing::TemporaryFolder;

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

/// As the benchmark's own files are: numbers of the files, not of our writer.
constexpr const char* kCamera = R"({
  "3": {"cam_K": [572.4114, 0.0, 325.2611, 0.0, 573.57043, 242.04899, 0.0, 0.0, 1.0],
        "depth_scale": 1.0, "view_level": 4},
  "12": {"cam_K": [572.0, 0.0, 325.0, 0.0, 573.0, 242.0, 0.0, 0.0, 1.0], "depth_scale": 0.1}
})";
constexpr const char* kTruth = R"({
  "3": [{"cam_R_m2c": [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
         "cam_t_m2c": [-105.5, 2.0, 1014.0], "obj_id": 1},
        {"cam_R_m2c": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "cam_t_m2c": [0, 0, 500], "obj_id": 6}],
  "12": []
})";
constexpr const char* kInfo = R"({
  "3": [{"bbox_obj": [245, 150, 43, 57], "bbox_visib": [245, 150, 42, 57], "px_count_all": 1687,
         "px_count_valid": 1600, "px_count_visib": 1656, "visib_fract": 0.9816},
        {"bbox_obj": [-1, -1, -1, -1], "bbox_visib": [-1, -1, -1, -1], "px_count_all": 0,
         "px_count_valid": 0, "px_count_visib": 0, "visib_fract": 0.0}]
})";

TEST(BopDataset, ReadsASceneOfTheBenchmark) {
  const TemporaryFolder folder;
  write(folder / "set/test/000002/scene_camera.json", kCamera);
  write(folder / "set/test/000002/scene_gt.json", kTruth);
  write(folder / "set/test/000002/scene_gt_info.json", kInfo);
  write(folder / "set/train_pbr/000000/scene_camera.json", kCamera);
  write(folder / "set/test/000002/depth/000003.png", "x");
  write(folder / "set/test/000002/rgb/000003.jpg", "x");
  fs::create_directories(folder / "set/models");
  const auto scenes = find_bop_scenes(folder / "set");
  ASSERT_EQ(scenes.size(), 1u);
  EXPECT_EQ(scenes[0].id, 2);
  const BopScene scene = read_bop_scene(scenes[0]);
  EXPECT_TRUE(scene.has_truth);
  ASSERT_EQ(scene.images.size(), 2u);
  const BopImage& image = scene.images[0];
  EXPECT_EQ(image.id, 3);
  EXPECT_EQ(image.camera.camera.fx_px, 572.4114);
  EXPECT_EQ(image.camera.camera.cy_px, 242.04899);
  EXPECT_EQ(image.camera.depth_scale_mm, 1.0);
  ASSERT_EQ(image.truth.size(), 2u);
  EXPECT_EQ(image.truth[0].object_id, 1);
  // A quarter turn about z carries x to y.
  const Vec3d p = image.truth[0].camera_from_object * Vec3d{0.01, 0, 0};
  EXPECT_NEAR(p.x, -0.1055, 1e-12);
  EXPECT_NEAR(p.y, 0.012, 1e-12);
  EXPECT_NEAR(p.z, 1.014, 1e-12);
  ASSERT_EQ(image.info.size(), 2u);
  EXPECT_EQ(image.info[0].valid_px, 1600);
  EXPECT_EQ(image.info[0].visible_fraction, 0.9816);
  EXPECT_EQ(image.info[0].box_px, (std::array<int, 4>{245, 150, 43, 57}));
  EXPECT_TRUE(scene.images[1].truth.empty());
  EXPECT_EQ(bop_depth_file(scene, image).filename(), "000003.png");
  EXPECT_EQ(bop_color_file(scene, image).filename(), "000003.jpg");
  EXPECT_TRUE(bop_color_file(scene, scene.images[1]).empty());
  EXPECT_TRUE(mentions(error_message([&] { bop_depth_file(scene, scene.images[1]); }),
                       "depth/000012.png: is missing"));
  EXPECT_EQ(find_bop_scenes(folder / "set", "train_pbr").size(), 1u);
  EXPECT_EQ(find_bop_scenes(folder / "set/test")[0].id, 2);
  EXPECT_EQ(find_bop_scenes(folder / "set/test/000002")[0].id, 2);
}

TEST(BopDataset, ReadsTheOlderGeneration) {
  const TemporaryFolder folder;
  write(folder / "01/info.yml",
        "0:\n  cam_K: [572.41140000, 0.00000000, 325.26110000, 0.00000000, 573.57043000,\n"
        "    242.04899000, 0.00000000, 0.00000000, 1.00000000]\n  depth_scale: 1.0\n"
        "1:\n  cam_K: [572.4114, 0, 325.2611, 0, 573.57043, 242.04899, 0, 0, 1]\n"
        "  depth_scale: 0.1\n");
  write(folder / "01/gt.yml",
        "0:\n- cam_R_m2c: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]\n"
        "  cam_t_m2c: [-105.35775150, -117.52119142, 1014.87701320]\n"
        "  obj_bb: [244, 150, 44, 58]\n  obj_id: 1\n"
        "- cam_R_m2c: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]\n"
        "  cam_t_m2c: [0, 0, 700]\n  obj_id: 2\n1: []\n");
  write(folder / "01/depth/0000.png", "x");
  const BopScene scene = read_bop_scene(find_bop_scenes(folder.path()).at(0));
  EXPECT_EQ(scene.id, 1);
  ASSERT_EQ(scene.images.size(), 2u);
  EXPECT_EQ(scene.images[1].camera.depth_scale_mm, 0.1);
  ASSERT_EQ(scene.images[0].truth.size(), 2u);
  EXPECT_EQ(scene.images[0].truth[1].object_id, 2);
  EXPECT_NEAR(scene.images[0].truth[0].camera_from_object.translation.z, 1.0148770132, 1e-12);
  EXPECT_TRUE(scene.images[0].info.empty());
  EXPECT_EQ(bop_depth_file(scene, scene.images[0]).filename(), "0000.png");
}

TEST(BopDataset, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  BopScene scene;
  scene.id = 7;
  scene.folder = folder / "test/000007";
  scene.has_truth = true;
  for (const int id : {2, 10}) {
    BopImage image;
    image.id = id;
    image.camera.camera = {0, 0, 1000.0 / 3, 500.25, 319.1, 241.7, {}};
    image.camera.depth_scale_mm = 0.125;
    image.truth.push_back({4, {exp_rotation(Vec3d{0.1, -2.0, 0.7}), {0.1 / 3, -0.2, 0.7 + id}}});
    image.info.push_back({100, 90, 50, 0.5, {1, 2, 3, 4}, {5, 6, 7, 8}});
    scene.images.push_back(std::move(image));
  }
  write_bop_scene(scene);
  const BopScene read = read_bop_scene(find_bop_scenes(folder.path()).at(0));
  ASSERT_EQ(read.images.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Rigid3d& a = scene.images[i].truth[0].camera_from_object;
    const Rigid3d& b = read.images[i].truth[0].camera_from_object;
    // Metres to millimetres and back round twice, by half an ulp of 10.7 m each.
    EXPECT_LT(norm(a.translation - b.translation), 4e-15);
    EXPECT_LT(rotation_angle(transpose(a.rotation) * b.rotation), 1e-14);
    EXPECT_EQ(read.images[i].camera.camera.fx_px, 1000.0 / 3);
    EXPECT_EQ(read.images[i].info[0].visible_box_px, scene.images[i].info[0].visible_box_px);
  }
  const std::vector<BopTarget> targets{{7, 2, 4, 1}, {7, 10, 4, 3}};
  write_bop_targets(folder / "test_targets_bop19.json", targets);
  const auto again = read_bop_targets(folder / "test_targets_bop19.json");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[1].image_id, 10);
  EXPECT_EQ(again[1].count, 3);
}

/// The message for a scene with one of its documents replaced.
std::string refusal(const char* camera, const char* truth, const char* info) {
  return error_message([&] {
    const json c = parse_json(camera, "scene_camera.json");
    const json t = parse_json(truth, "scene_gt.json");
    const json i = parse_json(info, "scene_gt_info.json");
    bop_scene_from_json({&c, &t, &i});
  });
}

TEST(BopDataset, SaysWhereADocumentIsWrong) {
  EXPECT_TRUE(mentions(refusal("{\"3\":\n {", kTruth, kInfo), "line 2"));
  EXPECT_TRUE(mentions(refusal("{\"x\": {}}", kTruth, kInfo), "\"x\" is not the number"));
  EXPECT_TRUE(mentions(refusal("[]", kTruth, kInfo), "a list of 0"));
  EXPECT_TRUE(mentions(refusal(R"({"3": {"depth_scale": 1}})", kTruth, kInfo), "image 3"));
  EXPECT_TRUE(mentions(refusal(kCamera, R"({"4": []})", kInfo), "image 4"));
  EXPECT_TRUE(mentions(refusal(kCamera, R"({"3": [{}]})", kInfo), "instance 0"));
  EXPECT_TRUE(mentions(refusal(kCamera, R"({"3": [{"obj_id": 1.5}]})", kInfo), "obj_id"));
  EXPECT_TRUE(mentions(
      refusal(kCamera, R"({"3": [{"obj_id": 1, "cam_R_m2c": [1, 0], "cam_t_m2c": [0, 0, 1]}]})",
              kInfo),
      "must have 9 numbers but has 2"));
  // A reflection is no rotation.
  EXPECT_TRUE(mentions(
      refusal(kCamera,
              R"({"3": [{"obj_id": 1, "cam_R_m2c": [1,0,0,0,1,0,0,0,-1], "cam_t_m2c": [0,0,1]}]})",
              kInfo),
      "no rotation"));
  EXPECT_TRUE(mentions(refusal(kCamera, kTruth, R"({"3": []})"), "2 instances"));
  EXPECT_TRUE(mentions(
      error_message([] { bop_targets_from_json(json::parse(R"([{"scene_id": 1}])"), "t.json"); }),
      "t.json: target 0: the key \"im_id\""));
}

TEST(BopDataset, SaysWhatAFolderLacks) {
  const TemporaryFolder folder;
  EXPECT_TRUE(mentions(error_message([&] { find_bop_scenes(folder / "none"); }), "no folder"));
  EXPECT_TRUE(mentions(error_message([&] { find_bop_scenes(folder.path()); }), "no scenes"));
  write(folder / "test/000001/scene_gt.json", kTruth);
  EXPECT_TRUE(mentions(error_message([&] { read_bop_scene(find_bop_scenes(folder.path()).at(0)); }),
                       "scene_camera.json: is missing; the data set is not complete"));
  fs::create_directories(folder / "test/000002");
  EXPECT_TRUE(mentions(error_message([&] { find_bop_scenes(folder.path()); }), "000002: has"));
  write(folder / "other/val/000001/scene_camera.json", kCamera);
  write(folder / "other/train/000001/scene_camera.json", kCamera);
  EXPECT_TRUE(mentions(error_message([&] { find_bop_scenes(folder / "other"); }), "--split"));
}

TEST(SimpleYaml, ReadsWhatDataSetsUse) {
  const json made = parse_simple_yaml(
      "# a comment\n---\n- rotation : [1, -2.5, +3e-2]  # more\n  name: 'a # b'\n"
      "- {diameter: 102.5, deep: [[1], {x: y}]}\n-\n  k:\n  - 1\n  - two\n",
      "x.yml");
  const json expected = json::parse(
      R"([{"rotation": [1, -2.5, 0.03], "name": "a # b"},
          {"diameter": 102.5, "deep": [[1], {"x": "y"}]}, {"k": [1, "two"]}])");
  EXPECT_EQ(made, expected) << made.dump();
  EXPECT_TRUE(parse_simple_yaml("", "x.yml").is_null());
}

TEST(SimpleYaml, NamesTheLineOfAMistake) {
  const auto refused = [](const char* text) {
    return error_message([&] { parse_simple_yaml(text, "x.yml"); });
  };
  EXPECT_TRUE(mentions(refused("a: 1\nb: [1, 2\n"), "x.yml: line 2"));
  EXPECT_TRUE(mentions(refused("a: 1\n  b: 2\n"), "line 2: is indented more"));
  EXPECT_TRUE(mentions(refused("a: 1\na: 2\n"), "line 2: has the key a a second time"));
  EXPECT_TRUE(mentions(refused("a: 1\nword\n"), "line 2: expected 'key: value'"));
  EXPECT_TRUE(mentions(refused("a: ]\n"), "line 1"));
  EXPECT_TRUE(mentions(refused("a: [1 2] 3\n"), "line 1"));
  EXPECT_TRUE(mentions(refused("\ta: 1\n"), "tab"));
}

TEST(SimpleYaml, ReadsTheModelsOfLinemod) {
  const auto path = testing::shared_data("linemod_ape/models_info.yml");
  if (!path) GTEST_SKIP() << "no captured data";
  const json models = read_simple_yaml(*path);
  EXPECT_EQ(models.at("1").at("diameter"), 102.09865663);
}

}  // namespace
}  // namespace sextant
