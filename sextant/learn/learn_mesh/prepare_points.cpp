// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_mesh/prepare_points.h"

#include <cmath>

#include "sextant/descriptor/keypoints.h"
#include "sextant/geometry/file_normals.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/mesh_points.h"

namespace sextant::detail::learn {

namespace {

/// Some of the points of a cloud, with their normals and colours.
Cloud chosen(const Cloud& from, const std::vector<std::int64_t>& indices) {
  const Context host = Context::cpu();
  const auto pick = [&](const auto& values) {
    using Value = std::remove_cvref_t<decltype(values.data()[0])>;
    std::vector<Value> kept;
    if (values.empty()) return Buffer<Value>();
    for (const std::int64_t i : indices) kept.push_back(values.data()[i]);
    return copy(host, kept);
  };
  Cloud cloud;
  cloud.points = pick(from.points);
  cloud.normals = pick(from.normals);
  cloud.colors = pick(from.colors);
  return cloud;
}

Cloud without_holes(const Cloud& cloud) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < cloud.size(); ++i) {
    const bool whole = is_finite(cloud.points.data()[i]) &&
                       (cloud.normals.empty() || is_finite(cloud.normals.data()[i]));
    if (whole) indices.push_back(i);
  }
  return chosen(cloud, indices);
}

/// One point a voxel, the voxels grown until few enough are left.
Cloud thinned(const Context& context, Cloud cloud, std::vector<std::string>& remarks) {
  if (cloud.size() <= kMostSurfacePoints) return cloud;
  const std::int64_t before = cloud.size();
  float leaf_m = cloud_spacing_m(context, cloud.points);
  while (cloud.size() > kMostSurfacePoints) {
    const Buffer<std::int32_t> kept = uniform_keypoints(context, cloud.points, {.leaf_m = leaf_m});
    cloud = chosen(cloud, {kept.host().begin(), kept.host().end()});
    leaf_m *= 1.25f;
  }
  remarks.push_back("Of " + std::to_string(before) + " points " + std::to_string(cloud.size()) +
                    " were kept, evenly spread.");
  return cloud;
}

}  // namespace

PreparedMesh prepare_points(const Context& context, const Cloud& given) {
  PreparedMesh prepared;
  std::vector<std::string>& remarks = prepared.remarks;
  const bool sensor_known = given.organised();
  const Vec3f sensor_m = cast<float>(given.world_from_sensor.translation);
  Cloud cloud = without_holes(given);
  if (cloud.size() < given.size()) {
    remarks.push_back(std::to_string(given.size() - cloud.size()) +
                      " points without a place or normal were left out.");
  }
  const UnitNormals made = make_unit_normals(cloud);
  if (made.dropped) {
    remarks.emplace_back("Its normals have no directions.");
  } else if (made.zero > 0) {
    cloud = without_holes(cloud);
    remarks.push_back(std::to_string(made.zero) + " points without a normal were left out.");
  }
  if (share_of_opposite_normals(cloud) > kMostOppositeNormals) {
    cloud.normals = {};
    remarks.emplace_back("Its normals point to either side at random and were left out.");
  }
  cloud = thinned(context, std::move(cloud), remarks);
  const bool had_normals = !cloud.normals.empty();
  if (!had_normals) {
    cloud.normals = estimate_cloud_normals(context, cloud.points, {.viewpoint_m = sensor_m});
    cloud = without_holes(cloud);
  }
  require(cloud.size() >= 10, "mesh: ", cloud.size(),
          " points with a place and a normal are no surface");
  if (had_normals) {
    remarks.emplace_back("Points alone: triangles were made between neighbours.");
  } else if (sensor_known) {
    remarks.emplace_back(
        "Points alone: normals were estimated, towards the sensor, and triangles made between "
        "neighbours.");
  } else {
    remarks.emplace_back(
        "Points alone: normals were estimated and triangles made between neighbours; a side of a "
        "triangle counts where it can be seen.");
    prepared.both_sides = true;
  }
  prepared.mesh.vertices = std::move(cloud);
  // At edges the normals of noisy or sparse points are poor: they may differ more where no side is
  // known anyway.
  MeshPointsOptions options{.both_sides = prepared.both_sides};
  if (prepared.both_sides) options.most_normal_angle = 1.4f;
  prepared.mesh.triangles =
      mesh_points(context, prepared.mesh.vertices.points, prepared.mesh.vertices.normals, options);
  require(!prepared.mesh.triangles.empty(), "mesh: its points lie too far apart to make a surface");
  if (prepared.both_sides) prepared.mesh.vertices.normals = {};  // those of triangles count
  return prepared;
}

}  // namespace sextant::detail::learn
