// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sextant/io/depth_file.h"
#include "sextant/io/png.h"
#include "tests/end_to_end/command_line.h"
#include "tests/error_message.h"
#include "tests/make_image.h"

namespace sextant {
namespace {

using testing::make_image;
using testing::mentions;
using testing::Outcome;
using testing::text_of;

constexpr const char* kCamera =
    R"("width": 64, "height": 48, "fx": 60, "fy": 60, "cx": 31.5, "cy": 23.5)";

/// Depth maps and cameras as they come, as a script hands them to the commands.
class DepthInputCli : public testing::CommandLine {
 protected:
  void prepare() override {
    // A slanted plane, in whole millimetres so that every format holds the same.
    const auto depth = make_image<float>(
        64, 48, [](int u, int v) { return static_cast<float>(0.001 * (800 + 3 * u + 2 * v)); });
    for (const char* name : {"depth.png", "depth.pgm", "depth.tif", "000012.png"}) {
      write_depth(folder_ / name, depth);
    }
    write("camera.json", std::string("{") + kCamera + "}");
    write_png(folder_ / "picture.png", make_image<Rgb8>(64, 48, [](int, int) {
                return Rgb8{9, 8, 7};
              }));
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  /// The one line that a failing command prints.
  std::string refusal(const std::string& arguments) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  }
  nlohmann::json info(const std::string& arguments) const {
    return nlohmann::json::parse(run("info --json " + arguments).out);
  }
};

TEST_F(DepthInputCli, EveryFormatGivesTheSameSurface) {
  ASSERT_EQ(run("normals depth.png --camera camera.json -o png.ply").status, 0);
  for (const char* name : {"depth.pgm", "depth.tif"}) {
    const Outcome outcome = run(std::string("normals ") + name + " --camera camera.json -o n.ply");
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_TRUE(text_of(folder_ / "png.ply") == text_of(folder_ / "n.ply")) << name;
    EXPECT_FLOAT_EQ(info(name).at("median_m").get<float>(),
                    info("depth.png").at("median_m").get<float>());
  }
  EXPECT_EQ(info("depth.pgm").at("format"), "PGM");
  EXPECT_EQ(info("depth.pgm").at("bit_depth"), 16);
  EXPECT_EQ(info("depth.tif").at("format"), "TIFF");
  EXPECT_EQ(info("depth.tif").at("floating"), true);
  EXPECT_EQ(info("depth.tif").at("unit_m"), 1.0);
}

TEST_F(DepthInputCli, AWrongUnitIsAskedFor) {
  for (const char* scale : {"0.001", "1000"}) {
    write("wrong.json", std::string("{") + kCamera + ", \"depth_scale\": " + scale + "}");
    for (const char* command :
         {"depth depth.png --cloud-output out.ply", "normals depth.png -o out.ply",
          "curvature depth.png -o out.ply", "mesh depth.png -o out.ply",
          "segment depth.png -o out.ply", "describe depth.png --descriptor tensor -o out.sxd"}) {
      const std::string message = refusal(std::string(command) + " --camera wrong.json");
      EXPECT_TRUE(mentions(message, "depth.png: its median depth is "));
      EXPECT_TRUE(mentions(message, "--unit-m 0.001 for millimetres"));
    }
    // The user's word counts more than the camera file's.
    EXPECT_EQ(run("normals depth.png --camera wrong.json --unit-m 0.001 -o out.ply").status, 0);
  }
}

TEST_F(DepthInputCli, AUnitThatIsGivenIsTakenWithARemark) {
  const Outcome outcome = run("depth depth.png --unit-m 1 --picture seen.png --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(mentions(outcome.err, "depth.png: with --unit-m 1 the median depth is 942 m"));
  EXPECT_GT(nlohmann::json::parse(outcome.out).at("median_m").get<double>(), 900);
  EXPECT_EQ(run("depth depth.png --unit-m 0.001 --picture seen.png").err, "");
}

/// Ten times too far or too near is within what depth can be; the noise tells.
TEST_F(DepthInputCli, AUnitTenTimesTooLargeOrSmallIsDoubted) {
  ASSERT_EQ(run("synth --scene table --noise kinect --seed 3 --output s").status, 0);
  std::ifstream file(folder_ / "s/camera.json");
  nlohmann::json camera = nlohmann::json::parse(file);
  ASSERT_EQ(camera.at("depth_scale"), 1.0);
  const std::string command = "normals s/depth.png -o n.ply --json --camera ";
  EXPECT_EQ(run(command + "s/camera.json").err, "");
  for (const double scale : {10.0, 0.1}) {
    camera["depth_scale"] = scale;
    write("wrong.json", camera.dump());
    const Outcome doubted = run(command + "wrong.json");
    ASSERT_EQ(doubted.status, 0) << doubted.err;
    EXPECT_TRUE(mentions(doubted.err, "s/depth.png: its median depth is "));
    EXPECT_TRUE(mentions(doubted.err, "(wrong.json), but its noise is that of a sensor at 0."));
    EXPECT_TRUE(mentions(doubted.err, "if a step is 0.001 m, pass --unit-m 0.001"));
    EXPECT_EQ(nlohmann::json::parse(doubted.out).at("notes").size(), 1u);
    // Who gives the unit is believed.
    EXPECT_EQ(run(command + "wrong.json --unit-m " + std::to_string(0.001 * scale)).err, "");
  }
}

TEST_F(DepthInputCli, ACameraOfAnotherResolutionIsDoubted) {
  write("twice.json", R"({"fx": 120, "fy": 120, "cx": 63.5, "cy": 47.5})");
  const Outcome outcome = run("normals depth.png --camera twice.json -o n.ply");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(mentions(outcome.err, "twice.json: its principal point (63.5, 47.5) lies outside"));
  EXPECT_EQ(run("normals depth.png --camera camera.json -o n.ply").err, "");
}

TEST_F(DepthInputCli, ACameraWhoseNumbersAreMixedUpIsDoubted) {
  write("half.json", R"({"fx": 30, "fy": 30, "cx": 15.5, "cy": 11.5})");
  write("high.json", R"({"fx": 60, "fy": 600, "cx": 31.5, "cy": 23.5})");
  Outcome outcome = run("normals depth.png --camera half.json -o n.ply");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(mentions(outcome.err, "half.json: its principal point (15.5, 11.5) lies far from"));
  outcome = run("normals depth.png --camera high.json -o n.ply");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_TRUE(mentions(outcome.err, "high.json: its focal lengths 60 and 600"));
}

// Some programs write the largest number where nothing came back, or another that is too large.
TEST_F(DepthInputCli, NoReturnMayBeALargeNumber) {
  const auto marked = [](float mark_m) {
    return make_image<float>(64, 48, [mark_m](int u, int v) {
      return u < 8 ? mark_m : static_cast<float>(0.001 * (800 + 3 * u + 2 * v));
    });
  };
  write_depth(folder_ / "largest.png", marked(65.535f));
  const Outcome largest = run("normals largest.png --camera camera.json -o n.ply");
  EXPECT_EQ(largest.err, "");
  EXPECT_EQ(info("largest.png").at("valid_pixels"), 56 * 48);
  write_depth(folder_ / "ten.png", marked(10));
  EXPECT_TRUE(mentions(run("normals ten.png --camera camera.json -o n.ply").err,
                       "ten.png: 384 pixels have the same depth of 10 m, far behind all others"));
  write_depth(folder_ / "raw.png", marked(2.047f));
  EXPECT_TRUE(mentions(run("segment raw.png --camera camera.json").err, "raw Kinect disparity?"));
}

TEST_F(DepthInputCli, DepthIsNoDisparity) {
  write_depth(folder_ / "far.png", make_image<float>(64, 48, [](int u, int v) {
                return static_cast<float>(0.001 * (1900 + 3 * u + 2 * v));
              }));
  EXPECT_TRUE(mentions(refusal("depth far.png --disparity --picture p.png"), "is it a depth map?"));
  write_depth(folder_ / "holes.png", make_image<float>(64, 48, [](int u, int v) {
                return u < 9 ? NAN : static_cast<float>(0.001 * (600 + 3 * u + 2 * v));
              }));
  const Outcome holes = run("depth holes.png --disparity --picture p.png");
  EXPECT_EQ(holes.status, 0);
  EXPECT_TRUE(mentions(holes.err, "14 % of its numbers are 0"));
}

TEST_F(DepthInputCli, ExchangedBytesAreDoubted) {
  const auto numbers = [](bool exchanged) {
    return make_image<float>(64, 48, [exchanged](int u, int v) {
      const int number = 800 + u / 9 + 2 * v;
      return static_cast<float>(0.001 * (exchanged ? (number & 255) << 8 | number >> 8 : number));
    });
  };
  write_depth(folder_ / "right.png", numbers(false));
  write_depth(folder_ / "wrong.png", numbers(true));
  EXPECT_EQ(run("normals right.png --camera camera.json -o n.ply").err, "");
  EXPECT_TRUE(mentions(run("normals wrong.png --camera camera.json -o n.ply --unit-m 0.001").err,
                       "two bytes seem to be exchanged"));
}

TEST_F(DepthInputCli, InfoDoubtsWhatIsHardToBelieve) {
  EXPECT_EQ(info("depth.png").at("believable"), true);
  EXPECT_EQ(info("depth.png --unit-m 1").at("believable"), false);
  EXPECT_TRUE(mentions(run("info depth.png --unit-m 1").out, "not between 0.05 and 50 m"));
}

TEST_F(DepthInputCli, CamerasOfSeveralImages) {
  write("scene_camera.json",
        R"({"0": {"cam_K": [10, 0, 31.5, 0, 10, 23.5, 0, 0, 1], "depth_scale": 1.0},
           "12": {"cam_K": [60, 0, 31.5, 0, 60, 23.5, 0, 0, 1], "depth_scale": 1.0}})");
  ASSERT_EQ(run("normals depth.png --camera camera.json -o one.ply").status, 0);
  const Outcome outcome = run("normals 000012.png --camera scene_camera.json -o several.ply");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(text_of(folder_ / "one.ply") == text_of(folder_ / "several.ply"));
  EXPECT_TRUE(mentions(refusal("normals depth.png --camera scene_camera.json -o n.ply"),
                       "no number in the name depth.png"));
  EXPECT_EQ(info("scene_camera.json").at("images"), nlohmann::json({0, 12}));
  EXPECT_EQ(info("scene_camera.json").at("cameras").at(1).at("fx"), 60);
  EXPECT_TRUE(mentions(run("info scene_camera.json").out, "cameras of 2 images, 0 to 12"));
}

TEST_F(DepthInputCli, CamerasWithoutASizeTakeTheImages) {
  write("k.json", R"({"K": [[60, 0, 31.5], [0, 60, 23.5], [0, 0, 1]]})");
  EXPECT_EQ(run("normals depth.png --camera k.json -o n.ply").status, 0);
  EXPECT_EQ(info("k.json").at("width"), nullptr);
  EXPECT_TRUE(mentions(run("info k.json").out, "camera, no image size, fx 60.000"));
  write("other.json", R"({"width": 640, "height": 480, "fx": 60, "fy": 60, "cx": 3, "cy": 2})");
  EXPECT_TRUE(
      mentions(refusal("depth depth.png --camera other.json --picture x.png"),
               "other.json: the camera is for 640 x 480 pixels, but depth.png has 64 x 48"));
}

TEST_F(DepthInputCli, WhatIsNoDepthMapIsNamed) {
  EXPECT_TRUE(mentions(refusal("normals camera.json --camera camera.json -o n.ply"),
                       "camera.json: is a camera"));
  EXPECT_TRUE(mentions(refusal("depth camera.json --picture x.png"),
                       "camera.json: holds a camera, not a depth map"));
  for (const char* command :
       {"depth picture.png --picture x.png", "normals picture.png -o n.ply"}) {
    EXPECT_TRUE(mentions(refusal(command), "picture.png: is a picture (PNG, 3 x 8 bit)"));
  }
  EXPECT_TRUE(mentions(refusal("normals depth.png -o n.ply"), "pass --camera FILE"));
  write("camera.xml", "<?xml version=\"1.0\"?><camera/>");
  EXPECT_TRUE(mentions(refusal("normals depth.png --camera camera.xml -o n.ply"),
                       "camera.xml: is XML, but none of OpenCV; a camera is JSON"));
  EXPECT_TRUE(mentions(refusal("depth depth.tif --disparity --picture x.png"),
                       "raw disparity is 16-bit integers"));
}

TEST_F(DepthInputCli, ConvertsDepthMapsBetweenFormats) {
  for (const char* step : {"depth.png a.pgm", "a.pgm b.tif", "b.tif c.tiff", "c.tiff d.png"}) {
    const Outcome outcome = run(std::string("convert ") + step);
    ASSERT_EQ(outcome.status, 0) << step << outcome.err;
  }
  EXPECT_TRUE(text_of(folder_ / "depth.png") == text_of(folder_ / "d.png"));
  EXPECT_EQ(info("c.tiff").at("floating"), true);
  // Labels are no depth, but their numbers stay what they are.
  write_depth_png(folder_ / "labels.png",
                  make_image<float>(9, 9, [](int u, int v) { return u ? float(u + v) : 65535.0f; }),
                  {.unit_m = 1});
  ASSERT_EQ(run("convert labels.png labels.pgm").status, 0);
  EXPECT_EQ(read_depth(folder_ / "labels.pgm", {.unit_m = 1})(4, 3), 7.0f);
  EXPECT_EQ(read_depth(folder_ / "labels.pgm", {.unit_m = 1, .largest_is_hole = false})(0, 3),
            65535.0f);
  EXPECT_TRUE(mentions(refusal("convert labels.png labels.tif"), "--depth-unit-m"));
  EXPECT_TRUE(mentions(refusal("convert depth.png depth.jpg"), "which .png, .pgm and .tif keep"));
}

}  // namespace
}  // namespace sextant
