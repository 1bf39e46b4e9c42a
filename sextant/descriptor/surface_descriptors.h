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

}  // namespace sextant
