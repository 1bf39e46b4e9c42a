// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/surface_descriptors.h"

#include "sextant/descriptor/cloud_pairs.h"
#include "sextant/descriptor/mesh_tensor.h"
#include "sextant/descriptor/pairs/list.h"
#include "sextant/descriptor/scale/scale.h"
#include "sextant/geometry/gather.h"

namespace sextant {

namespace {

float resolution_of(const Surface& surface) {
  require(surface.resolution_m > 0, "surface: its resolution is not known; call ",
          "estimate_resolution or triangulate first, or give lengths in metres");
  return surface.resolution_m;
}

TensorMesh mesh_part(const Context& context, const Surface& surface) {
  require(!surface.triangles.empty(),
          "surface: has no triangles; tensors need a mesh or the cells of triangulate");
  return prepare_tensor_mesh(context, surface.points, surface.normals, surface.triangles);
}

/// Looks for pairs, with their number on the device.
void find_pairs_into(const Context& context, const Surface& surface, const PairsOptions& options,
                     View<PointPair> pairs, View<std::int32_t> count) {
  Workspace workspace;
  const float resolution_m = resolution_of(surface);
  if (row_camera(context, surface)) {
    find_pairs_into(context, surface.point_image(), surface.normal_image(),
                    detail::pairs::statistics_with(context, resolution_m), options, pairs, count,
                    workspace);
    return;
  }
  const float most_m = options.most_resolutions * resolution_m;
  find_cloud_pairs_into(context, surface.grid(context, NeighbourGridOptions::for_radius(most_m)),
                        surface.points, surface.normals, resolution_m, options, pairs, count,
                        workspace);
}

/// All pairs in a random order, in room of their own size.
DrawnPairs draw_from_known(const Context& context, const Surface& surface, std::int64_t amount,
                           std::uint64_t seed, const PairsOptions& options) {
  const Buffer<PointPair> pairs = find_pairs(context, surface, options);
  const auto number = [&](std::int64_t value) {
    return copy(context, std::vector<std::int32_t>{static_cast<std::int32_t>(value)});
  };
  DrawnPairs drawn;
  drawn.pairs = select_pairs(context, pairs, amount == 0 ? pairs.size() : amount, seed);
  drawn.count = number(drawn.pairs.size());
  drawn.found = number(pairs.size());
  return drawn;
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
      surface.grid(context, detail::scale::cells_for_sphere(given.salient_radius_m));
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
  return compute_tensors(context, mesh_part(context, surface), pairs, resolution_of(surface),
                         options);
}

DrawnPairs draw_pairs(const Context& context, const Surface& surface, std::int64_t amount,
                      std::uint64_t seed, const PairsOptions& options) {
  constexpr std::int64_t kMostUnknown = 4096;  // their tensors take 25 MB
  require(amount >= 0, "amount: ", amount, " is negative");
  if (amount == 0 || amount > kMostUnknown) {
    return draw_from_known(context, surface, amount, seed, options);
  }
  check_options(options);
  const std::int64_t room =
      detail::pairs::lookers_of(surface.size(), options).samples * kPartnersPerPoint;
  Buffer<PointPair> pairs(context, room);
  DrawnPairs drawn{Buffer<PointPair>(context, min_of(amount, room)),
                   Buffer<std::int32_t>(context, 1), Buffer<std::int32_t>(context, 1)};
  find_pairs_into(context, surface, options, pairs, drawn.found);
  Workspace workspace;
  select_pairs_into(context, pairs, drawn.found, seed, drawn.pairs, drawn.count, workspace);
  return drawn;
}

TensorSet compute_tensors(const Context& context, const Surface& surface, const DrawnPairs& drawn,
                          const TensorOptions& options) {
  TensorSet tensors(context, drawn.pairs.size(), options.bins);
  Workspace workspace;
  const float resolution_m = resolution_of(surface);
  if (row_camera(context, surface)) {
    const OrganisedSurface organised{surface.point_image(), surface.normal_image(), surface.cells};
    compute_tensors_into(context, organised, drawn.pairs, drawn.count,
                         detail::pairs::statistics_with(context, resolution_m), options, tensors,
                         workspace);
  } else {
    compute_tensors_into(context, mesh_part(context, surface), drawn.pairs, drawn.count,
                         resolution_m, options, tensors, workspace);
  }
  return pack_tensors(context, tensors);
}

}  // namespace sextant
