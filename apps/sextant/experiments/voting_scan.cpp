// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/normal_error.h"
#include "measure/table_scan.h"
#include "sextant/core/random.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/cloud_resolution.h"
#include "sextant/surface/voting.h"

namespace sextant::app {

namespace {

struct Scan {
  std::vector<Vec3f> points, normals;
};

/// The noise grows with the square of the depth and has this deviation at 1 m.
Scan scan_of(const Camera& camera, const AnalyticFrame& truth, double noise_at_1_m) {
  Scan scan;
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const Random random{1, static_cast<std::uint64_t>(v * camera.width + u)};
      const double z = double(truth.depth_m(u, v));
      if (!std::isfinite(z)) continue;
      const Vec3d ray = unproject(camera, Vec2d{double(u), double(v)});
      scan.points.push_back(cast<float>(ray * (z + noise_at_1_m * z * z * random.normal(1))));
      scan.normals.push_back(truth.normals(u, v));
    }
  }
  return scan;
}

}  // namespace

/// A table with a ball, a can, a ring and a box seen by a depth camera of 320 × 240 pixels: every
/// method with the σ that it takes by itself.
std::vector<measure::Row> voting_scan(const Context& context) {
  const Camera camera{320, 240, 262.5, 262.5, 159.5, 119.5, {}};
  const AnalyticFrame truth = measure::table_scan(camera);
  std::vector<measure::Row> rows;
  for (const double noise_mm : {0.0, 0.2, 1.0, 2.0, 4.0}) {
    const Scan scan = scan_of(camera, truth, noise_mm * 1e-3);
    const Buffer<Vec3f> points = copy(context, scan.points);
    const float sigma_m = default_sigma_m(context, points);
    const auto add = [&](const char* method, const Buffer<Vec3f>& normals) {
      rows.push_back({fmt::format("mean error, {:.1f} mm of noise at 1 m, {}", noise_mm, method),
                      "deg",
                      {},
                      mean_of(normal_errors_deg(to_host(context, normals), scan.normals)),
                      {},
                      {}});
    };
    add("PCA of 15 nearest", estimate_cloud_normals(context, points, {.k = 15}));
    add("weighted PCA",
        estimate_cloud_normals(context, points,
                               {.method = CloudNormalsMethod::kWeighted, .sigma_m = sigma_m}));
    add("voting", vote(context, points, {.sigma_m = sigma_m}).normals);
    add("voting, second pass",
        vote(context, points, {.sigma_m = sigma_m, .second_pass = true}).normals);
    rows.push_back({fmt::format("sigma, {:.1f} mm of noise at 1 m", noise_mm),
                    "mm",
                    {},
                    1e3 * double(sigma_m),
                    {},
                    {}});
    if (noise_mm >= 1.0) {
      measure::Row& weighted = rows[rows.size() - 4];
      weighted.goal = std::min(
          {rows[rows.size() - 5].ours, rows[rows.size() - 3].ours, rows[rows.size() - 2].ours});
      weighted.met = weighted.ours <= *weighted.goal;
    }
  }
  return rows;
}

}  // namespace sextant::app
