// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/point_samples.h"

namespace sextant::detail::point_samples {

inline constexpr int kSceneBits = 17;  ///< of an axis, with the number of the scale above

/// Points at several scales, each with the number of its scale and voxel (scene_voxels of
/// math.h) and its place in `points`; in the order of the points within a
/// scale. What has the number kNoVoxel is left out. Numbers and places are sorted in place.
struct NumberedPoints {
  View<const Vec3f> points;
  View<const Vec3f> normals;
  View<std::uint64_t> voxels;
  View<std::uint32_t> order;
  std::int64_t scales = 0;
};

/// The samples of numbered points, as sample_scales_into gives them.
void samples_of_numbered_into(const Context& context, const NumberedPoints& numbered,
                              float normal_angle_rad, View<Vec3f> sample_points,
                              View<Vec3f> sample_normals, View<std::int32_t> first,
                              Workspace& workspace);

}  // namespace sextant::detail::point_samples
