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

/// Some dozens of points and what is summed of each: loops over them are long enough for a compiler
/// to make vectors of.
struct MomentBlock {
  static constexpr int kMost = 64;
  double q[3][kMost], n[3][kMost], area_m2[kMost], counts[kMost];

  /// Points that are attached count for the area only.
  template <class Surface>
  void load(const Surface& surface, const SegmentState& s, const Vec3d& origin,
            const std::uint32_t* list, int count) {
    float p[3][kMost], m[3][kMost], in_models[kMost], has_normal[kMost];
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::int32_t>(list[k]);
      const Vec3f &at = surface.points[i], &normal = surface.normals[i];
      p[0][k] = at.x;
      p[1][k] = at.y;
      p[2][k] = at.z;
      m[0][k] = normal.x;
      m[1][k] = normal.y;
      m[2][k] = normal.z;
      in_models[k] = s.source[i] == i ? 1.0f : 0.0f;
    }
    load_areas(surface, s, list, p, m, count);
    for (int k = 0; k < count; ++k) {
      // x - x is zero for finite numbers.
      const float finite = (m[0][k] - m[0][k]) + (m[1][k] - m[1][k]) + (m[2][k] - m[2][k]);
      has_normal[k] = finite == 0.0f ? in_models[k] : 0.0f;
      counts[k] = double{in_models[k]};
    }
    const double from[3] = {origin.x, origin.y, origin.z};
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < count; ++k) m[j][k] = has_normal[k] != 0.0f ? m[j][k] : 0.0f;
      for (int k = 0; k < count; ++k) q[j][k] = counts[k] * (double{p[j][k]} - from[j]);
      for (int k = 0; k < count; ++k) n[j][k] = double{m[j][k]};
    }
  }

 private:
  void load_areas(const CloudSurface&, const SegmentState& s, const std::uint32_t* list,
                  const float (&)[3][kMost], const float (&)[3][kMost], int count) {
    for (int k = 0; k < count; ++k) area_m2[k] = double{s.area_m2[list[k]]};
  }
  void load_areas(const PixelSurface& surface, const SegmentState& s, const std::uint32_t* list,
                  const float (&p)[3][kMost], const float (&m)[3][kMost], int count) {
    float areas[kMost];
    int unknown = 0;
    const float width = surface.pixel->x, height = surface.pixel->y;
    for (int k = 0; k < count; ++k) {
      const Vec3f at{p[0][k], p[1][k], p[2][k]}, normal{m[0][k], m[1][k], m[2][k]};
      areas[k] = PixelSurface::area_m2(at, std::abs(dot(normal, at)), width, height);
      unknown += PixelSurface::is_slant_known(at, normal) ? 0 : 1;
    }
    for (int k = 0; k < count && unknown > 0; ++k) {
      areas[k] = surface.point_area_m2(list[k], s.area_m2);
    }
    for (int k = 0; k < count; ++k) area_m2[k] = double{areas[k]};
  }
};

/// Sums of moments, of every eighth point each.
struct MomentLanes {
  static constexpr int kLanes = 8;
  double sums[kMomentSums][kLanes] = {};

  /// Adds the points of a block, a multiple of eight, in the order of RegionMoments: one sum after
  /// the other, so that its lanes stay in registers.
  void add(const MomentBlock& block, int count) {
    int at = 1;  // the points are counted as a whole
    const auto sum = [&](const auto& value) {
      double lanes[kLanes];
      for (int k = 0; k < kLanes; ++k) lanes[k] = sums[at][k];
      for (int first = 0; first < count; first += kLanes) {
        for (int k = 0; k < kLanes; ++k) lanes[k] += value(first + k);
      }
      for (int k = 0; k < kLanes; ++k) sums[at][k] = lanes[k];
      ++at;
    };
    const auto& q = block.q;
    const auto& n = block.n;
    sum([&](int k) { return block.area_m2[k]; });
    sum([&](int k) { return block.counts[k]; });
    for (int i = 0; i < 3; ++i) sum([&](int k) { return q[i][k]; });
    double squares[6][MomentBlock::kMost];
    for (int i = 0, pair = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j, ++pair) {
        for (int k = 0; k < count; ++k) squares[pair][k] = q[i][k] * q[j][k];
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
  MomentBlock block;
  const std::int32_t in_lanes = count / MomentLanes::kLanes * MomentLanes::kLanes;
  for (std::int32_t first = 0; first < in_lanes; first += MomentBlock::kMost) {
    const int length = min_of(MomentBlock::kMost, in_lanes - first);
    block.load(step.surface, step.s, origin, list + first, length);
    lanes.add(block, length);
  }
  for (std::int32_t k = in_lanes; k < count; ++k) {
    step.add(origin, static_cast<std::int32_t>(list[k]), sums);
  }
  double* totals = reinterpret_cast<double*>(&sums);
  for (int t = 1; t < kMomentSums; ++t) {
    for (int lane = 0; lane < MomentLanes::kLanes; ++lane) totals[t] += lanes.sums[t][lane];
  }
  sums.points += in_lanes;
}

}  // namespace sextant::detail::segment
