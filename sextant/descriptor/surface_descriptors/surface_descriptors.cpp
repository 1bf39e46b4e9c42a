// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/surface_descriptors.h"

#include "sextant/descriptor/cloud_pairs.h"
#include "sextant/descriptor/mesh_tensor.h"
#include "sextant/geometry/gather.h"

namespace sextant {

namespace {

float resolution_of(const Surface& surface) {
  require(surface.resolution_m > 0, "surface: its resolution is not known; call ",
          "estimate_resolution or triangulate first, or give lengths in metres");
  return surface.resolution_m;
}

}  // namespace

Buffer<std::int32_t> uniform_keypoints(const Context& context, const Surface& surface,
                                       const UniformKeypointOptions& options) {
  return uniform_keypoints(context, surface.points, resolved(options, surface.resolution_m));
}

Buffer<std::int32_t> iss_keypoints(const Context& context, const Surface& surface,
                                   const IssOptions& options) {
  const IssOptions given = resolved(options, surface.resolution_m);
  const NeighbourGrid& grid =
      surface.grid(context, NeighbourGridOptions::for_radius(0.5f * given.salient_radius_m));
  Buffer<std::int32_t> indices(context, surface.size());
  Buffer<std::int32_t> count(context, 1);
  Workspace workspace;
  iss_keypoints_into(context, grid, given, indices, count, workspace);
  return copy(context, indices.view().subview(0, to_host(context, count)[0]));
}

ShotDescriptors compute_shot(const Context& context, const Surface& surface,
                             View<const std::int32_t> keypoints, const ShotOptions& options) {
  return compute_shot(context, ShotSurface{surface.points, surface.normals, surface.colors},
                      keypoints, resolved(options, surface.resolution_m));
}

Buffer<PointPair> find_pairs(const Context& context, const Surface& surface,
                             const PairsOptions& options) {
  if (row_camera(context, surface)) {
    return find_pairs(context, surface.point_image(), surface.normal_image(),
                      resolution_of(surface), options);
  }
  return find_cloud_pairs(context, surface.points, surface.normals, resolution_of(surface),
                          options);
}

TensorSet compute_tensors(const Context& context, const Surface& surface,
                          View<const PointPair> pairs, const TensorOptions& options) {
  if (row_camera(context, surface)) {
    const OrganisedSurface organised{surface.point_image(), surface.normal_image(), surface.cells};
    return compute_tensors(context, organised, pairs, resolution_of(surface), options);
  }
  require(!surface.triangles.empty(),
          "surface: has no triangles; tensors need a mesh or the cells of triangulate");
  const TensorMesh mesh =
      prepare_tensor_mesh(context, surface.points, surface.normals, surface.triangles);
  return compute_tensors(context, mesh, pairs, resolution_of(surface), options);
}

}  // namespace sextant
