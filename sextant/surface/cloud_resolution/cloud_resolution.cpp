// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_resolution.h"

#include <algorithm>
#include <numbers>

#include "sextant/core/reduce/anywhere.h"
#include "sextant/surface/cloud_resolution/math.h"

namespace sextant {

using namespace detail::cloud_resolution;

namespace {

constexpr int kNeighbours = 15;
constexpr std::int64_t kRuns = 32;
constexpr std::int64_t kRunLength = 128;
constexpr float kSigmaSpacings = 3.0f;

/// All points, or runs of them: whole pieces can be copied on any device.
struct Sample {
  Buffer<Vec3f> points;
  std::int64_t all = 0;

  Sample(const Context& context, View<const Vec3f> from)
      : points(context, min_of(from.size, kRuns * kRunLength)), all(from.size) {
    const std::int64_t length = is_whole() ? all : kRunLength;
    for (std::int64_t at = 0; at < points.size(); at += length) {
      copy_async<Vec3f>(context, from.subview(index_of(at), length),
                        points.view().subview(at, length));
    }
  }
  bool is_whole() const { return points.size() == all; }
  std::int64_t index_of(std::int64_t at) const {
    if (is_whole()) return at;
    return (all - kRunLength) * (at / kRunLength) / (kRuns - 1) + at % kRunLength;
  }
};

/// Over the points that have another among so many nearest ones.
NearestSum sum_of_nearest(const Context& context, const NeighbourGrid& grid, int nearest) {
  Workspace workspace;
  const std::int64_t size = grid.size() * nearest;
  const View<float> distances_sq = workspace.take<float>(context, size);
  k_nearest_into(context, grid, nearest, workspace.take<std::int32_t>(context, size), distances_sq);
  const View<NearestSum> means = workspace.take<NearestSum>(context, kRounds);
  for (int round = 0; round < kRounds; ++round) {
    const NearestSum* former = round > 0 ? means.data + round - 1 : nullptr;
    detail::transform_reduce_anywhere(
        context, grid.size(), NearestOfPoint{distances_sq.data, former, nearest}, detail::Add{},
        NearestSum{}, means.subview(round, 1), workspace);
  }
  return to_host(context, means.subview(kRounds - 1, 1))[0];
}

}  // namespace

float cloud_resolution_m(const Context& context, const NeighbourGrid& grid) {
  NearestSum sum = sum_of_nearest(context, grid, kNearest);
  if (sum.points == 0) sum = sum_of_nearest(context, grid, kNearestOfCopies);
  return sum.points > 0 ? static_cast<float>(sum.distance_m / sum.points) : NAN;
}

float cloud_resolution_m(const Context& context, View<const Vec3f> points) {
  require_on(context, points, "points");
  return cloud_resolution_m(
      context, build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kNearest)));
}

float cloud_spacing_m(const Context& context, View<const Vec3f> points) {
  require_on(context, points, "points");
  constexpr int kK = kNeighbours + 1;  // with the point itself
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kK));
  const Sample sample(context, points);
  const NearestNeighbours nearest = k_nearest(context, grid, sample.points, kK);
  const std::vector<std::int32_t> indices = to_host(context, nearest.indices);
  const std::vector<float> distances_sq = to_host(context, nearest.distances_sq);
  std::vector<float> spacings_m;
  for (std::size_t row = 0; row + kK <= distances_sq.size(); row += kK) {
    // A copy of another point says nothing new.
    if (indices[row] != sample.index_of(static_cast<std::int64_t>(row) / kK)) continue;
    // Small clouds have fewer neighbours.
    int last = kK - 1;
    while (last > 0 && !(distances_sq[row + last] < INFINITY)) --last;
    const float farthest_sq = distances_sq[row + last];
    if (last == 0 || !(farthest_sq > 0.0f)) continue;
    spacings_m.push_back(
        std::sqrt(farthest_sq * std::numbers::pi_v<float> / static_cast<float>(last)));
  }
  if (spacings_m.empty()) return NAN;
  const auto middle = spacings_m.begin() + static_cast<std::ptrdiff_t>(spacings_m.size() / 2);
  std::nth_element(spacings_m.begin(), middle, spacings_m.end());
  return *middle;
}

float default_sigma_m(const Context& context, View<const Vec3f> points) {
  const float spacing_m = cloud_spacing_m(context, points);
  return spacing_m > 0.0f ? clamp(kSigmaSpacings * spacing_m, 1e-9f, 1e9f) : 1.0f;
}

}  // namespace sextant
