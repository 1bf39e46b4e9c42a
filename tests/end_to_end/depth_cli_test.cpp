// SPDX-License-Identifier: Apache-2.0
// `sextant depth` as a script uses it, on a scene whose truth is known.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/core/random.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "sextant/render/color_map.h"
#include "tests/devices.h"
#include "tests/end_to_end/command_line.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr int kWidth = 96;
constexpr int kHeight = 72;

using testing::Outcome;

/// A wall at 2 m, the left third of it at 1 m.
float truth(int u) { return u < kWidth / 3 ? 1.0f : 2.0f; }

class DepthCli : public testing::CommandLine {
 protected:
  void prepare() override {
    write_depth_png(folder_ / "depth.png", noisy_steps());
    std::ofstream(folder_ / "camera.json")
        << R"({"width": 96, "height": 72, "fx": 80, "fy": 80, "cx": 47.5, "cy": 35.5})";
    Image<Rgb8> color(Context::cpu(), kWidth, kHeight);
    for (int v = 0; v < kHeight; ++v) {
      for (int u = 0; u < kWidth; ++u) {
        color(u, v) = {static_cast<std::uint8_t>(u), static_cast<std::uint8_t>(v), 200};
      }
    }
    write_png(folder_ / "color.png", color);
  }

  /// The scene with noise of 4 mm and a hole.
  static Image<float> noisy_steps() {
    const std::uint64_t seed = testing::seed_of_test();
    Image<float> depth(Context::cpu(), kWidth, kHeight);
    for (int v = 0; v < kHeight; ++v) {
      for (int u = 0; u < kWidth; ++u) {
        const Random random{seed, static_cast<std::uint64_t>(v * kWidth + u)};
        depth(u, v) = truth(u) + 0.004f * static_cast<float>(random.normal(0));
      }
    }
    depth(10, 20) = NAN;
    return depth;
  }

  static double rms_error(const Image<float>& depth) {
    double sum = 0;
    for (int v = 0; v < kHeight; ++v) {
      for (int u = 0; u < kWidth; ++u) {
        if (!std::isnan(depth(u, v))) sum += std::pow(depth(u, v) - truth(u), 2);
      }
    }
    return std::sqrt(sum / (kWidth * kHeight - 1));
  }

  Outcome run(const std::string& arguments) const { return CommandLine::run("depth " + arguments); }
};

TEST_F(DepthCli, FilterCalmsNoiseAndKeepsStepAndHole) {
  const Outcome outcome =
      run("depth.png --filter --depth-output out.png --output-unit-m 0.0001 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(document.at("valid_pixels"), kWidth * kHeight - 1);
  EXPECT_EQ(document.at("filtered"), true);
  EXPECT_NEAR(document.at("median_m").get<double>(), 2.0, 0.01);
  for (const char* step : {"read", "filter", "write"}) {
    EXPECT_GE(document.at("times_ms").at(step).get<double>(), 0) << step;
  }
  EXPECT_EQ(document.at("outputs"), nlohmann::json({"out.png"}));
  const Image<float> filtered = read_depth_png(folder_ / "out.png", {.unit_m = 0.0001});
  EXPECT_TRUE(std::isnan(filtered(10, 20)));
  EXPECT_LT(rms_error(filtered), rms_error(read_depth_png(folder_ / "depth.png")) / 6);
  EXPECT_NEAR(filtered(kWidth / 3 - 1, 40), 1.0, 0.004);
  EXPECT_NEAR(filtered(kWidth / 3, 40), 2.0, 0.004);
  // A window of 3 × 3 averages fewer.
  ASSERT_EQ(run("depth.png --filter --radius-px 1 --depth-output small.png --output-unit-m 0.0001")
                .status,
            0);
  EXPECT_GT(rms_error(read_depth_png(folder_ / "small.png", {.unit_m = 0.0001})),
            rms_error(filtered));
}

TEST_F(DepthCli, CloudHasPointsAndColoursOfItsPixels) {
  for (const char* name : {"cloud.ply", "cloud.pcd"}) {
    const Outcome outcome = run(std::string("depth.png --camera camera.json --color color.png ") +
                                "--cloud-output " + name);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const Cloud cloud = std::move(read_geometry(folder_ / name).vertices);
    ASSERT_EQ(cloud.size(), kWidth * kHeight);
    const Image<float> depth = read_depth_png(folder_ / "depth.png");
    const int index = 50 * kWidth + 70;
    const float z = depth(70, 50);
    EXPECT_FLOAT_EQ(cloud.points.host()[index].x, z * (70 - 47.5f) / 80);
    EXPECT_FLOAT_EQ(cloud.points.host()[index].y, z * (50 - 35.5f) / 80);
    EXPECT_FLOAT_EQ(cloud.points.host()[index].z, z);
    EXPECT_EQ(cloud.colors.host()[index], (Rgb8{70, 50, 200}));
    EXPECT_TRUE(std::isnan(cloud.points.host()[20 * kWidth + 10].x));
  }
}

TEST_F(DepthCli, ColourOfAnotherCamera) {
  // Beside the depth camera by 0.1 m: at 2 m and f = 80 px that is 4 px.
  std::ofstream(folder_ / "beside.json")
      << R"({"rotation": [1, 0, 0, 0, 1, 0, 0, 0, 1], "translation_m": [-0.1, 0, 0]})";
  const Outcome outcome =
      run("depth.png --camera camera.json --color color.png --color-camera camera.json "
          "--color-from-depth beside.json --cloud-output cloud.ply");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Cloud cloud = std::move(read_geometry(folder_ / "cloud.ply").vertices);
  const Rgb8 got = cloud.colors.host()[50 * kWidth + 70];
  EXPECT_NEAR(got.x, 66, 1);
  EXPECT_NEAR(got.y, 50, 1);
}

TEST_F(DepthCli, RawDisparity) {
  // k = 0 is a near point and 2047 is nothing; written as the integers they are.
  Image<float> raw(Context::cpu(), 4, 1);
  const float values[] = {0, 490, 1089, 2047};
  for (int u = 0; u < 4; ++u) raw(u, 0) = values[u];
  write_depth_png(folder_ / "raw.png", raw, {.unit_m = 1});
  ASSERT_EQ(run("raw.png --disparity --depth-output out.png --output-unit-m 0.01").status, 0);
  const Image<float> depth = read_depth_png(folder_ / "out.png", {.unit_m = 0.01});
  EXPECT_NEAR(depth(0, 0), 348 / 1090.0, 0.005);
  EXPECT_NEAR(depth(1, 0), 0.58, 0.005);
  EXPECT_NEAR(depth(2, 0), 348, 0.005);
  EXPECT_TRUE(std::isnan(depth(3, 0)));
}

TEST_F(DepthCli, PictureShowsNearLightAndHolesBlack) {
  const Outcome outcome =
      run("depth.png --picture seen.png --picture-near-m 0.5 --picture-far-m 1.9");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("wrote seen.png"), std::string::npos) << outcome.out;
  const Image<Rgb8> picture = read_png(folder_ / "seen.png");
  EXPECT_EQ(picture(10, 20), Rgb8{});
  EXPECT_EQ(picture(80, 20), map_color(0));
  EXPECT_NEAR(picture(5, 5).y, map_color(0.9 / 1.4).y, 3);
}

TEST_F(DepthCli, CameraFileSaysTheUnit) {
  std::ofstream(folder_ / "fine.json")
      << R"({"width": 96, "height": 72, "fx": 80, "fy": 80, "cx": 47.5, "cy": 35.5,
             "depth_scale": 0.5})";
  const auto halved = nlohmann::json::parse(run("depth.png --camera fine.json --json").out);
  EXPECT_NEAR(halved.at("median_m").get<double>(), 1.0, 0.01);
  const auto told =
      nlohmann::json::parse(run("depth.png --camera fine.json --unit-m 0.001 --json").out);
  EXPECT_NEAR(told.at("median_m").get<double>(), 2.0, 0.01);
}

TEST_F(DepthCli, WrongUsageIsTwo) {
  for (const char* arguments :
       {"", "depth.png --cloud-output cloud.ply", "depth.png --color color.png",
        "depth.png --color-camera camera.json", "depth.png --filter --radius-px 99",
        "depth.png --filter --sigma-depth-m 0"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.err.rfind("sextant: ", 0), 0u) << outcome.err;
  }
}

TEST_F(DepthCli, FailureIsOneLineAndOne) {
  std::ofstream(folder_ / "other.json")
      << R"({"width": 640, "height": 480, "fx": 525, "fy": 525, "cx": 319.5, "cy": 239.5})";
  std::ofstream(folder_ / "half.json") << R"({"rotation": [1, 0, 0]})";
  for (const char* arguments :
       {"missing.png", "color.png", "depth.png --camera other.json --cloud-output cloud.ply",
        "depth.png --camera camera.json --cloud-output cloud.xyz",
        "depth.png --camera camera.json --cloud-output cloud.png", "depth.png --picture seen.bmp",
        "depth.png --camera camera.json --color color.png --color-from-depth half.json "
        "--cloud-output cloud.ply",
        "depth.png --depth-output nowhere/out.png"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.out.empty()) << arguments;
  }
}

}  // namespace
}  // namespace sextant
