// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sextant/core/eigen3.h"
#include "sextant/descriptor/shot.h"
#include "tests/devices.h"

// The equality with PCL's SHOT that compute_shot promises.

namespace sextant::testing {

/// What both get.
struct ShotCase {
  std::vector<Vec3f> points;
  std::vector<Vec3f> normals;
  std::vector<Rgb8> colors;
  std::vector<std::int32_t> keypoints;
};

/// Rows of numbers, and the frames as three axes each.
struct DescribedRows {
  int length = 0;
  std::vector<float> values;
  std::vector<Vec3f> frames;

  const float* row(std::size_t i) const {
    return values.data() + i * static_cast<std::size_t>(length);
  }
};

/// With local frames of our own, or with those given.
inline DescribedRows shot_by_us(const Context& context, const ShotCase& scene,
                                const ShotOptions& options, const std::vector<Vec3f>& frames = {}) {
  std::vector<Vec3f> places;
  std::vector<Rgb8> place_colors;
  for (const std::int32_t i : scene.keypoints) {
    places.push_back(scene.points[static_cast<std::size_t>(i)]);
    if (!scene.colors.empty()) {
      place_colors.push_back(scene.colors[static_cast<std::size_t>(i)]);
    }
  }
  const auto points = copy(context, scene.points);
  const auto normals = copy(context, scene.normals);
  const auto colors = copy(context, scene.colors);
  const auto keypoints = copy(context, places);
  const auto keypoint_colors = copy(context, place_colors);
  const auto given = copy(context, frames);
  const ShotDescriptors shot = compute_shot(
      context, {points, normals, colors},
      {keypoints, keypoint_colors, frames.empty() ? View<const Vec3f>{} : given.view()}, options);
  return {shot.length, to_host(context, shot.values), to_host(context, shot.frames)};
}

inline double axis_angle_rad(const Vec3f& a, const Vec3f& b) {
  const Vec3d u = cast<double>(a), v = cast<double>(b);
  return std::atan2(norm(cross(u, v)), dot(u, v));
}

/// Whether the neighbourhood determines its axes: both gaps exceed a thousandth of the largest
/// eigenvalue. A naive sum over all points.
inline bool has_clear_axes(const ShotCase& scene, const Vec3f& p, float radius_m) {
  Sym3d sum;
  for (const Vec3f& q : scene.points) {
    const double distance = norm(cast<double>(q) - cast<double>(p));
    if (!(distance < static_cast<double>(radius_m))) continue;
    sum =
        sum + outer(cast<double>(q) - cast<double>(p)) * (static_cast<double>(radius_m) - distance);
  }
  const Eigen3<double> e = eigen_jacobi(sum);
  const double least = 1e-3 * e.values[2];
  return e.values[2] - e.values[1] > least && e.values[1] - e.values[0] > least;
}

/// Rows of one descriptor each that are compared, and of these those equal within 1e-5.
struct RowCount {
  int compared = 0;
  int close = 0;

  void compare(const DescribedRows& theirs, const DescribedRows& ours, std::size_t row) {
    double worst = 0, squares = 0;
    for (int i = 0; i < ours.length; ++i) {
      const double apart =
          static_cast<double>(theirs.row(row)[i]) - static_cast<double>(ours.row(row)[i]);
      worst = std::max(worst, std::abs(apart));
      squares += apart * apart;
    }
    ++compared;
    close += worst <= 1e-5;
    // The comparison is written so that NaN fails.
    EXPECT_TRUE(std::sqrt(squares) < 0.1) << "row " << row << " is off by " << std::sqrt(squares);
  }
  void expect_close(const char* which) const {
    EXPECT_GE(close, 0.995 * compared) << which << ": " << close << " of " << compared;
    ::testing::Test::RecordProperty(std::string("rows ") + which,
                                    std::to_string(close) + " of " + std::to_string(compared));
  }
};

/// Every descriptor is compared, in the peer's frame. With frames of our own those are compared
/// whose frame is the peer's too, and the others have a neighbourhood that determines no frame.
inline void expect_equal_shot(const Context& context, const ShotCase& scene,
                              const DescribedRows& theirs, const ShotOptions& options) {
  const DescribedRows ours = shot_by_us(context, scene, options);
  const DescribedRows in_their_frames = shot_by_us(context, scene, options, theirs.frames);
  ASSERT_EQ(theirs.length, ours.length);
  ASSERT_EQ(theirs.values.size(), ours.values.size());
  ASSERT_EQ(theirs.frames.size(), ours.frames.size());
  const float frame_radius_m =
      options.frame_radius_m > 0.0f ? options.frame_radius_m : options.radius_m;
  RowCount all, own;
  for (std::size_t row = 0; row < scene.keypoints.size(); ++row) {
    ASSERT_EQ(std::isnan(theirs.row(row)[0]), std::isnan(ours.row(row)[0])) << "row " << row;
    double turned = 0;
    for (std::size_t axis = 3 * row; axis < 3 * row + 3; ++axis) {
      ASSERT_EQ(std::isnan(theirs.frames[axis].x), std::isnan(ours.frames[axis].x))
          << "row " << row;
      turned = std::max(turned, axis_angle_rad(theirs.frames[axis], ours.frames[axis]));
    }
    if (std::isnan(theirs.row(row)[0])) continue;
    all.compare(theirs, in_their_frames, row);
    if (turned <= 1e-4) {
      own.compare(theirs, ours, row);
    } else {
      const Vec3f p = scene.points[static_cast<std::size_t>(scene.keypoints[row])];
      EXPECT_FALSE(has_clear_axes(scene, p, frame_radius_m)) << "row " << row;
    }
  }
  // Where most rows have no descriptor, too few neighbours are what is tested.
  EXPECT_GT(all.compared, static_cast<int>(scene.keypoints.size()) / 5);
  all.expect_close("in PCL's frames");
  own.expect_close("in our own frames");
}

}  // namespace sextant::testing
