// SPDX-License-Identifier: Apache-2.0
// `sextant describe` as a script uses it: what the files hold, on surfaces whose truth is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/core/device.h"
#include "sextant/descriptor/descriptor_file.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/npy.h"
#include "sextant/io/png.h"
#include "tests/end_to_end/command_line.h"
#include "tests/meshes.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;

constexpr int kWidth = 120;
constexpr int kHeight = 90;
constexpr double kFocal_px = 120;
constexpr double kRadius_m = 0.3;
const Vec3d kCentre{0, 0, 1};

/// A ball of 0.3 m before a wall, a point every 7 to 12 mm; the same ball as a mesh and as points.
class DescribeCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const testing::OrganisedScene scene =
        testing::look_at(testing::BallBeforeWall{{kCentre, kRadius_m}, 1.4},
                         {.width = kWidth, .height = kHeight, .focal_px = kFocal_px});
    Image<float> depth(Context::cpu(), kWidth, kHeight);
    Image<Rgb8> color(Context::cpu(), kWidth, kHeight);
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
      depth.pixels().host()[i] = scene.points[i].z;
      color.pixels().host()[i] = {static_cast<std::uint8_t>(i % 251), 90,
                                  static_cast<std::uint8_t>(i / 97)};
    }
    write_depth_png(folder_ / "depth.png", depth, {.unit_m = 1e-4});
    write_png(folder_ / "color.png", color);
    std::ofstream(folder_ / "camera.json")
        << R"({"width": 120, "height": 90, "fx": 120, "fy": 120, "cx": 59.5, "cy": 44.5,)"
        << R"( "depth_scale": 0.1})";
    TriangleMesh ball = testing::sphere(static_cast<float>(kRadius_m), 48, 96);
    ASSERT_TRUE(write_geometry(folder_ / "ball.ply", ball).empty());
    ball.triangles = {};
    ASSERT_TRUE(write_geometry(folder_ / "points.ply", ball).empty());
  }

  /// Runs `describe` with --json and gives its document.
  json describe(const std::string& arguments) const {
    const Outcome outcome = run("describe " + arguments + " --json --device cpu");
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json();
  }
};

constexpr const char* kDepth = "depth.png --camera camera.json ";

void expect_frames(const DescriptorFile& file) {
  for (const Mat3f& axes : file.axes) {
    const Mat3f product = axes * transpose(axes);
    for (int i = 0; i < 3; ++i) {
      ASSERT_LT(norm(product.row[i] - Mat3f::identity().row[i]), 1e-4f);
    }
    ASSERT_NEAR(determinant(axes), 1, 1e-4);
  }
}

TEST_F(DescribeCli, ShotOfADepthMap) {
  const json document =
      describe(std::string(kDepth) + "--descriptor shot -o a.sxd --npy a.npy --picture a.png");
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document.at("descriptor"), "shot352");
  EXPECT_EQ(document.at("surface").at("kind"), "organised cloud");
  EXPECT_EQ(document.at("keypoints").at("choice"), "voxel");
  const double resolution_m = document.at("surface").at("resolution_m");
  EXPECT_GT(resolution_m, 0.007);
  EXPECT_LT(resolution_m, 0.013);
  EXPECT_NEAR(document.at("options").at("radius_m"), 15 * resolution_m, 1e-6);
  EXPECT_NEAR(document.at("keypoints").at("leaf_m"), 5 * resolution_m, 1e-6);
  const DescriptorFile file = read_descriptor_file(folder_ / "a.sxd");
  EXPECT_EQ(file.kind, DescriptorKind::kShot);
  EXPECT_EQ(file.length, 352);
  EXPECT_NEAR(file.resolution_m, resolution_m, 1e-7);
  ASSERT_GT(file.count(), 100);
  EXPECT_EQ(document.at("described"), file.count());
  std::int64_t invalid = 0;
  for (const json& count : document.at("invalid")) invalid += count.get<std::int64_t>();
  EXPECT_EQ(document.at("keypoints").at("count").get<std::int64_t>(), file.count() + invalid);
  expect_frames(file);
  for (std::size_t i = 0; i < file.points.size(); ++i) {
    double square = 0;
    for (std::size_t j = 0; j < 352; ++j) {
      square += std::pow(static_cast<double>(file.values[352 * i + j]), 2);
    }
    ASSERT_NEAR(square, 1, 1e-4);
    // The keypoint is the pixel that its index names.
    const Vec3f p = file.positions_m[i];
    ASSERT_NEAR(p.x / p.z * kFocal_px + 59.5, file.points[i] % kWidth, 1e-3);
    ASSERT_NEAR(p.y / p.z * kFocal_px + 44.5, file.points[i] / kWidth, 1e-3);
  }
  EXPECT_EQ(json::parse(file.options).at("options"), document.at("options"));
  // NumPy has the same numbers.
  const NpyArray<float> rows = read_npy<float>(folder_ / "a.npy");
  EXPECT_EQ(rows.shape, (std::vector<std::int64_t>{file.count(), 352}));
  EXPECT_EQ(rows.values, file.values);
  const NpyArray<float> frames = read_npy<float>(folder_ / "a_frames.npy");
  EXPECT_EQ(frames.shape, (std::vector<std::int64_t>{file.count(), 3, 3}));
  EXPECT_EQ(frames.values.at(5), file.axes[0].row[1].z);
  EXPECT_EQ(read_npy<float>(folder_ / "a_positions.npy").values.at(3), file.positions_m[1].x);
  EXPECT_EQ(read_npy<std::int32_t>(folder_ / "a_points.npy").values, file.points);
}

TEST_F(DescribeCli, ThePictureShowsTheThreeAxes) {
  for (const char* input : {kDepth, "ball.ply ", "points.ply "}) {
    const json document = describe(std::string(input) + "--picture p.png --keypoints random");
    ASSERT_TRUE(document.is_object());
    const Image<Rgb8> picture = read_png(folder_ / "p.png");
    int red = 0, green = 0, blue = 0, grey = 0;
    for (const Rgb8& c : picture.pixels().host()) {
      red += c.x > c.y + 60 && c.x > c.z + 60;
      green += c.y > c.x + 60 && c.y > c.z + 60;
      blue += c.z > c.x + 60 && c.z > c.y + 60;
      grey += c.x == c.y && c.y == c.z && c.x < 250;
    }
    EXPECT_GT(std::min({red, green, blue}), 50) << input;
    EXPECT_GT(grey, picture.width() * picture.height() / 10) << input;
  }
  EXPECT_EQ(read_png(folder_ / "p.png").width(), 640);
}

/// Some sensors' files have all points at negative z.
TEST_F(DescribeCli, OrganisedCloudsMayLookTheOtherWay) {
  const testing::OrganisedScene scene =
      testing::look_at(testing::SphereSurface{kCentre, kRadius_m},
                       {.width = kWidth, .height = kHeight, .focal_px = kFocal_px});
  TriangleMesh mesh;
  mesh.vertices.points = copy(Context::cpu(), scene.points);
  for (Vec3f& p : mesh.vertices.points.host()) p = {p.x, -p.y, -p.z};
  mesh.vertices.width = kWidth;
  mesh.vertices.height = kHeight;
  ASSERT_TRUE(write_geometry(folder_ / "behind.pcd", mesh).empty());
  const json document = describe("behind.pcd --count 30 -o b.sxd --picture b.png");
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document.at("surface").at("kind"), "organised cloud");
  EXPECT_EQ(document.at("described"), 30);
  EXPECT_GT(document.at("frames_shown"), 10);
}

TEST_F(DescribeCli, KeypointsAreAsAskedFor) {
  const auto count = [&](const std::string& arguments) {
    return describe("points.ply -o k.sxd --radius-resolutions 6 " + arguments)
        .value("written", std::int64_t{-1});
  };
  const std::int64_t all = count("--keypoints all");
  EXPECT_EQ(all, 47 * 96 + 2);
  EXPECT_EQ(count("--keypoints random --count 50 --seed 3"), 50);
  const DescriptorFile first = read_descriptor_file(folder_ / "k.sxd");
  EXPECT_EQ(count("--keypoints random --count 50 --seed 3"), 50);
  EXPECT_EQ(read_descriptor_file(folder_ / "k.sxd").values, first.values);
  EXPECT_EQ(std::set<std::int32_t>(first.points.begin(), first.points.end()).size(), 50u);
  EXPECT_EQ(count("--keypoints random --count 50 --seed 4"), 50);
  EXPECT_NE(read_descriptor_file(folder_ / "k.sxd").points, first.points);
  const std::int64_t coarse = count("--keypoints voxel --leaf-m 0.1");
  const std::int64_t fine = count("--keypoints voxel --leaf-m 0.05");
  EXPECT_GT(coarse, 20);
  EXPECT_GT(fine, 2 * coarse);
  EXPECT_LT(fine, all);
  EXPECT_EQ(count("--keypoints voxel --leaf-m 0.05 --count 30"), 30);
  // A ball is the same everywhere: what is salient there is rounding, and thinned out.
  const std::int64_t salient = count("--keypoints iss");
  EXPECT_GE(salient, 0);
  EXPECT_LT(salient, all / 4);
}

TEST_F(DescribeCli, WhatHasNoDescriptorIsCountedAndLeftOut) {
  // Five points of the surface, and one far from all others.
  const TriangleMesh mesh = testing::mesh_of(
      {{0, 0, 1}, {1, 0, 1}, {0, 1, 1.1f}, {1, 1, 1}, {0.5f, 0.4f, 1}, {0.5f, 0.7f, 1}, {40, 0, 1}},
      {});
  ASSERT_TRUE(write_geometry(folder_ / "few.ply", mesh).empty());
  const std::string arguments = "few.ply --keypoints all --radius-m 3 --normals-k 5 -o few.sxd";
  const json document = describe(arguments);
  EXPECT_EQ(document.at("described"), 6);
  EXPECT_EQ(document.at("invalid").at("no_frame"), 1);
  EXPECT_EQ(read_descriptor_file(folder_ / "few.sxd").count(), 6);
  EXPECT_EQ(describe(arguments + " --keep-invalid").at("written"), 7);
  const DescriptorFile file = read_descriptor_file(folder_ / "few.sxd");
  EXPECT_EQ(file.points, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_TRUE(std::isnan(file.values.at(6 * 352)));
  EXPECT_TRUE(std::isfinite(file.values.at(5 * 352)));
}

/// As its help says, also for pixels without depth.
TEST_F(DescribeCli, KeepInvalidKeepsARowForEveryPixel) {
  Image<float> depth = read_depth_png(folder_ / "depth.png", {.unit_m = 1e-4});
  for (int v = 20; v < 40; ++v) {
    for (int u = 30; u < 60; ++u) depth(u, v) = NAN;
  }
  write_depth_png(folder_ / "holes.png", depth, {.unit_m = 1e-4});
  const std::string arguments =
      "holes.png --camera camera.json --keypoints all --radius-resolutions 3 --npy h.npy";
  EXPECT_EQ(describe(arguments).at("keypoints").at("count"), kWidth * kHeight - 20 * 30);
  const json document = describe(arguments + " --keep-invalid");
  EXPECT_EQ(document.at("written"), kWidth * kHeight);
  EXPECT_EQ(document.at("invalid").at("not_finite"), 20 * 30);
  const NpyArray<float> rows = read_npy<float>(folder_ / "h.npy");
  EXPECT_EQ(rows.shape, (std::vector<std::int64_t>{kWidth * kHeight, 352}));
  const NpyArray<std::int32_t> points = read_npy<std::int32_t>(folder_ / "h_points.npy");
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    ASSERT_EQ(points.values[i], static_cast<std::int32_t>(i));
    const bool hole = i % kWidth >= 30 && i % kWidth < 60 && i / kWidth >= 20 && i / kWidth < 40;
    ASSERT_TRUE(!hole || std::isnan(rows.values[352 * i]));
  }
  EXPECT_TRUE(std::isfinite(rows.values[352 * (45 * kWidth + 60)]));
}

TEST_F(DescribeCli, ColoursAreDescribed) {
  const json document =
      describe(std::string(kDepth) + "--color color.png --descriptor cshot --count 20 -o c.sxd");
  EXPECT_EQ(document.at("descriptor"), "cshot1344");
  const DescriptorFile file = read_descriptor_file(folder_ / "c.sxd");
  EXPECT_EQ(file.kind, DescriptorKind::kShapeAndColorShot);
  EXPECT_EQ(file.values.size(), 20u * 1344u);
}

TEST_F(DescribeCli, TensorsOfADepthMap) {
  const json document =
      describe(std::string(kDepth) + "--descriptor tensor --count 40 -o t.sxd --npy t.npy");
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document.at("descriptor"), "tensor1000");
  EXPECT_EQ(document.at("described"), 40);
  EXPECT_GT(document.at("pairs"), 40);
  EXPECT_GT(document.at("triangles").at("median"), 100);
  const DescriptorFile file = read_descriptor_file(folder_ / "t.sxd");
  EXPECT_EQ(file.kind, DescriptorKind::kTensor);
  EXPECT_TRUE(file.compressed());
  EXPECT_NEAR(file.size_m, 2 * file.resolution_m, 1e-6);
  expect_frames(file);
  for (std::size_t i = 0; i < file.points.size(); ++i) {
    EXPECT_LT(file.points[i], file.partners[i]);
    EXPECT_GT(file.angles_rad[i], 0.2617f);
  }
  const NpyArray<float> rows = read_npy<float>(folder_ / "t.npy");
  EXPECT_EQ(rows.shape, (std::vector<std::int64_t>{40, 1000}));
  EXPECT_EQ(rows.values, dense_values(file));
  EXPECT_EQ(read_npy<std::int32_t>(folder_ / "t_points.npy").shape,
            (std::vector<std::int64_t>{40, 2}));
}

/// The device is asked how dense the points are, how much there is to pack, and for the results.
TEST_F(DescribeCli, ADepthMapNeedsThreeDownloads) {
  for (const DeviceInfo& info : list_devices().devices) {
    for (const char* what : {"shot", "shot --keypoints iss", "tensor"}) {
      const Outcome outcome = run("describe " + std::string(kDepth) + "--descriptor " + what +
                                  " -o d.sxd --json --device " + to_string(info.device));
      ASSERT_EQ(outcome.status, 0) << outcome.err;
      const std::int64_t downloads = json::parse(outcome.out).at("downloads");
      EXPECT_EQ(downloads, info.device.kind == DeviceKind::kCuda ? 3 : 0) << what;
    }
  }
}

/// On a ball the two normals of a pair lie symmetric to the line from its centre through the
/// tensor's origin, so z points outwards, and every tensor sees the same cap of the ball.
TEST_F(DescribeCli, TensorsOfABallAreAlike) {
  const json document =
      describe("ball.ply --descriptor tensor --count 60 --tensor-bins 8 -o t.sxd");
  ASSERT_TRUE(document.is_object());
  EXPECT_EQ(document.at("surface").at("kind"), "mesh");
  EXPECT_EQ(document.at("descriptor"), "tensor512");
  const DescriptorFile file = read_descriptor_file(folder_ / "t.sxd");
  ASSERT_EQ(file.count(), 60);
  for (std::size_t i = 0; i < file.axes.size(); ++i) {
    EXPECT_GT(dot(file.axes[i].row[2], normalized(file.positions_m[i])), 0.999f);
  }
  const double mean = document.at("area_sq_m").at("mean");
  const double side_m = 8 * static_cast<double>(file.size_m);
  // More than the flat square through the cube, less than half as much again: the cube is smaller
  // than the ball.
  EXPECT_GT(mean, side_m * side_m * 0.95);
  EXPECT_LT(mean, side_m * side_m * 1.5);
}

TEST_F(DescribeCli, WrongUsageAndFailure) {
  for (const char* arguments :
       {"describe points.ply", "describe", "describe points.ply -o a.sxd --descriptor sift",
        "describe points.ply -o a.sxd --keypoints some", "describe points.ply -o a --count -1",
        "describe points.ply -o a.sxd --shot-bins 7",
        "describe ball.ply --descriptor tensor --keypoints iss -o a.sxd"}) {
    EXPECT_EQ(run(arguments).status, 2) << arguments;
  }
  std::ofstream(folder_ / "one.ply") << "ply\nformat ascii 1.0\nelement vertex 1\n"
                                        "property float x\nproperty float y\nproperty float z\n"
                                        "end_header\n0 0 1\n";
  for (const char* arguments :
       {"describe missing.ply -o a.sxd", "describe depth.png -o a.sxd", "describe one.ply -o a.sxd",
        "describe points.ply --descriptor tensor -o a.sxd",
        "describe points.ply --descriptor cshot -o a.sxd", "describe points.ply --filter -o a.sxd",
        "describe points.ply --picture a.ply", "describe points.ply -o missing/a.sxd"}) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, 1) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(outcome.out.empty());
  }
  const Outcome help = run("describe --help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("Example:"), std::string::npos);
  for (const char* flag : {"--radius-m", "--keypoints", "--tensor-mode", "--shot-mode",
                           "--pair-least-angle-rad", "--normals-radius-px", "--filter"}) {
    EXPECT_NE(help.out.find(flag), std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace sextant
