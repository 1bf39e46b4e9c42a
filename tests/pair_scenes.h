// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <set>

#include "sextant/descriptor/pairs.h"
#include "tests/organised_scene.h"

// A surface on which points pair up, and the pairs by looking at everything.

namespace sextant::testing {

inline Image<Vec3f> image_of(const Context& context, const std::vector<Vec3f>& pixels,
                             const OrganisedScene& scene) {
  return Image<Vec3f>(copy(context, pixels), scene.width, scene.height);
}

/// A ball of 31 resolutions radius, with depth noise and holes, before nothing.
inline OrganisedScene ball(int width, int height, double noise_m = 0.0002) {
  OrganisedScene scene = look_at(SphereSurface{{0, 0, 0.5}, 0.03},
                                 {.width = width, .height = height, .noise_m = noise_m});
  for (std::size_t i = 0; i < scene.points.size(); i += 37) scene.points[i] = {NAN, NAN, NAN};
  for (std::size_t i = 5; i < scene.normals.size(); i += 41) scene.normals[i] = {NAN, NAN, NAN};
  return scene;
}
inline constexpr float kBallResolution_m = 0.00092f;

inline bool comes_before(const PointPair& a, const PointPair& b) {
  return a.p < b.p || (a.p == b.p && a.q < b.q);
}

struct Naive {
  std::vector<std::vector<std::int32_t>> partners;  ///< of every point, nearest first
  std::vector<PointPair> pairs;                     ///< sorted
};

/// Everything with everything else; `window` in pixels, negative for none.
inline Naive naive_pairs(const std::vector<Vec3f>& points, const std::vector<Vec3f>& normals,
                         int width, int window, float resolution_m, const PairsOptions& options) {
  Naive result;
  const double least = static_cast<double>(options.least_resolutions) * resolution_m;
  const double most = static_cast<double>(options.most_resolutions) * resolution_m;
  const double cosine = std::cos(static_cast<double>(options.least_angle_rad));
  std::set<std::pair<int, int>> found;
  const int count = static_cast<int>(points.size());
  for (int i = 0; i < count; ++i) {
    std::vector<std::pair<double, int>> candidates;
    const Vec3d p = cast<double>(points[static_cast<std::size_t>(i)]);
    const Vec3d n = cast<double>(normals[static_cast<std::size_t>(i)]);
    for (int j = 0; j < count; ++j) {
      if (window >= 0 &&
          (std::abs(i / width - j / width) > window || std::abs(i % width - j % width) > window)) {
        continue;
      }
      const double d = norm(cast<double>(points[static_cast<std::size_t>(j)]) - p);
      const double turn = dot(n, cast<double>(normals[static_cast<std::size_t>(j)]));
      if (d >= least && d <= most && turn < cosine) candidates.emplace_back(d, j);
    }
    std::sort(candidates.begin(), candidates.end());
    if (candidates.size() > 3) candidates.resize(3);
    result.partners.emplace_back();
    for (const auto& candidate : candidates) {
      result.partners.back().push_back(candidate.second);
      found.emplace(std::min(i, candidate.second), std::max(i, candidate.second));
    }
  }
  for (const auto& pair : found) result.pairs.push_back({pair.first, pair.second});
  return result;
}

}  // namespace sextant::testing
