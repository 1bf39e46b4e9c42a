// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_resolution.h"

#include <algorithm>
#include <numbers>

#include "sextant/geometry/neighbours.h"

namespace sextant {

namespace {

constexpr int kNeighbours = 15;
constexpr std::int64_t kRuns = 32;
constexpr std::int64_t kRunLength = 128;
constexpr float kSigmaResolutions = 3.0f;

/// All points, or runs of them: whole pieces can be copied on any device.
Buffer<Vec3f> sample_of(const Context& context, View<const Vec3f> points) {
  if (points.size <= kRuns * kRunLength) return copy(context, points);
  Buffer<Vec3f> sample(context, kRuns * kRunLength);
  for (std::int64_t run = 0; run < kRuns; ++run) {
    const std::int64_t first = (points.size - kRunLength) * run / (kRuns - 1);
    copy_async<Vec3f>(context, points.subview(first, kRunLength),
                      sample.view().subview(run * kRunLength, kRunLength));
  }
  return sample;
}

}  // namespace

float cloud_resolution_m(const Context& context, View<const Vec3f> points) {
  require_on(context, points, "points");
  constexpr int kK = kNeighbours + 1;  // with the point itself
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kK));
  const Buffer<Vec3f> sample = sample_of(context, points);
  const NearestNeighbours nearest = k_nearest(context, grid, sample, kK);
  const std::vector<float> distances_sq = to_host(context, nearest.distances_sq);
  std::vector<float> spacings_m;
  for (std::size_t row = 0; row + kK <= distances_sq.size(); row += kK) {
    // Small clouds have fewer neighbours.
    int last = kK - 1;
    while (last > 0 && !(distances_sq[row + last] < INFINITY)) --last;
    const float farthest_sq = distances_sq[row + last];
    if (last == 0 || !(farthest_sq > 0.0f)) continue;
    spacings_m.push_back(
        std::sqrt(farthest_sq * std::numbers::pi_v<float> / static_cast<float>(last)));
  }
  if (spacings_m.empty()) return 0.0f;
  const auto middle = spacings_m.begin() + static_cast<std::ptrdiff_t>(spacings_m.size() / 2);
  std::nth_element(spacings_m.begin(), middle, spacings_m.end());
  return *middle;
}

float default_sigma_m(const Context& context, View<const Vec3f> points) {
  const float resolution_m = cloud_resolution_m(context, points);
  if (!(resolution_m > 0.0f)) return 1.0f;
  return clamp(kSigmaResolutions * resolution_m, 1e-9f, 1e9f);
}

}  // namespace sextant
