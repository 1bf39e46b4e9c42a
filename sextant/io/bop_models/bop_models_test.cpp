// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/bop_models.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sextant/io/json_file.h"
#include "tests/error_message.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;

constexpr const char* kCan =
    R"({"5": {"diameter": 120.5, "min_x": -33.5, "min_y": -34, "min_z": -51,
  "size_x": 67, "size_y": 68, "size_z": 102, "origin": "scan",
  "symmetries_discrete": [[1, 0, 0, 2, 0, -1, 0, 4, 0, 0, -1, 6, 0, 0, 0, 1]],
  "symmetries_continuous": [{"axis": [0, 0, 2], "offset": [1, 2, 3]}]},
  "12": {"diameter": 10, "min_x": 0, "min_y": 0, "min_z": 0,
  "size_x": 1, "size_y": 2, "size_z": 3}})";

std::vector<BopModel> parsed(const std::string& text) {
  return bop_models_from_json(parse_json(text, "m.json"), "m.json");
}

TEST(BopModels, AreInMetres) {
  const std::vector<BopModel> models = parsed(kCan);
  ASSERT_EQ(models.size(), 2u);
  const BopModel& can = models[0];
  EXPECT_EQ(can.id, 5);
  EXPECT_DOUBLE_EQ(can.diameter_m, 0.1205);
  EXPECT_DOUBLE_EQ(can.low_m.x, -0.0335);
  EXPECT_DOUBLE_EQ(can.size_m.z, 0.102);
  ASSERT_EQ(can.symmetries.discrete.size(), 1u);
  // Row by row: half a turn about x, then 2, 4, 6 mm.
  const Vec3d moved = can.symmetries.discrete[0] * Vec3d{1, 1, 1};
  EXPECT_NEAR(norm(moved - Vec3d{1.002, -0.996, -0.994}), 0, 1e-12);
  ASSERT_EQ(can.symmetries.continuous.size(), 1u);
  EXPECT_EQ(can.symmetries.continuous[0].axis, (Vec3d{0, 0, 1}));
  EXPECT_NEAR(can.symmetries.continuous[0].point_m.z, 0.003, 1e-15);
  EXPECT_TRUE(models[1].symmetries.none());
}

TEST(BopModels, ComeBackAsWritten) {
  const testing::TemporaryFolder folder;
  std::vector<BopModel> models = parsed(kCan);
  models[1].symmetries.discrete.push_back(
      turn_about({normalized(Vec3d{1, 2, 3}), {0.01, 0.02, 0.03}}, 2 * std::numbers::pi / 3));
  write_bop_models(folder / "models_info.json", models);
  const std::vector<BopModel> back = read_bop_models(folder / "models_info.json");
  ASSERT_EQ(back.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back[i].id, models[i].id);
    EXPECT_NEAR(back[i].diameter_m, models[i].diameter_m, 1e-15);
    ASSERT_EQ(back[i].symmetries.discrete.size(), models[i].symmetries.discrete.size());
    for (std::size_t k = 0; k < back[i].symmetries.discrete.size(); ++k) {
      const Rigid3d& a = back[i].symmetries.discrete[k];
      const Rigid3d& b = models[i].symmetries.discrete[k];
      EXPECT_LT(rotation_angle(transpose(a.rotation) * b.rotation), 1e-7);
      EXPECT_LT(norm(a.translation - b.translation), 1e-12);
    }
  }
  EXPECT_FALSE(bop_models_to_json(parsed(kCan))["12"].contains("symmetries_discrete"));
}

TEST(BopModels, MayHaveNoBox) {
  const std::vector<BopModel> models = parsed(R"({"4": {"diameter": 100}})");
  ASSERT_EQ(models.size(), 1u);
  EXPECT_DOUBLE_EQ(models[0].diameter_m, 0.1);
  EXPECT_EQ(models[0].size_m, Vec3d{});
}

TEST(BopModels, AreMadeOfVertices) {
  const std::vector<Vec3f> points = {{-1, 0, 2}, {2, 4, 2}, {NAN, 9, 9}, {0, 1, 2}};
  const BopModel model = make_bop_model(7, view_of(points), {});
  EXPECT_EQ(model.id, 7);
  EXPECT_NEAR(model.diameter_m, 5, 1e-6);
  EXPECT_EQ(model.low_m, (Vec3d{-1, 0, 2}));
  EXPECT_EQ(model.size_m, (Vec3d{3, 4, 0}));
  EXPECT_DOUBLE_EQ(make_bop_model(7, view_of(points), {}, 4.5).diameter_m, 4.5);
  const std::vector<Vec3f> none = {{NAN, 0, 0}};
  EXPECT_TRUE(mentions(error_message([&] { make_bop_model(7, view_of(none), {}); }),
                       "object 7: has no finite vertex"));
  EXPECT_EQ(bop_mesh_file("models", 7), std::filesystem::path("models/obj_000007.ply"));
}

TEST(BopModels, ReadsTheOlderGeneration) {
  const std::vector<BopModel> models = bop_models_from_yaml(
      "# objects\n---\n2: {diameter: 247.5, min_x: -1, min_y: -2, min_z: -3, size_x: 4, size_y: 5, "
      "size_z: 6}\r\n\n1: {diameter: 1e2, min_x: 0, min_y: 0, min_z: 0, size_x: 1, size_y: 1, "
      "size_z: 1}\n",
      "m.yml");
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0].id, 1);
  EXPECT_DOUBLE_EQ(models[0].diameter_m, 0.1);
  EXPECT_DOUBLE_EQ(models[1].size_m.y, 0.005);
}

TEST(BopModels, ErrorsNameFileAndKey) {
  const auto message = [](std::string text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
    return error_message([&] { parsed(text); });
  };
  EXPECT_TRUE(mentions(message(kCan, "\"diameter\"", "\"d\""), "object 5: the key \"diameter\""));
  EXPECT_TRUE(
      mentions(message(kCan, "120.5", "\"a\""), "m.json: object 5: \"diameter\" must be a"));
  EXPECT_TRUE(mentions(message(kCan, "120.5", "-1"), "positive"));
  EXPECT_TRUE(mentions(message(kCan, "120.5", "1e300"), "no size"));
  EXPECT_TRUE(mentions(message(kCan, "\"5\"", "\"five\""), "\"five\" is no number of an object"));
  EXPECT_TRUE(mentions(message(kCan, "\"5\"", "\"012\""), "object 12 is there twice"));
  EXPECT_TRUE(mentions(message(kCan, "-1, 0, 4", "1, 0, 4"), "is no rotation"));
  EXPECT_TRUE(mentions(message(kCan, "[1, 0, 0, 2,", "[1, 0, 0,"), "list of 16 numbers"));
  EXPECT_TRUE(mentions(message(kCan, "[0, 0, 2]", "[0, 0, 0]"), "no direction"));
  EXPECT_TRUE(mentions(message(kCan, "\"size_y\"", "\"s\""), "object 5: the key \"size_y\""));
  EXPECT_TRUE(mentions(error_message([] { parsed("[]"); }), "must be a JSON object"));
  EXPECT_TRUE(mentions(error_message([] { parsed("{}"); }), "m.json: has no objects"));
  const auto yaml = [](const char* text) {
    return error_message([&] { bop_models_from_yaml(text, "m.yml"); });
  };
  EXPECT_TRUE(mentions(yaml("\n1: {diameter: x}"), "m.yml: line 2: \"x\" is no number"));
  EXPECT_TRUE(mentions(yaml("1: {diameter: 1}\n1: {diameter: 1}"), "line 2: object 1 is there"));
  EXPECT_TRUE(mentions(yaml("nonsense"), "line 1: expected"));
  EXPECT_TRUE(mentions(yaml("1: 2"), "line 1: expected {"));
  EXPECT_TRUE(mentions(yaml(""), "no objects"));
}

TEST(BopModels, ReadsLinemodsFile) {
  const auto path = testing::shared_data("linemod_ape/models_info.yml");
  if (!path) GTEST_SKIP() << "no captured data";
  const std::vector<BopModel> models = read_bop_models(*path);
  ASSERT_EQ(models.size(), 15u);
  EXPECT_NEAR(models[0].diameter_m, 0.10209865663, 1e-12);
  EXPECT_NEAR(models[14].size_m.z, 0.1847474, 1e-12);
}

}  // namespace
}  // namespace sextant
