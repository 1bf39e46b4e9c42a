// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/cloud_normals/math.h"
#include "sextant/surface/curvature/fit.h"

namespace sextant::detail::cloud_curvature {

/// How often a radius with too few neighbours is doubled.
inline constexpr int kMostDoublings = 3;

/// What the loops need to know, on either device.
struct CloudCurvatureJob {
  NeighbourGridView grid;
  View<const Vec3f> normals;
  CloudCurvatureOptions options;
  curvature::QuadricRules rules;
  CloudCurvatureViews out;

  CloudCurvatureJob(const NeighbourGridView& neighbours, View<const Vec3f> given,
                    const CloudCurvatureOptions& chosen, const CloudCurvatureViews& to)
      : grid(neighbours), normals(given), options(chosen), rules(rules_of(chosen)), out(to) {}

  /// The unit normal turned to the side that counts as outside.
  SEXTANT_HD Vec3f oriented(const GridPoint& point, const Vec3f& normal) const {
    if (!normals.empty()) {
      const float side = dot(normals[point.index], normal);
      if (side > 0.0f) return normal;
      if (side < 0.0f) return -normal;
    }
    return normals::oriented_towards(options.viewpoint_m, point.position, normal);
  }

 private:
  static curvature::QuadricRules rules_of(const CloudCurvatureOptions& options) {
    CurvatureOptions organised;
    organised.weights = options.weights;
    organised.weight_scale_m = options.weight_scale_m;
    organised.first_unweighted = options.first_unweighted;
    organised.remove_bias = options.remove_bias;
    return curvature::QuadricRules(organised);
  }
};

/// `neighbours(f)` calls f(offset_m, distance_sq, inside) for each; `away` is the unit normal of
/// their plane, to the inside; all lie within a radius.
template <bool kOurs, class T, class Neighbours>
SEXTANT_HD curvature::FittedQuadric<T> fit_neighbours(const CloudCurvatureJob& job, float within_m,
                                                      const Vec3<T>& away,
                                                      const Neighbours& neighbours) {
  const T radius_m(within_m);
  return curvature::fit_quadric(
      job.rules, job.options.iterations, away, radius_m,
      curvature::first_weight(job.rules, radius_m),
      [&](auto first, const curvature::QuadricFit<T>& fit,
          const curvature::QuadricWeight<T>& weight) {
        curvature::QuadricSums<T> sums;
        neighbours([&](const Vec3<T>& offset_m, const T& distance_sq, const auto& inside) {
          curvature::add_sample<kOurs, decltype(first)::value>(fit, job.rules, weight, offset_m,
                                                               distance_sq, inside, sums);
        });
        return sums;
      });
}

SEXTANT_HD inline void write_nothing(const CloudCurvatureViews& out, std::int64_t i) {
  const Vec3f nowhere{NAN, NAN, NAN};
  if (!out.k1_per_m.empty()) out.k1_per_m[i] = NAN;
  if (!out.k2_per_m.empty()) out.k2_per_m[i] = NAN;
  if (!out.direction1.empty()) out.direction1[i] = nowhere;
  if (!out.normals.empty()) out.normals[i] = nowhere;
  if (!out.points.empty()) out.points[i] = nowhere;
  if (!out.valid.empty()) out.valid[i] = 0;
}

/// The rules are those of images: see fit_patch.
SEXTANT_HD inline bool is_valid(const CloudCurvatureJob& job, float radius_m,
                                const curvature::FittedQuadric<float>& quadric) {
  const curvature::QuadricResult<float>& q = quadric.result;
  if (!(quadric.count >= static_cast<float>(job.options.least_samples))) return false;
  if (!(quadric.least_pivot > curvature::kLeastQuadricPivot)) return false;
  if (!std::isfinite(q.k1_per_m) || !std::isfinite(q.k2_per_m)) return false;
  if (!is_finite(q.normal) || !is_finite(q.offset_m)) return false;
  if (job.rules.weights != CurvatureWeights::kRobust) return true;
  const float most = curvature::kMostBend / radius_m;
  return quadric.weight >= quadric.count * curvature::kLeastAgreement && q.k1_per_m <= most &&
         q.k2_per_m >= -most;
}

SEXTANT_HD inline void write_quadric(const CloudCurvatureJob& job, float radius_m,
                                     const GridPoint& point,
                                     const curvature::FittedQuadric<float>& quadric) {
  const CloudCurvatureViews& out = job.out;
  curvature::QuadricResult<float> q = quadric.result;
  const std::int64_t i = point.index;
  if (!is_valid(job, radius_m, quadric)) return write_nothing(out, i);
  const Vec3f normal = job.oriented(point, q.normal);
  if (dot(normal, q.normal) < 0.0f) {
    // The fit has turned over the edge of what is seen: from the other side (k1, k2) is (-k2, -k1).
    q.direction1 = cross(q.normal, q.direction1);
    q = {-q.k2_per_m, -q.k1_per_m, q.direction1, normal, q.offset_m};
  }
  const float limit = job.options.clamp_per_m > 0.0f ? job.options.clamp_per_m : INFINITY;
  if (!out.k1_per_m.empty()) out.k1_per_m[i] = clamp(q.k1_per_m, -limit, limit);
  if (!out.k2_per_m.empty()) out.k2_per_m[i] = clamp(q.k2_per_m, -limit, limit);
  if (!out.direction1.empty()) out.direction1[i] = q.direction1;
  if (!out.normals.empty()) out.normals[i] = q.normal;
  if (!out.points.empty()) out.points[i] = point.position + q.offset_m;
  if (!out.valid.empty()) out.valid[i] = 1;
}

/// The curvature of one point of the grid. The neighbours are found anew in each pass, so nothing
/// is stored. kOurs: see add_sample.
template <bool kOurs>
struct CloudCurvaturePoint {
  CloudCurvatureJob job;

  SEXTANT_HD void operator()(std::int64_t place) const {
    const GridPoint middle = job.grid.points[place];
    if (!is_finite(middle.position)) return write_nothing(job.out, middle.index);
    float radius_m = job.options.radius_m;
    normals::Moments<float> moments = moments_within(middle, radius_m);
    for (int i = 0; i < kMostDoublings && moments.count < widen_below(); ++i) {
      radius_m *= 2.0f;
      moments = moments_within(middle, radius_m);
    }
    if (!(moments.count >= cloud_normals::kLeastNeighbours))
      return write_nothing(job.out, middle.index);
    const Vec3f plane = normals::plane_normal(normals::scatter_about_mean(moments));
    if (!is_finite(plane)) return write_nothing(job.out, middle.index);
    const auto neighbours = [&](const auto& add) {
      for_each_neighbour(job.grid, middle.position, radius_m,
                         [&](const GridPoint& other, float distance_sq) {
                           add(other.position - middle.position, distance_sq, true);
                         });
    };
    write_quadric(job, radius_m, middle,
                  fit_neighbours<kOurs>(job, radius_m, -job.oriented(middle, plane), neighbours));
  }

 private:
  SEXTANT_HD float widen_below() const { return static_cast<float>(job.options.widen_below); }

  SEXTANT_HD normals::Moments<float> moments_within(const GridPoint& middle, float radius_m) const {
    normals::Moments<float> moments;
    for_each_neighbour(job.grid, middle.position, radius_m, [&](const GridPoint& other, float) {
      normals::accumulate(moments, other.position - middle.position);
    });
    return moments;
  }
};

}  // namespace sextant::detail::cloud_curvature
