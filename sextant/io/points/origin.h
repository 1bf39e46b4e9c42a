// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/geometry/cloud.h"

namespace sextant::detail::points {

/// What to subtract from coordinates before they become floats: nothing where rounding to floats is
/// less than a hundredth of the points' spacing, else the place near the median of the points, in
/// floats, so that a coordinate of 0 comes back as 0. The spacing of N points is taken
/// as the size of the box that holds the middle half of them on every axis, divided by √N; a share
/// of points far away, or at (0, 0, 0) because a sensor saw nothing, changes nothing. Points that
/// all lie in one place may move by a millimetre. Looks at some thousand points.
Vec3d origin_for(std::span<const Vec3d> points_m);

/// Makes these the points of the cloud, about such an origin.
void set_points(Cloud& cloud, std::span<const Vec3d> points_m);

/// The pose of the sensor in coordinates of the file; the cloud's own is about its origin.
Rigid3d sensor_in_file(const Cloud& cloud);
void set_sensor_in_file(Cloud& cloud, const Rigid3d& world_from_sensor);

/// The points in coordinates of the file, for writers.
inline bool has_origin(const Cloud& cloud) { return !(cloud.origin_m == Vec3d{}); }
inline Vec3d in_file(const Cloud& cloud, const Vec3f& point) {
  return cast<double>(point) + cloud.origin_m;
}

}  // namespace sextant::detail::points
