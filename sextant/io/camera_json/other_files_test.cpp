// SPDX-License-Identifier: Apache-2.0
// Camera files of other programs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sextant/io/camera_json.h"
#include "sextant/io/file.h"
#include "tests/error_message.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;

CameraFile parse(const std::string& text) {
  const CameraList list = camera_list_from_text(text, "file");
  EXPECT_EQ(list.cameras.size(), 1u);
  return list.cameras.at(0);
}
std::string refusal(const std::string& text) {
  const std::string message = error_message([&] { camera_list_from_text(text, "file"); });
  EXPECT_TRUE(mentions(message, "file"));
  return message;
}

void expect_camera(const Camera& camera, bool sized = true) {
  EXPECT_EQ(camera.width, sized ? 640 : 0);
  EXPECT_EQ(camera.height, sized ? 480 : 0);
  EXPECT_EQ(camera.fx_px, 535.5);
  EXPECT_EQ(camera.fy_px, 536.25);
  EXPECT_EQ(camera.cx_px, 342);
  EXPECT_EQ(camera.cy_px, 235.5);
  EXPECT_EQ(camera.distortion.k1, -0.25);
  EXPECT_EQ(camera.distortion.k2, 0.125);
  EXPECT_EQ(camera.distortion.p1, 0.001);
  EXPECT_EQ(camera.distortion.p2, -0.002);
  EXPECT_EQ(camera.distortion.k3, 0.5);
}

const std::string kOpenCvYaml = R"(%YAML:1.0
---
calibration_time: "Wed 18 Nov 2026 10:00:00"
nframes: 13
image_width: 640
image_height: 480
flags: 2
camera_matrix: !!opencv-matrix
   rows: 3
   cols: 3
   dt: d
   data: [ 5.355e+02, 0., 342., 0.,
       5.3625e+02, 2.355e+02, 0., 0., 1. ]
distortion_coefficients: !!opencv-matrix
   rows: 5
   cols: 1
   dt: d
   data: [ -2.5e-01, 1.25e-01, 1.0e-03, -2.0e-03, 5.0e-01 ]
avg_reprojection_error: 3.9e-01
per_view_reprojection_errors: !!opencv-matrix
   rows: 1
   cols: 1
   dt: f
   data: [ .Nan ]
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(CameraFiles, OpenCvYaml) {
  expect_camera(parse(kOpenCvYaml).camera);
  expect_camera(parse(replaced(kOpenCvYaml, "camera_matrix", "cameraMatrix")).camera);
  expect_camera(parse(replaced(kOpenCvYaml, "distortion_coefficients", "distCoeffs")).camera);
  // calibration.cpp of OpenCV 2, and stereo_calib.cpp when one camera was cut out.
  std::string old = replaced(kOpenCvYaml, "camera_matrix", "Camera_Matrix");
  old = replaced(replaced(old, "image_width", "image_Width"), "image_height", "image_Height");
  expect_camera(parse(replaced(old, "distortion_coefficients", "Distortion_Coefficients")).camera);
  const std::string stereo =
      replaced(replaced(kOpenCvYaml, "camera_matrix", "M1"), "distortion_coefficients", "D1");
  expect_camera(parse(stereo).camera);
  EXPECT_TRUE(mentions(refusal(stereo + "M2: 1\n"), "two cameras"));
  // The program interactive-calibration.
  const std::string size = replaced(replaced(kOpenCvYaml, "image_width: 640", "framesCount: 3"),
                                    "image_height: 480", "cameraResolution: [ 640, 480 ]");
  expect_camera(parse(size).camera);
  // Windows' ends of lines.
  std::string returns;
  for (const char c : kOpenCvYaml) returns += c == '\n' ? "\r\n" : std::string(1, c);
  expect_camera(parse(returns).camera);
}

TEST(CameraFiles, OpenCvXml) {
  const std::string xml = R"(<?xml version="1.0"?>
<opencv_storage>
<calibration_time>"Wed 18 Nov 2026 10:00:00"</calibration_time>
<nr_of_frames>25</nr_of_frames>
<image_width>640</image_width>
<image_height>480</image_height>
<fix_aspect_ratio>1.</fix_aspect_ratio>
<!-- flags:  +fix_aspectRatio -->
<flags>6</flags>
<fisheye_model>0</fisheye_model>
<camera_matrix type_id="opencv-matrix">
  <rows>3</rows>
  <cols>3</cols>
  <dt>d</dt>
  <data>
    5.355e+02 0. 342. 0.
    5.3625e+02 2.355e+02 0. 0. 1.</data></camera_matrix>
<distortion_coefficients type_id="opencv-matrix">
  <rows>5</rows>
  <cols>1</cols>
  <dt>d</dt>
  <data>
    -2.5e-01 1.25e-01 1.0e-03 -2.0e-03 5.0e-01</data></distortion_coefficients>
<extrinsic_parameters type_id="opencv-matrix"><rows>0</rows><cols>0</cols><dt>d</dt>
  <data/></extrinsic_parameters>
<image_points><_>1. 2.</_><_>3. 4.</_></image_points>
</opencv_storage>
)";
  expect_camera(parse(xml).camera);
  EXPECT_TRUE(mentions(refusal(replaced(xml, ">0</fisheye", ">1</fisheye")), "pinhole"));
  EXPECT_TRUE(mentions(refusal(replaced(xml, " 0. 0. 1.<", " 0. 0.<")), "8 numbers for 3"));
  EXPECT_TRUE(mentions(refusal(replaced(xml, "5.3625e+02", "none")), "must be a number"));
  EXPECT_TRUE(mentions(refusal(replaced(xml, "distortion_c", "distorsion_c")), "distorsion_c"));
  EXPECT_TRUE(mentions(refusal(xml.substr(0, xml.size() / 2)), "the file ends inside"));
  EXPECT_TRUE(mentions(refusal(replaced(xml, "<flags>6</flags>", "<a><b></a>")), "closes <b>"));
  EXPECT_TRUE(mentions(refusal(xml + xml), "nothing beside it"));
  EXPECT_TRUE(mentions(refusal("<opencv_storage>1 2</opencv_storage>"), "no camera"));
  EXPECT_TRUE(mentions(refusal("<?xml version=\"1.0\"?><root/>"), "is XML, but none of OpenCV"));
}

TEST(CameraFiles, RosCalibration) {
  const std::string yaml = R"(image_width: 640
image_height: 480
camera_name: narrow_stereo
camera_matrix:
  rows: 3
  cols: 3
  data: [535.5, 0, 342, 0, 536.25, 235.5, 0, 0, 1]
distortion_model: plumb_bob
distortion_coefficients:
  rows: 1
  cols: 5
  data: [-0.25, 0.125, 0.001, -0.002, 0.5]
rectification_matrix:
  rows: 3
  cols: 3
  data: [1, 0, 0, 0, 1, 0, 0, 0, 1]
projection_matrix:
  rows: 3
  cols: 4
  data: [535.5, 0, 342, 0, 0, 536.25, 235.5, 0, 0, 0, 1, 0]
)";
  expect_camera(parse(yaml).camera);
  const std::string fisheye = replaced(yaml, "plumb_bob", "equidistant");
  EXPECT_TRUE(mentions(refusal(fisheye), "only pinhole cameras"));
  const std::string old = replaced(yaml, "distortion_model: plumb_bob", "camera_model: plumb_bob");
  expect_camera(parse(old).camera);
  const std::string eight =
      replaced(replaced(replaced(yaml, "plumb_bob", "rational_polynomial"), "cols: 5", "cols: 8"),
               "0.5]", "0.5, 0, 0, 0]");
  expect_camera(parse(eight).camera);
  EXPECT_TRUE(mentions(refusal(replaced(eight, "0.5, 0, 0", "0.5, 0, 0.1")), "not understood"));
  EXPECT_TRUE(mentions(refusal(replaced(yaml, "cols: 5", "cols: 4")), "5 numbers for 1 x 4"));
}

TEST(CameraFiles, RosMessages) {
  const std::string message = R"(header:
  seq: 0
  stamp:
    secs: 0
    nsecs: 0
  frame_id: "camera"
height: 480
width: 640
distortion_model: "plumb_bob"
D: [-0.25, 0.125, 0.001, -0.002, 0.5]
K: [535.5, 0.0, 342.0, 0.0, 536.25, 235.5, 0.0, 0.0, 1.0]
R: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
P: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
binning_x: 0
binning_y: 0
roi:
  x_offset: 0
  y_offset: 0
  height: 0
  width: 0
  do_rectify: False
---
)";
  expect_camera(parse(message).camera);
  expect_camera(parse(message + message).camera);
  // ROS 1 writes a blank after the colon.
  std::string blanks = replaced(replaced(message, "stamp:", "stamp: "), "roi:", "roi: ");
  expect_camera(parse(replaced(blanks, "header:", "header: ")).camera);
  EXPECT_TRUE(mentions(refusal(replaced(message, "x_offset: 0", "x_offset: 8")), "x_offset"));
  // ROS 2 prints lists below each other, with small letters.
  std::string second = replaced(message, "D: [-0.25, 0.125, 0.001, -0.002, 0.5]",
                                "d:\n- -0.25\n- 0.125\n- 0.001\n- -0.002\n- 0.5");
  expect_camera(parse(replaced(second, "K: ", "k: ")).camera);
}

TEST(CameraFiles, ColmapCountsFromTheCornerOfThePixel) {
  const std::string head =
      "# Camera list with one line of data per camera:\n#   CAMERA_ID, MODEL, WIDTH, HEIGHT, "
      "PARAMS[]\n# Number of cameras: 1\n";
  const auto camera = [&](const std::string& line) { return parse(head + line + "\n").camera; };
  const Camera simple = camera("1 SIMPLE_PINHOLE 640 480 500 320 240");
  EXPECT_EQ(simple.width, 640);
  EXPECT_EQ(simple.fx_px, 500);
  EXPECT_EQ(simple.fy_px, 500);
  EXPECT_EQ(simple.cx_px, 319.5);
  EXPECT_EQ(simple.cy_px, 239.5);
  EXPECT_TRUE(simple.distortion.is_zero());
  EXPECT_EQ(camera("7 PINHOLE 640 480 500 510 320 240").fy_px, 510);
  const Camera radial = camera("1 RADIAL 640 480 500 320 240 0.1 -0.2");
  EXPECT_EQ(radial.distortion.k1, 0.1);
  EXPECT_EQ(radial.distortion.k2, -0.2);
  EXPECT_EQ(radial.distortion.p1, 0);
  EXPECT_EQ(camera("1 SIMPLE_RADIAL 640 480 500 320 240 0.1").distortion.k1, 0.1);
  const Camera opencv = camera("1 OPENCV 640 480 500 510 320 240 0.1 0.2 0.3 0.4");
  EXPECT_EQ(opencv.distortion.p1, 0.3);
  EXPECT_EQ(opencv.distortion.p2, 0.4);
  const Camera full = camera("1 FULL_OPENCV 640 480 500 510 320 240 .1 .2 .3 .4 .5 0 0 0");
  EXPECT_EQ(full.distortion.k3, 0.5);
  EXPECT_EQ(camera("1 PINHOLE 640 480 500 510 320 240\n2 PINHOLE 640 480 500 510 320 240").cx_px,
            319.5);
  EXPECT_EQ(parse("1 PINHOLE 640 480 500 510 320 240").camera.cx_px, 319.5);
  const auto refused = [&](const std::string& line) { return refusal(head + line + "\n"); };
  EXPECT_TRUE(mentions(refused("1 FULL_OPENCV 640 480 500 510 320 240 .1 .2 .3 .4 .5 .6 0 0"),
                       "not understood unless they are 0"));
  EXPECT_TRUE(mentions(refused("1 OPENCV_FISHEYE 640 480 500 510 320 240 0 0 0 0"),
                       "line 4: the camera model OPENCV_FISHEYE"));
  EXPECT_TRUE(mentions(refused("1 PINHOLE 640 480 500 510 320"), "the line ends"));
  EXPECT_TRUE(mentions(refused("1 PINHOLE 640 480 500 510 320 240 1"), "end of the line"));
  EXPECT_TRUE(mentions(refused("1 PINHOLE 640 480 500 nan 320 240"), "not finite"));
  EXPECT_TRUE(mentions(refused("1 PINHOLE 640 480 -500 500 320 240"), "positive"));
  EXPECT_TRUE(mentions(refused("1 PINHOLE 640 480 5 5 3 2\n2 PINHOLE 640 480 6 6 3 2"),
                       "2 cameras that differ"));
  EXPECT_TRUE(mentions(refused(""), "no line with a camera"));
}

TEST(CameraFiles, OtherTextsAreRefused) {
  for (const char* text : {"542 0 320\n0 540.5 240\n", "hello", "%YAML:1.0\n---\n- a\n- b\n", ":",
                           "#", "a: [1", "\xff\xfe<"}) {
    SCOPED_TRACE(text);
    refusal(text);
  }
}

TEST(CameraFiles, ACameraOfOpenCvsSamples) {
  const auto path = testing::shared_data("opencv_samples/left_intrinsics.yml");
  if (!path) GTEST_SKIP() << "opencv_samples is not there";
  const Camera camera = read_camera_json(*path).camera;
  EXPECT_EQ(camera.width, 640);
  EXPECT_EQ(camera.fx_px, 5.3591573396163199e+02);
  EXPECT_EQ(camera.cy_px, 2.3557082909788173e+02);
  EXPECT_EQ(camera.distortion.p2, -2.8122100441115472e-04);
  EXPECT_EQ(camera.distortion.k3, 2.3839153080878486e-01);
}

}  // namespace
}  // namespace sextant
