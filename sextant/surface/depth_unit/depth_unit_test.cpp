// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/depth_unit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sextant/io/depth_file.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

const Camera kCamera{640, 480, 560, 560, 319.5, 239.5, {}};

/// A slanted wall with a ball before it, as a sensor sees it or, without one, exactly, rounded to
/// steps.
Image<float> wall(double distance_m, std::optional<SensorModel> sensor, double step_m) {
  const Context host = Context::cpu(2);
  Rigid3d pose, nearer;
  pose.translation = {0, 0, distance_m};
  pose.rotation.row[1] = {0, 0.9, 0.4358899};
  pose.rotation.row[2] = {0, -0.4358899, 0.9};
  nearer.translation = {0.1, 0, 0.6 * distance_m};
  const AnalyticShape shapes[] = {AnalyticShape::plane(pose), AnalyticShape::sphere(0.08, nearer)};
  const AnalyticFrame truth = render_analytic(host, kCamera, shapes);
  Image<float> depth_m = copy(host, truth.depth_m);
  if (sensor) {
    depth_m = add_sensor_noise(host, depth_m, truth.normals, kCamera, sensor_noise(*sensor),
                               testing::seed_of_test());
  }
  for (float& z_m : depth_m.pixels().host()) {
    z_m = static_cast<float>(std::round(z_m / step_m) * step_m);
  }
  return depth_m;
}

Image<float> times(const Image<float>& depth_m, float factor) {
  Image<float> scaled = copy(Context::cpu(), depth_m);
  for (float& z_m : scaled.pixels().host()) z_m *= factor;
  return scaled;
}

double factor_of(const Image<float>& depth_m, double step_m) {
  return doubt_depth_unit(Context::cpu(2), depth_m, step_m).factor;
}

TEST(DepthUnit, SensorsTenTimesTooFarOrTooNearAreDoubted) {
  for (const SensorModel sensor : {SensorModel::kKinect, SensorModel::kRealsense}) {
    for (const double distance_m : {0.8, 1.5}) {
      const Image<float> depth_m = wall(distance_m, sensor, 0.0001);
      EXPECT_EQ(factor_of(depth_m, 0.0001), 1) << distance_m;
      EXPECT_EQ(factor_of(times(depth_m, 10), 0.001), 10) << distance_m;
      EXPECT_EQ(factor_of(times(depth_m, 0.1f), 0.00001), 0.1) << distance_m;
    }
  }
}

TEST(DepthUnit, HallsAndRenderingsAreNotDoubted) {
  EXPECT_EQ(factor_of(wall(5, SensorModel::kKinect, 0.001), 0.001), 1);
  for (const double distance_m : {0.15, 1.0, 5.0, 20.0}) {
    EXPECT_EQ(factor_of(wall(distance_m, std::nullopt, 0.001), 0.001), 1) << distance_m;
  }
}

TEST(DepthUnit, NothingToLookAtIsNotDoubted) {
  Image<float> small(Context::cpu(), 5, 5), holes(Context::cpu(), 64, 64);
  std::fill(small.pixels().host().begin(), small.pixels().host().end(), 20.0f);
  std::fill(holes.pixels().host().begin(), holes.pixels().host().end(), NAN);
  EXPECT_EQ(factor_of(small, 0.001), 1);
  EXPECT_EQ(factor_of(holes, 0.001), 1);
  EXPECT_EQ(factor_of(Image<float>(Context::cpu(), 0, 0), 0.001), 1);
  EXPECT_THROW(doubt_depth_unit(Context::cpu(), small, 0), Error);
}

/// The depth maps of a folder of captured data.
std::vector<std::filesystem::path> depth_maps(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool is_map = folder.filename() == "depth" || name.find("depth") != std::string::npos;
    if (is_map && entry.path().extension() == ".png") files.push_back(entry.path());
  }
  return files;
}

/// No frame is doubted, and every one is when it is read ten times too far or too near: the noise
/// of all these sensors lies in the range that the header names.
TEST(DepthUnit, RealFramesAreBelievedAndTenTimesFartherOrNearerOnesAreNot) {
  struct Set {
    const char* folder;
    double unit_m;
  };
  constexpr Set kSets[] = {{"linemod_ape/depth", 0.001},      {"visp_rbt/depth", 0.001},
                           {"icbin_cups/test1/depth", 0.001}, {"icbin_cups/test2/depth", 0.001},
                           {"rgbd_7scenes", 0.001},           {"ycbv_frames/frames_gt", 0.0001},
                           {"bunny_rgbd_turntable", 0.001}};
  for (const Set& set : kSets) {
    const auto folder = testing::shared_data(set.folder);
    if (!folder) GTEST_SKIP() << "no captured data";
    const auto files = depth_maps(*folder);
    EXPECT_FALSE(files.empty()) << set.folder;
    for (const auto& file : files) {
      SCOPED_TRACE(file);
      const Image<float> depth_m = read_depth(file, {.unit_m = set.unit_m});
      EXPECT_EQ(factor_of(depth_m, set.unit_m), 1);
      const DepthUnitDoubt far =
          doubt_depth_unit(Context::cpu(2), times(depth_m, 10), 10 * set.unit_m);
      EXPECT_EQ(far.factor, 10);
      EXPECT_GT(far.median_m, 3.8f);
      EXPECT_GT(far.sigma_per_m, 0.00015f);
      EXPECT_LT(far.sigma_per_m, 0.0008f);
      EXPECT_EQ(factor_of(times(depth_m, 0.1f), 0.1 * set.unit_m), 0.1);
    }
  }
}

}  // namespace
}  // namespace sextant
