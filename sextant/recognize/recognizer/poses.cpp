// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/poses.h"

#include <algorithm>
#include <array>
#include <map>

namespace sextant::detail::recognizer {

bool is_same_pose(const Model& model, const Rigid3f& a, const Rigid3f& b, float distance_m,
                  float angle_rad) {
  return same_pose(model.view(), a, b, distance_m, least_trace(angle_rad));
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
  const ModelView view = model.view();
  const float trace = least_trace(angle_rad);
  for (const Hypothesis& pose : poses) {
    const Vec3f centre = pose.camera_from_object * model.centre;
    std::size_t first = clusters.size();
    for (int neighbour = 0; neighbour < 27; ++neighbour) {
      const auto found =
          cells.find(cell_of(centre, neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1));
      if (found == cells.end()) continue;
      for (const std::size_t c : found->second) {
        if (c >= first) break;
        if (same_pose(view, clusters[c].camera_from_object, pose.camera_from_object, distance_m,
                      trace)) {
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

}  // namespace sextant::detail::recognizer
