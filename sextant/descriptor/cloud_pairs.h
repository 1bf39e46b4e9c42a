// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/pairs.h"
#include "sextant/geometry/neighbours.h"

namespace sextant {

/// Finds pairs as find_pairs does, for points in any order: a cloud, or the vertices of a mesh.
/// Partners are looked for among all points (window_px has no meaning), so a point has the three
/// nearest there are. With `samples`, one is drawn from each of as many equal runs of the points.
///
/// The result is the same on every device to the last bit. Each point that looks meets those within
/// most_resolutions, about 600 where points lie one resolution apart on a surface. Waits for the
/// device, to learn how many pairs there are.
Buffer<PointPair> find_cloud_pairs(const Context& context, View<const Vec3f> points,
                                   View<const Vec3f> normals, float resolution_m,
                                   const PairsOptions& options = {});

/// Takes a grid of the points, best one for_radius(most_resolutions * resolution_m). Does not wait;
/// room and count are those of find_pairs_into. The workspace takes 16 bytes for each point that
/// looks.
void find_cloud_pairs_into(const Context& context, const NeighbourGrid& grid,
                           View<const Vec3f> points, View<const Vec3f> normals, float resolution_m,
                           const PairsOptions& options, View<PointPair> pairs,
                           View<std::int32_t> count, Workspace& workspace);

}  // namespace sextant
