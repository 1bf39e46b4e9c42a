// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/camera_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/io/file.h"
#include "sextant/io/json_file.h"
#include "tests/error_message.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::error_message;
using testing::mentions;
using testing::TemporaryFolder;

constexpr const char* kBopFile = R"({
  "cx": 312.9869,
  "cy": 241.3109,
  "depth_scale": 0.1,
  "fx": 1066.778,
  "fy": 1067.487,
  "height": 480,
  "width": 640
}
)";

json valid() {
  return {{"width", 640}, {"height", 480}, {"fx", 500.0}, {"fy", 501.0}, {"cx", 320}, {"cy", 240}};
}

std::string refusal(const json& document) {
  const std::string message = error_message([&] { camera_from_json(document, "cam.json"); });
  EXPECT_TRUE(mentions(message, "cam.json: "));
  return message;
}

/// The message for a valid camera with one key set to something else.
std::string refusal(const char* key, const json& value) {
  json document = valid();
  document[key] = value;
  const std::string message = refusal(document);
  EXPECT_TRUE(mentions(message, std::string("\"") + key + "\""));
  return message;
}

TEST(CameraJson, ReadsACameraOfTheBopDataSets) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "camera.json", [](FileWriter& writer) { writer.write(kBopFile); });
  const CameraFile file = read_camera_json(folder / "camera.json");
  EXPECT_EQ(file.camera.width, 640);
  EXPECT_EQ(file.camera.height, 480);
  EXPECT_EQ(file.camera.fx_px, 1066.778);
  EXPECT_EQ(file.camera.fy_px, 1067.487);
  EXPECT_EQ(file.camera.cx_px, 312.9869);
  EXPECT_EQ(file.camera.cy_px, 241.3109);
  EXPECT_TRUE(file.camera.distortion.is_zero());
  EXPECT_EQ(file.depth_scale_mm, 0.1);
}

TEST(CameraJson, ReadsBackExactlyWhatItWrote) {
  const TemporaryFolder folder;
  CameraFile file;
  file.camera = {
      1281, 719, 1000.0 / 3.0, 2000.0 / 7.0, -0.1, 1e-7, {-0.1, 1.0 / 3, 1e-5, -2e-6, 7}};
  file.depth_scale_mm = 1.0 / 3.0;
  write_camera_json(folder / "camera.json", file);
  const CameraFile read = read_camera_json(folder / "camera.json");
  EXPECT_EQ(read.camera.width, file.camera.width);
  EXPECT_EQ(read.camera.height, file.camera.height);
  EXPECT_EQ(read.camera.fx_px, file.camera.fx_px);
  EXPECT_EQ(read.camera.fy_px, file.camera.fy_px);
  EXPECT_EQ(read.camera.cx_px, file.camera.cx_px);
  EXPECT_EQ(read.camera.cy_px, file.camera.cy_px);
  EXPECT_EQ(read.camera.distortion.k1, file.camera.distortion.k1);
  EXPECT_EQ(read.camera.distortion.k2, file.camera.distortion.k2);
  EXPECT_EQ(read.camera.distortion.p1, file.camera.distortion.p1);
  EXPECT_EQ(read.camera.distortion.p2, file.camera.distortion.p2);
  EXPECT_EQ(read.camera.distortion.k3, file.camera.distortion.k3);
  EXPECT_EQ(read.depth_scale_mm, file.depth_scale_mm);
}

TEST(CameraJson, TakesNoFourOrFiveCoefficientsInOpenCvOrder) {
  json document = valid();
  document["distortion"] = json::array();
  EXPECT_TRUE(camera_from_json(document, "cam.json").camera.distortion.is_zero());
  document["distortion"] = {1, 2, 3, 4};
  const Distortion<double> four = camera_from_json(document, "cam.json").camera.distortion;
  EXPECT_EQ(four.k1, 1);
  EXPECT_EQ(four.k2, 2);
  EXPECT_EQ(four.p1, 3);
  EXPECT_EQ(four.p2, 4);
  EXPECT_EQ(four.k3, 0);
  document["distortion"] = {1, 2, 3, 4, 5};
  EXPECT_EQ(camera_from_json(document, "cam.json").camera.distortion.k3, 5);
  EXPECT_FALSE(camera_from_json(document, "cam.json").depth_scale_mm.has_value());
}

TEST(CameraJson, RefusesEveryMissingKeyByName) {
  for (const char* key : {"width", "height", "fx", "fy", "cx", "cy"}) {
    json document = valid();
    document.erase(key);
    const std::string message = refusal(document);
    EXPECT_TRUE(mentions(message, std::string("\"") + key + "\" is missing"));
  }
}

TEST(CameraJson, RefusesWrongValuesByName) {
  refusal("width", 0);
  refusal("width", -640);
  refusal("width", 640.5);
  refusal("width", 1e12);
  refusal("height", "480");
  refusal("fx", 0);
  refusal("fy", -500);
  refusal("fx", nullptr);
  refusal("fx", NAN);
  refusal("cx", INFINITY);
  refusal("cy", json::array({240}));
  refusal("distortion", {1, 2, 3});
  refusal("distortion", {1, 2, 3, 4, 5, 6});
  refusal("distortion", {1, 2, 3, "4"});
  refusal("distortion", 0);
  refusal("depth_scale", 0);
  refusal("depth_scale", true);
  EXPECT_TRUE(mentions(refusal("f_x", 500), "unknown key"));
  EXPECT_TRUE(mentions(refusal(json::array({1, 2})), "JSON object"));
}

TEST(CameraJson, NamesLineAndColumnOfBrokenJson) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "broken.json";
  write_file_atomically(path, [](FileWriter& w) { w.write("{\n \"width\": 640,\n \"fx\" 5}"); });
  const std::string message = error_message([&] { read_camera_json(path); });
  EXPECT_TRUE(mentions(message, path.string()));
  EXPECT_TRUE(mentions(message, "line 3, column"));
  EXPECT_TRUE(mentions(error_message([] { parse_json("", "empty.json"); }), "empty.json"));
  EXPECT_TRUE(mentions(error_message([] { parse_json("{\"fx\": 1e999}", "x.json"); }), "1e999"));
  EXPECT_TRUE(mentions(error_message([] { parse_json("{\"fx\": NaN}", "x.json"); }), "line 1"));
  EXPECT_TRUE(mentions(error_message([] { parse_json("\"\xff\"", "x.json"); }), "UTF-8"));
}

TEST(CameraJson, DeepNestingDoesNotExhaustTheStack) {
  EXPECT_THROW(
      camera_from_json(parse_json(std::string(500000, '[') + std::string(500000, ']'), "deep.json"),
                       "deep.json"),
      Error);
}

TEST(CameraJson, RefusesToWriteAnInvalidCamera) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_camera_json(folder / "camera.json", CameraFile{}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "camera.json"));
}

}  // namespace
}  // namespace sextant
