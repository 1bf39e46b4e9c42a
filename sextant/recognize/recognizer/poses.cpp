// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/poses.h"

#include <algorithm>
#include <array>
#include <map>

namespace sextant::detail::recognizer {

bool same_pose(const Model& model, const Rigid3f& a, const Rigid3f& b, float distance_m,
               float angle_rad) {
  // The rotation a⁻¹ b has the angle whose cosine is (trace - 1) / 2.
  const float least_trace = 1 + 2 * std::cos(angle_rad);
  const Vec3f centre = b * model.centre;
  for (const Rigid3f& motion : model.symmetries) {
    const Vec3f moved = a * (motion * model.centre);
    if (norm_sq(moved - centre) > distance_m * distance_m) continue;
    const Mat3f r = a.rotation * motion.rotation;
    const float trace = dot(r.row[0], b.rotation.row[0]) + dot(r.row[1], b.rotation.row[1]) +
                        dot(r.row[2], b.rotation.row[2]);
    if (trace >= least_trace) return true;
  }
  return false;
}

std::vector<Hypothesis> cluster(const Model& model, std::vector<Hypothesis> poses, float distance_m,
                                float angle_rad) {
  const auto better = [](const Hypothesis& a, const Hypothesis& b) {
    return a.quality > b.quality;
  };
  std::stable_sort(poses.begin(), poses.end(), better);
  // Clusters by the cell of their centre: those within the distance lie in the cells around. A
  // symmetry moves the centre by less than a leaf, since it is the mean of samples all around.
  const float cell_m = distance_m + model.leaf_m;
  const auto cell_of = [&](const Vec3f& c, int dx, int dy, int dz) {
    const auto along = [&](float x, int d) {
      return static_cast<std::int64_t>(std::floor(x / cell_m)) + d;
    };
    return std::array<std::int64_t, 3>{along(c.x, dx), along(c.y, dy), along(c.z, dz)};
  };
  std::map<std::array<std::int64_t, 3>, std::vector<std::size_t>> cells;
  std::vector<Hypothesis> clusters;
  for (const Hypothesis& pose : poses) {
    const Vec3f centre = pose.camera_from_object * model.centre;
    std::size_t first = clusters.size();
    for (int neighbour = 0; neighbour < 27; ++neighbour) {
      const auto found =
          cells.find(cell_of(centre, neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1));
      if (found == cells.end()) continue;
      for (const std::size_t c : found->second) {
        if (c >= first) break;
        if (same_pose(model, clusters[c].camera_from_object, pose.camera_from_object, distance_m,
                      angle_rad)) {
          first = c;
          break;
        }
      }
    }
    if (first < clusters.size()) {
      clusters[first].votes += pose.votes;
      continue;
    }
    cells[cell_of(centre, 0, 0, 0)].push_back(clusters.size());
    clusters.push_back(pose);
  }
  return clusters;
}

float visible_agreement(const SceneFrame& scene, const Model& model, const Rigid3f& pose,
                        int step) {
  constexpr float kFacing = 0.15f;  // cosine to the ray below which a sample shows its edge
  constexpr float kNormals = 0.7f;  // cosine of 45°
  const std::span<const Vec3f> points = model.pairs.points.host();
  const std::span<const Vec3f> normals = model.pairs.normals.host();
  const float reach = std::max(0.05f * model.diameter_m, 0.003f);
  float facing = 0, shown = 0, seen_through = 0;
  for (std::size_t i = 0; i < points.size(); i += static_cast<std::size_t>(step)) {
    const Vec3f x = pose * points[i];
    const Vec3f n = pose.rotation * normals[i];
    if (!(x.z > 0) || -dot(n, x) < kFacing * norm(x)) continue;
    facing += 1;
    const Vec2f pixel = project(scene.camera, x);
    const int u = static_cast<int>(std::lround(pixel.x)),
              v = static_cast<int>(std::lround(pixel.y));
    if (u < 0 || v < 0 || u >= scene.camera.width || v >= scene.camera.height) continue;
    const float z = scene.depth_m(u, v);
    if (!std::isfinite(z)) continue;
    const float gate = std::max(reach, 4 * scene.noise.sigma_m(z));
    if (z > x.z + gate) {
      seen_through += 1;
    } else if (z > x.z - gate) {
      const Vec3f measured = scene.normals(u, v);
      if (dot(measured, n) > kNormals) shown += 1;
    }
  }
  return facing > 0 ? (shown - 0.5f * seen_through) / facing : -0.5f;
}

}  // namespace sextant::detail::recognizer
