// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/evaluated_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sextant/evaluate/evaluated_model/point_tree.h"
#include "sextant/geometry/diameter.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/mesh_points.h"

namespace sextant {

namespace {

/// Between estimated normals of neighbours at the edges of an object; as for learning.
constexpr float kMostEstimatedAngle_rad = 1.4f;

/// Those farthest from `middle` first.
std::vector<std::size_t> farthest_first(const std::vector<Vec3d>& points, const Vec3d& middle) {
  std::vector<double> distance_sq(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) distance_sq[i] = norm_sq(points[i] - middle);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distance_sq[a] > distance_sq[b]; });
  return order;
}

std::vector<Vec3d> sorted_points(std::span<const Vec3f> all, Bounds& bounds) {
  std::vector<Vec3d> points;
  for (const Vec3f& p : all) {
    if (!is_finite(p)) continue;
    bounds.low = {std::min(bounds.low.x, p.x), std::min(bounds.low.y, p.y),
                  std::min(bounds.low.z, p.z)};
    bounds.high = {std::max(bounds.high.x, p.x), std::max(bounds.high.y, p.y),
                   std::max(bounds.high.z, p.z)};
    points.push_back(cast<double>(p));
  }
  const Vec3d middle = (cast<double>(bounds.low) + cast<double>(bounds.high)) * 0.5;
  std::vector<Vec3d> sorted;
  sorted.reserve(points.size());
  for (const std::size_t i : farthest_first(points, middle)) sorted.push_back(points[i]);
  return sorted;
}

/// Triangles between points that have none. Where the cloud has no normals they are estimated, and
/// their signs mean nothing.
TriangleMesh mesh_of_points(const Cloud& cloud) {
  const Context cpu = Context::cpu();
  TriangleMesh mesh;
  mesh.vertices.points = copy(cpu, cloud.points);
  if (cloud.normals.size() == cloud.size()) {
    mesh.triangles = mesh_points(cpu, cloud.points, cloud.normals);
  } else {
    mesh.triangles =
        mesh_points(cpu, cloud.points, estimate_cloud_normals(cpu, cloud.points),
                    {.most_normal_angle = kMostEstimatedAngle_rad, .both_sides = true});
  }
  return mesh;
}

}  // namespace

EvaluatedModel make_evaluated_model(int object_id, TriangleMesh mesh, const Symmetries& symmetries,
                                    double known_diameter_m) {
  EvaluatedModel model;
  model.object_id = object_id;
  model.symmetries = symmetries;
  model.motions = symmetry_motions(symmetries);
  model.points = sorted_points(mesh.vertices.points.host(), model.bounds);
  require(!model.points.empty(), "object ", object_id, ": has no vertex");
  model.middle_m = (cast<double>(model.bounds.low) + cast<double>(model.bounds.high)) * 0.5;
  model.diameter_m =
      known_diameter_m > 0 ? known_diameter_m : diameter_m(Context::cpu(), mesh.vertices.points);
  model.tree = std::make_shared<detail::evaluated_model::PointTree>(model.points);
  if (mesh.triangles.size() == 0) {
    model.mesh = mesh_of_points(mesh.vertices);
    require(!model.mesh.triangles.empty(), "object ", object_id,
            ": its points lie too far apart to make a surface; give it triangles");
  } else {
    model.mesh = std::move(mesh);
  }
  return model;
}

}  // namespace sextant
