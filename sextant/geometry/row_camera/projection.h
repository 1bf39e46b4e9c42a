// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sextant/core/rigid3.h"

namespace sextant::detail::row_camera {

/// A point and the pixel that it was seen at.
struct PixelOfPoint {
  double u, v;
  Vec3d point;
};

/// The pose (points_from_camera) of the pinhole camera that sees the points at their pixels, by
/// the direct linear transformation: the 3 × 4 matrix P with P (p, 1) ~ (u, v, 1) that fits best.
/// Depth noise moves points along their rays, so it costs no accuracy. Nothing where the points
/// determine no P (they lie on a plane), where P is no camera with nearly square pixels or stands a
/// hundred times farther off than the points spread, or where it misses the pixels by more than 2 %
/// of the width on average.
std::optional<Rigid3d> fit_projection(const std::vector<PixelOfPoint>& pixels, int width,
                                      int height);

}  // namespace sextant::detail::row_camera
