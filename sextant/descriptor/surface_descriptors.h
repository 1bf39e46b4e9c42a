// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/pairs.h"
#include "sextant/descriptor/shot.h"
#include "sextant/descriptor/tensor.h"
#include "sextant/geometry/surface.h"

// Keypoints and descriptors of a Surface. Lengths of 0 in the options are taken from its
// resolution, which estimate_resolution and triangulate (surface/surface_operations.h) set; where
// it is not known yet, Error says so.

namespace sextant {

/// One point of the surface in each voxel; leaf_m = 0 takes 5 resolutions.
Buffer<std::int32_t> uniform_keypoints(const Context& context, const Surface& surface,
                                       UniformKeypointOptions options = {.leaf_m = 0});
/// ISS keypoints; radii of 0 are 6 resolutions for saliency and 4 for choosing the most salient.
Buffer<std::int32_t> iss_keypoints(const Context& context, const Surface& surface,
                                   IssOptions options = {.salient_radius_m = 0,
                                                         .non_max_radius_m = 0});

/// SHOT at points of the surface, given by their indices; radius_m = 0 takes 15 resolutions. The
/// surface needs normals, and colours where they are described.
ShotDescriptors compute_shot(const Context& context, const Surface& surface,
                             View<const std::int32_t> keypoints,
                             ShotOptions options = {.radius_m = 0});

/// Pairs of points for tensors: pixels of an organised surface, else points near each other. The
/// surface needs normals.
Buffer<PointPair> find_pairs(const Context& context, const Surface& surface,
                             const PairsOptions& options = {});
/// The tensors of pairs. The surface needs normals and triangles: those of a mesh, or the cells of
/// `triangulate`.
TensorSet compute_tensors(const Context& context, const Surface& surface,
                          View<const PointPair> pairs, const TensorOptions& options = {});

}  // namespace sextant
