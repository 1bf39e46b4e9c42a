// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/camera_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/io/file.h"
#include "sextant/io/json_file.h"
#include "tests/error_message.h"
#include "tests/shared_data.h"
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
  std::string message = error_message([&] { camera_from_json(document, "cam.json"); });
  EXPECT_TRUE(mentions(message, "cam.json: "));
  return message;
}

/// The message for a valid camera with one key set to something else.
std::string refusal(const char* key, const json& value) {
  json document = valid();
  document[key] = value;
  std::string message = refusal(document);
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
    std::string message = refusal(document);
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

void expect_same(const CameraFile& a, const CameraFile& b) {
  EXPECT_EQ(camera_to_json(a).dump(), camera_to_json(b).dump());
}

/// The camera of an image of 640 x 480 pixels.
CameraFile read_for(const json& document, const std::string& file = "depth.png") {
  return camera_for(camera_list_from_json(document, "cam.json"), {file, 640, 480});
}

TEST(CameraJson, ReadsTheSpellingsOfOthers) {
  json own = valid();
  own["distortion"] = {0.25, 0, 0, 0, 0};
  own["depth_scale"] = 0.125;
  const CameraFile expected = camera_from_json(own, "own.json");
  const json visp{{"model", "perspectiveProjWithDistortion"},
                  {"w", 640},
                  {"h", 480},
                  {"px", 500.0},
                  {"py", 501.0},
                  {"u0", 320},
                  {"v0", 240},
                  {"kud", 0.25},
                  {"kdu", -0.25},
                  {"depthScale", 0.000125}};
  const json ros{{"width", 640},
                 {"height", 480},
                 {"distortion_model", "plumb_bob"},
                 {"K", {500.0, 0, 320, 0, 501.0, 240, 0, 0, 1}},
                 {"D", {0.25, 0, 0, 0, 0}},
                 {"R", {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                 {"P", {500.0, 0, 320, 0, 0, 501.0, 240, 0, 0, 0, 1, 0}},
                 {"binning_x", 0},
                 {"roi", {{"x_offset", 0}, {"width", 0}, {"do_rectify", false}}},
                 {"header", {{"frame_id", "camera"}}},
                 {"depth_scale", 0.125}};
  const json calibration{
      {"image_width", 640},
      {"image_height", 480},
      {"camera_matrix",
       {{"rows", 3}, {"cols", 3}, {"data", {500.0, 0, 320, 0, 501.0, 240, 0, 0, 1}}}},
      {"distortion_coefficients",
       {{"rows", 1}, {"cols", 8}, {"data", {0.25, 0, 0, 0, 0, 0, 0, 0}}}},
      {"depth_units_per_m", 8000}};
  const json realsense{{"width", 640},
                       {"height", 480},
                       {"fx", 500.0},
                       {"fy", 501.0},
                       {"ppx", 320},
                       {"ppy", 240},
                       {"coeffs", {0.25, 0, 0, 0, 0}},
                       {"model", "brown_conrady"},
                       {"depth_scale", 0.125}};
  for (const json& other : {visp, ros, calibration, realsense}) {
    SCOPED_TRACE(other.dump());
    expect_same(camera_from_json(other, "other.json"), expected);
  }
}

TEST(CameraJson, AMatrixIsFlatOrInRowsAndOfOpen3dInColumns) {
  const CameraFile expected = camera_from_json(valid(), "own.json");
  for (const json& matrix : {json{500.0, 0, 320, 0, 501.0, 240, 0, 0, 1},
                             json{{500.0, 0, 320}, {0, 501.0, 240}, {0, 0, 1}}}) {
    for (const char* key : {"cam_K", "K", "k", "camera_matrix", "intrinsic_matrix"}) {
      expect_same(read_for({{key, matrix}}), expected);
    }
  }
  expect_same(read_for({{"intrinsic_matrix", {500.0, 0, 0, 0, 501.0, 0, 320, 240, 1}}}), expected);
  EXPECT_TRUE(mentions(refusal({{"cam_K", {500.0, 0, 0, 0, 501.0, 0, 320, 240, 1}}}), "cam_K"));
  EXPECT_TRUE(mentions(refusal({{"cam_K", {500.0, 2, 320, 0, 501.0, 240, 0, 0, 1}}}), "skew"));
  EXPECT_TRUE(mentions(refusal({{"cam_K", {500.0, 0, 320}}}), "3 x 3 numbers but has 3"));
  EXPECT_TRUE(mentions(refusal({{"K", {0, 0, 0, 0, 0, 0, 0, 0, 1}}}), "must be positive"));
}

TEST(CameraJson, ChoosesTheCameraOfAnImageByItsNumber) {
  json scene;
  for (const int image : {0, 7, 12}) {
    scene[std::to_string(image)] = {{"cam_K", {500.0 + image, 0, 320, 0, 501, 240, 0, 0, 1}},
                                    {"cam_R_w2c", {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                    {"depth_scale", 0.1}};
  }
  EXPECT_EQ(read_for(scene, "scene/depth/000012.png").camera.fx_px, 512);
  EXPECT_EQ(read_for(scene, "frame-000007.depth.png").camera.fx_px, 507);
  EXPECT_EQ(read_for(scene, "image7_0.tiff").camera.fx_px, 500);
  EXPECT_EQ(read_for(scene, "7.png").camera.width, 640);
  EXPECT_EQ(read_for(scene, "7.png").depth_unit_m(), 0.1 / 1000);
  const auto choice = [&](const char* file) {
    return error_message([&] { read_for(scene, file); });
  };
  EXPECT_TRUE(mentions(choice("depth/000008.png"),
                       "cam.json: has the cameras of images 0 to 12 but none of 8"));
  EXPECT_TRUE(mentions(choice("depth/000008.png"), "depth/000008.png"));
  EXPECT_TRUE(mentions(choice("depth.png"), "no number in the name depth.png"));
  EXPECT_TRUE(mentions(refusal(scene), "it is not said which is wanted"));
  scene["007"] = scene["7"];
  EXPECT_TRUE(mentions(refusal(scene), "image 7 is there twice"));
  scene.erase("007");
  scene["7"].erase("cam_K");
  EXPECT_TRUE(mentions(refusal(scene), "image 7: the key \"fx\" is missing"));
}

TEST(CameraJson, TheSizeIsThatOfTheImage) {
  json document = valid();
  const std::string message = error_message([&] {
    camera_for(camera_list_from_json(document, "cam.json"), {"depth.png", 320, 240});
  });
  EXPECT_TRUE(mentions(
      message, "cam.json: the camera is for 640 x 480 pixels, but depth.png has 320 x 240"));
  document.erase("width");
  EXPECT_TRUE(mentions(refusal(document), "\"width\" is missing"));
  document.erase("height");
  EXPECT_EQ(read_for(document).camera.height, 480);
}

TEST(CameraJson, RefusesWhatItWouldMisread) {
  const auto with = [](const char* key, const json& value) {
    json document = valid();
    document[key] = value;
    return refusal(document);
  };
  EXPECT_TRUE(mentions(with("px", 500), "\"fx\" and \"px\" say the same"));
  EXPECT_TRUE(mentions(with("K", {1, 0, 0, 0, 1, 0, 0, 0, 1}), "\"K\" and \"fx\""));
  EXPECT_TRUE(mentions(with("distortion_model", "equidistant"), "only pinhole cameras"));
  EXPECT_TRUE(mentions(with("binning_x", 2), "without binning"));
  EXPECT_TRUE(mentions(with("roi", {{"x_offset", 8}}), "x_offset"));
  EXPECT_TRUE(mentions(with("depthScale", 0), "\"depthScale\" must be positive"));
  json lens = valid();
  lens["distortion"] = {0.1, 0, 0, 0, 0};
  lens["distortion_model"] = "inverse_brown_conrady";
  EXPECT_TRUE(mentions(refusal(lens), "whose coefficients are not understood"));
  // The rational model with a denominator of 1 is Brown-Conrady's.
  lens["distortion_model"] = "rational_polynomial";
  lens["distortion"] = {0.1, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(camera_from_json(lens, "lens.json").camera.distortion.k1, 0.1);
  lens["distortion"] = {0.1, 0, 0, 0, 0, 0, 0.01, 0};
  EXPECT_TRUE(mentions(refusal(lens), "are not understood unless they are 0"));
  lens["distortion_model"] = "inverse_brown_conrady";
  lens["distortion"] = {0, 0, 0, 0, 0};
  EXPECT_NO_THROW(camera_from_json(lens, "lens.json"));
}

TEST(CameraJson, RefusesFocalLengthsThatAreNotInPixels) {
  for (const double focal : {0.82, 4.7}) {  // shares of the image, millimetres
    json document = valid();
    document["fx"] = focal;
    EXPECT_TRUE(mentions(refusal(document), "focal lengths are in pixels"));
    document.erase("width");
    document.erase("height");
    EXPECT_TRUE(mentions(error_message([&] { read_for(document); }), "cam.json: \"fx\" is "));
  }
  json wide = valid();
  wide["fx"] = wide["fy"] = 90;  // 149 degrees
  EXPECT_NO_THROW(camera_from_json(wide, "wide.json"));
}

TEST(CameraJson, PassesOverAByteOrderMark) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "bom.json",
                        [&](FileWriter& writer) { writer.write("\xef\xbb\xbf" + valid().dump()); });
  EXPECT_EQ(read_camera_json(folder / "bom.json").camera.width, 640);
}

TEST(CameraJson, SaysWhatAFileIsThatIsNoJson) {
  const TemporaryFolder folder;
  const auto refusal_of = [&](const char* name, const char* text) {
    write_file_atomically(folder / name, [&](FileWriter& writer) { writer.write(text); });
    std::string message = error_message([&] { read_camera_json(folder / name); });
    EXPECT_TRUE(mentions(message, name));
    EXPECT_TRUE(mentions(message, "\"fx\": 525"));
    return message;
  };
  EXPECT_TRUE(mentions(refusal_of("camera.xml", "<?xml version=\"1.0\"?>"), "is XML"));
  EXPECT_TRUE(mentions(refusal_of("camera.yml", "%YAML:1.0\n---\n"), "is YAML"));
  EXPECT_TRUE(mentions(refusal_of("K.txt", "542 0 320\n0 540.5 240\n"), "is neither JSON"));
}

TEST(CameraJson, ReadsCapturedCameras) {
  const auto visp = testing::shared_data("visp_rbt/orig_meta/cam.json");
  const auto scene = testing::shared_data("ycbv_frames/frames_gt/gt_poses.json");
  if (!visp || !scene) GTEST_SKIP() << "the captured data is not here";
  const CameraFile file = read_camera_json(*visp);
  EXPECT_EQ(file.camera.fx_px, 607.178466796875);
  EXPECT_EQ(file.camera.height, 480);
  EXPECT_EQ(file.depth_unit_m(), 0.001);
  const CameraFile second = read_camera_json(*scene, {"000002-depth.png", 640, 480});
  EXPECT_EQ(second.camera.cy_px, 241.3109);
  EXPECT_EQ(second.depth_scale_mm, 0.1);
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
