// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/cloud_normals_math.h"
#include "sextant/surface/curvature_math.h"

namespace sextant::detail {

/// What the loops need to know, on either device.
struct CloudCurvatureJob {
  NeighbourGridView grid;
  CloudCurvatureOptions options;
  QuadricRules rules;
  CloudCurvatureViews out;

  CloudCurvatureJob(const NeighbourGridView& neighbours, const CloudCurvatureOptions& chosen,
                    const CloudCurvatureViews& to)
      : grid(neighbours), options(chosen), rules(rules_of(chosen)), out(to) {}

 private:
  static QuadricRules rules_of(const CloudCurvatureOptions& options) {
    CurvatureOptions organised;
    organised.weights = options.weights;
    organised.weight_scale_m = options.weight_scale_m;
    organised.first_unweighted = options.first_unweighted;
    organised.remove_bias = options.remove_bias;
    return QuadricRules(organised);
  }
};

/// Whether the last step of a fit determined all of the quadric.
SEXTANT_HD inline bool determined(const CloudCurvatureOptions& options, float count,
                                  float least_pivot, float k1_per_m) {
  return count >= static_cast<float>(options.least_samples) && least_pivot > kLeastQuadricPivot &&
         std::isfinite(k1_per_m);
}

SEXTANT_HD inline void write_nothing(const CloudCurvatureViews& out, std::int64_t i) {
  const Vec3f nowhere{NAN, NAN, NAN};
  if (out.k1_per_m.data) out.k1_per_m[i] = NAN;
  if (out.k2_per_m.data) out.k2_per_m[i] = NAN;
  if (out.direction1.data) out.direction1[i] = nowhere;
  if (out.normals.data) out.normals[i] = nowhere;
  if (out.points.data) out.points[i] = nowhere;
  if (out.valid.data) out.valid[i] = 0;
}

SEXTANT_HD inline void write_result(const CloudCurvatureJob& job, const GridPoint& point,
                                    const QuadricResult<float>& result) {
  const CloudCurvatureViews& out = job.out;
  const std::int64_t i = point.index;
  const float limit = job.options.clamp_per_m > 0.0f ? job.options.clamp_per_m : INFINITY;
  if (out.k1_per_m.data) out.k1_per_m[i] = clamp(result.k1_per_m, -limit, limit);
  if (out.k2_per_m.data) out.k2_per_m[i] = clamp(result.k2_per_m, -limit, limit);
  if (out.direction1.data) out.direction1[i] = result.direction1;
  if (out.normals.data) out.normals[i] = result.normal;
  if (out.points.data) out.points[i] = point.position + result.offset_m;
  if (out.valid.data) out.valid[i] = 1;
}

/// The curvature of one point of the grid. The neighbours are found anew in each pass, so nothing
/// is stored. kOurs: see add_sample.
template <bool kOurs>
struct CloudCurvaturePoint {
  CloudCurvatureJob job;

  SEXTANT_HD void operator()(std::int64_t place) const {
    const GridPoint middle = job.grid.points[place];
    const float radius_m = job.options.radius_m;
    if (!is_finite(middle.position)) return write_nothing(job.out, middle.index);
    Moments<float> moments;
    for_each_neighbour(job.grid, middle.position, radius_m, [&](const GridPoint& other, float) {
      accumulate(moments, other.position - middle.position);
    });
    const Vec3f normal = normal_of(moments, middle.position, job.options.viewpoint_m);
    if (!is_finite(normal)) return write_nothing(job.out, middle.index);
    QuadricFit<float> fit = QuadricFit<float>::begin(-normal, radius_m);
    QuadricWeight<float> weight = first_weight(job.rules, radius_m);
    float least_pivot = 0;
    float count = 0;
    for (int iteration = 0; iteration < job.options.iterations; ++iteration) {
      QuadricSums<float> sums;
      for_each_neighbour(
          job.grid, middle.position, radius_m, [&](const GridPoint& other, float distance_sq) {
            add_sample<kOurs>(fit, job.rules, weight, other.position - middle.position, distance_sq,
                              true, sums);
          });
      const QuadricStep<float> step = solve_step(sums);
      weight = next_weight(job.rules, radius_m, sums, step, weight);
      apply_step(step, fit);
      least_pivot = step.least_pivot;
      count = sums.count;
    }
    const QuadricResult<float> result = result_of(fit, radius_m);
    if (determined(job.options, count, least_pivot, result.k1_per_m)) {
      write_result(job, middle, result);
    } else {
      write_nothing(job.out, middle.index);
    }
  }
};

void estimate_cloud_curvature_cuda(const Context& context, const CloudCurvatureJob& job);

}  // namespace sextant::detail
