// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/steps.h"

// Sums over the points of a slice on the CPU: one by one, and for moments eight at a time, so that
// a compiler makes vectors of them.

namespace sextant::detail::segment {

/// Adds `count` points of a list, one by one.
template <class Step, class Region, class Sums>
void add_points(const Step& step, const Region& region, const std::uint32_t* list,
                std::int32_t count, Sums& sums) {
  for (std::int32_t k = 0; k < count; ++k) {
    step.add(region, static_cast<std::int32_t>(list[k]), sums);
  }
}

/// Eight points and what is summed of each.
struct MomentLanes {
  static constexpr int kLanes = 8;
  double sums[kMomentSums][kLanes] = {};
  double q[3][kLanes], n[3][kLanes], area_m2[kLanes], counts[kLanes];

  /// Points that are attached count for the area only.
  template <class Surface>
  void load(int lane, const Surface& surface, const SegmentState& s, const Vec3d& origin,
            std::int32_t i) {
    const bool in_models = s.source[i] == i;
    const Vec3f normal = surface.normals[i];
    const Vec3d at = cast<double>(surface.points[i]) - origin;
    const bool has_normal = in_models && is_finite(normal);
    area_m2[lane] = double{surface.point_area_m2(i, s.area_m2)};
    counts[lane] = in_models ? 1.0 : 0.0;
    q[0][lane] = in_models ? at.x : 0.0;
    q[1][lane] = in_models ? at.y : 0.0;
    q[2][lane] = in_models ? at.z : 0.0;
    n[0][lane] = has_normal ? double{normal.x} : 0.0;
    n[1][lane] = has_normal ? double{normal.y} : 0.0;
    n[2][lane] = has_normal ? double{normal.z} : 0.0;
  }

  /// In the order of RegionMoments.
  void add() {
    int at = 1;  // the points are counted as a whole
    const auto sum = [&](const auto& value) {
      for (int k = 0; k < kLanes; ++k) sums[at][k] += value(k);
      ++at;
    };
    sum([&](int k) { return area_m2[k]; });
    sum([&](int k) { return counts[k]; });
    for (int i = 0; i < 3; ++i) sum([&](int k) { return q[i][k]; });
    double squares[6][kLanes];
    for (int i = 0, pair = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j, ++pair) {
        for (int k = 0; k < kLanes; ++k) squares[pair][k] = q[i][k] * q[j][k];
        sum([&](int k) { return squares[pair][k]; });
      }
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) {
        const int pair = i * (5 - i) / 2 + j;
        for (int m = j; m < 3; ++m) sum([&](int k) { return squares[pair][k] * q[m][k]; });
      }
    }
    for (int i = 0; i < 3; ++i) sum([&](int k) { return n[i][k]; });
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) sum([&](int k) { return n[i][k] * n[j][k]; });
    }
  }
};

template <class Surface>
void add_points(const MomentsOfPoint<Surface>& step, const Vec3d& origin, const std::uint32_t* list,
                std::int32_t count, RegionMoments& sums) {
  MomentLanes lanes;
  std::int32_t first = 0;
  for (; first + MomentLanes::kLanes <= count; first += MomentLanes::kLanes) {
    for (int lane = 0; lane < MomentLanes::kLanes; ++lane) {
      lanes.load(lane, step.surface, step.s, origin, static_cast<std::int32_t>(list[first + lane]));
    }
    lanes.add();
  }
  for (std::int32_t k = first; k < count; ++k) {
    step.add(origin, static_cast<std::int32_t>(list[k]), sums);
  }
  double* totals = reinterpret_cast<double*>(&sums);
  for (int t = 1; t < kMomentSums; ++t) {
    for (int lane = 0; lane < MomentLanes::kLanes; ++lane) totals[t] += lanes.sums[t][lane];
  }
  sums.points += first;
}

}  // namespace sextant::detail::segment
