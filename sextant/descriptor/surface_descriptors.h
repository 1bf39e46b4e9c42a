// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/pairs.h"
#include "sextant/descriptor/shot.h"
#include "sextant/descriptor/tensor.h"
#include "sextant/geometry/surface.h"

// Keypoints and descriptors of a Surface. Lengths of 0 in the options are taken from its
// resolution, as `resolved` does; estimate_resolution and triangulate
// (surface/surface_operations.h) set it, and where it is not known yet, Error says so.

namespace sextant {

/// Chooses one point of the surface in each voxel. Waits for the device.
Buffer<std::int32_t> uniform_keypoints(const Context& context, const Surface& surface,
                                       const UniformKeypointOptions& options = {});
/// Finds the ISS keypoints. Waits for the device.
Buffer<std::int32_t> iss_keypoints(const Context& context, const Surface& surface,
                                   const IssOptions& options = {});

/// Computes SHOT at points of the surface, given by their indices. The surface needs normals, and
/// colours where they are described. Waits for the device.
ShotDescriptors compute_shot(const Context& context, const Surface& surface,
                             View<const std::int32_t> keypoints, const ShotOptions& options = {});

/// Finds pairs of points for tensors: pixels of an organised surface, else points near each other.
/// The surface needs normals. Waits for the device.
Buffer<PointPair> find_pairs(const Context& context, const Surface& surface,
                             const PairsOptions& options = {});
/// Computes the tensors of pairs. The surface needs normals and triangles: those of a mesh, or the
/// cells of `triangulate`. Waits for the device.
TensorSet compute_tensors(const Context& context, const Surface& surface,
                          View<const PointPair> pairs, const TensorOptions& options = {});

/// Pairs drawn at random, whose number only the device knows.
struct DrawnPairs {
  Buffer<PointPair> pairs;     ///< the first count[0] are there
  Buffer<std::int32_t> count;  ///< one element
  Buffer<std::int32_t> found;  ///< one element: from how many pairs they were drawn
};

/// Draws up to `amount` of the pairs of find_pairs, the same as select_pairs; 0 draws all of them.
/// The room for them has the size of `amount`, and nothing waits for the device; for 0 and for more
/// than 4096 it waits, to make room for no more than there are.
DrawnPairs draw_pairs(const Context& context, const Surface& surface, std::int64_t amount,
                      std::uint64_t seed = 0, const PairsOptions& options = {});
/// Computes their tensors. Waits once for the device, to pack them; a mesh is prepared before,
/// which waits as well.
TensorSet compute_tensors(const Context& context, const Surface& surface, const DrawnPairs& drawn,
                          const TensorOptions& options = {});

/// Counts the triangles of the surface whose centre lies in the cube of a tensor with these
/// options, whether they are connected with its pair or not: for the frames 0, step, 2 step ... of
/// a set. The count is -1 where the frame is not finite. Does not wait for the device. Memory:
/// about 200 bytes for each cell of an organised surface, 100 for each triangle of a mesh.
Buffer<std::int32_t> count_triangles(const Context& context, const Surface& surface,
                                     View<const TensorFrame> frames, const TensorOptions& options,
                                     int step = 1);

}  // namespace sextant
