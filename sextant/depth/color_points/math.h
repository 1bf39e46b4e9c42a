// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/depth/color_points.h"
#include "sextant/geometry/undistort/math.h"

namespace sextant::detail::color_points {

struct RegisteredColor {
  View<const Vec3f> points;
  ImageView<const Rgb8> image;
  View<Rgb8> colors;

  SEXTANT_HD void operator()(int u, int v) const {
    const std::int64_t index = std::int64_t{v} * image.width + u;
    colors[index] = is_finite(points[index]) ? image(u, v) : Rgb8{};
  }
};

struct ProjectedColor {
  View<const Vec3f> points;
  ImageView<const Rgb8> image;
  Cameraf camera;
  Rigid3f color_from_points;
  View<Rgb8> colors;

  SEXTANT_HD void operator()(std::int64_t index) const {
    // A hole projects to NaN, which lies outside every image.
    colors[index] = undistort::sample(image, project(camera, color_from_points * points[index]));
  }
};

}  // namespace sextant::detail::color_points
