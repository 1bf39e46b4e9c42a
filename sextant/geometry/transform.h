// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/buffer.h"
#include "sextant/core/rigid3.h"

namespace sextant {

/// The points in another frame, and directions (normals, axes) turned into it. Computed in double
/// and rounded once; holes stay holes. In place when `to` is `from`. Does not wait for the device.
void transform_points_into(const Context& context, const Rigid3d& to_from_from,
                           View<const Vec3f> from, View<Vec3f> to);
void turn_directions_into(const Context& context, const Mat3d& rotation, View<const Vec3f> from,
                          View<Vec3f> to);
Buffer<Vec3f> transform_points(const Context& context, const Rigid3d& to_from_from,
                               View<const Vec3f> from);
Buffer<Vec3f> turn_directions(const Context& context, const Mat3d& rotation,
                              View<const Vec3f> from);

}  // namespace sextant
