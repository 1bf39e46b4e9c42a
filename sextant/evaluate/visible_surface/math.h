// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/evaluate/visible_surface.h"

namespace sextant::detail::visible_surface {

/// What a pixel's depths become distances with.
struct Rays {
  double fx_px, fy_px, cx_px, cy_px;

  SEXTANT_HD double length(int u, int v) const {
    const double x = (u - cx_px) / fx_px;
    const double y = (v - cy_px) / fy_px;
    return sqrt(1.0 + x * x + y * y);
  }
};

inline Rays rays_of(const Camera& camera) {
  return {camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px};
}

/// A distance, 0 for what is no depth.
SEXTANT_HD inline double distance_of(float depth_m, double length) {
  return depth_m > 0.0f ? depth_m * length : 0.0;
}

SEXTANT_HD inline bool is_visible(double drawn_m, double measured_m, double delta_m) {
  return drawn_m > 0.0 && (measured_m == 0.0 || drawn_m - measured_m <= delta_m);
}

/// Counts of one pixel at a time; sums over any order are the same.
struct PairJob {
  ImageView<const float> measured_m;
  const float* drawn_m;      ///< views one after the other, of the measured map's size
  std::int64_t view_pixels;  ///< of a view
  int width;                 ///< of a view
  Rays rays;
  double delta_m;

  SEXTANT_HD void add(const SurfacePair& pair, int u, int v, SurfaceCounts& counts) const {
    const std::int64_t pixel = std::int64_t{v} * width + u;
    const float estimate_depth_m = drawn_m[pair.estimate * view_pixels + pixel];
    const float truth_depth_m = drawn_m[pair.truth * view_pixels + pixel];
    if (!(estimate_depth_m > 0.0f) && !(truth_depth_m > 0.0f)) return;
    const double length = rays.length(u, v);
    const double measured = distance_of(measured_m(u, v), length);
    const double estimate = distance_of(estimate_depth_m, length);
    const double truth = distance_of(truth_depth_m, length);
    const bool truth_visible = is_visible(truth, measured, delta_m);
    const bool estimate_visible =
        is_visible(estimate, measured, delta_m) || (truth_visible && estimate > 0.0);
    if (!truth_visible && !estimate_visible) return;
    ++counts.union_px;
    if (!(truth_visible && estimate_visible)) return;
    ++counts.common_px;
    const double gap = fabs(estimate - truth) / pair.diameter_m;
    for (int i = 0; i < kVsdTolerances; ++i) {
      counts.within_px[i] += gap < vsd_tolerance(i) ? 1 : 0;
    }
  }
};

/// A view that may be larger than the measured map: its pixel (u, v) is the map's (u - margin_u, v
/// - margin_v).
struct VisibleJob {
  ImageView<const float> measured_m;
  const float* drawn_m;
  std::int64_t view_pixels;
  int width;
  int margin_u, margin_v;
  Rays rays;  ///< of the measured map
  double delta_m;

  SEXTANT_HD void add(int view, int u, int v, VisibleCounts& counts) const {
    const float depth_m = drawn_m[view * view_pixels + std::int64_t{v} * width + u];
    if (!(depth_m > 0.0f)) return;
    const int mu = u - margin_u, mv = v - margin_v;
    ++counts.all_px;
    grow(counts.box, mu, mv);
    if (!measured_m.contains(mu, mv)) return;
    const double length = rays.length(mu, mv);
    const double measured = distance_of(measured_m(mu, mv), length);
    counts.valid_px += measured > 0.0 ? 1 : 0;
    if (!is_visible(distance_of(depth_m, length), measured, delta_m)) return;
    ++counts.visible_px;
    grow(counts.visible_box, mu, mv);
  }

  /// No pixels yet: the first one makes the box.
  SEXTANT_HD static PixelBox nothing() { return {INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN}; }

  SEXTANT_HD static void grow(PixelBox& box, int u, int v) {
    box.left = u < box.left ? u : box.left;
    box.top = v < box.top ? v : box.top;
    box.right = u + 1 > box.right ? u + 1 : box.right;
    box.bottom = v + 1 > box.bottom ? v + 1 : box.bottom;
  }
};

/// The kernels' entrances; counts are overwritten.
void compare_on_cuda(const Context& context, const PairJob& job, View<const SurfacePair> pairs,
                     View<SurfaceCounts> counts);
void measure_on_cuda(const Context& context, const VisibleJob& job, View<const PixelBox> boxes,
                     View<VisibleCounts> counts);

}  // namespace sextant::detail::visible_surface
