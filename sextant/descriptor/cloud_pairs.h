// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/pairs.h"
#include "sextant/geometry/neighbours.h"

namespace sextant {

/// As find_pairs, for points in any order: a cloud, or the vertices of a mesh. Partners are found
/// among all points (window_px has no meaning), so a point has the three nearest there are. With
/// `samples`, one is drawn from each of as many equal runs of the points.
///
/// The same on every device to the last bit. Cost: the points within most_resolutions of each that
/// looks, about 600 where points lie one resolution apart on a surface.
Buffer<PointPair> find_cloud_pairs(const Context& context, View<const Vec3f> points,
                                   View<const Vec3f> normals, float resolution_m,
                                   const PairsOptions& options = {});

/// With a grid of the points, best one for_radius(most_resolutions * resolution_m). Does not wait;
/// room, count and memory as for find_pairs_into.
void find_cloud_pairs_into(const Context& context, const NeighbourGrid& grid,
                           View<const Vec3f> points, View<const Vec3f> normals, float resolution_m,
                           const PairsOptions& options, View<PointPair> pairs,
                           View<std::int32_t> count, PairsWorkspace& workspace);

}  // namespace sextant
