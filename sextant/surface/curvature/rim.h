// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/curvature/patch.h"

// Cells beside depth edges. A sensor that triangulates compares windows of its pictures, and so its
// pixels err together over about a window: the grain of its noise. A window within half a grain of
// an edge sees both sides of it, and the depth found there belongs to neither: cans look flatter
// towards their outline. Such cells are the rim; they are no samples of any patch. Where pixels err
// by themselves there is no rim. Host and device.

namespace sextant::detail::curvature {

inline constexpr int kMostRim_px = 8;
/// An edge: cells next to each other differ by more than a surface does on which a step to the side
/// is so many times as long in depth, and by more than so many deviations of a pixel.
inline constexpr float kSteepest = 10.0f;
inline constexpr float kEdgeDeviations = 6.0f;

/// Whether a fit of these options leaves out rims: as it asks for the noise, it knows the grain.
inline bool leaves_out_rims(const CurvatureOptions& options) {
  return options.settles() && options.cut_at_edges;
}

/// Half the grain of the noise at a depth.
SEXTANT_HD inline int rim_px(const noise::FrameNoise& noise, int depth_bin) {
  const float sigma = noise.sigma_per_m[depth_bin];
  const float half_grain = 0.5f * noise.density_per_m[depth_bin];
  if (!(half_grain >= sigma)) return 0;
  return half_grain < kMostRim_px * sigma ? static_cast<int>(half_grain / sigma) : kMostRim_px;
}

/// The width of the rim that an edge beside a cell makes; 0 where there is none. `at(du, dv)` is
/// the depth of the cell that many pixels away: 0 where the pixel has no point, negative beyond the
/// image.
template <class At>
SEXTANT_HD int rim_at(const noise::FrameNoise& noise, float z_m, float pitch_rad, const At& at) {
  if (!(z_m > 0.0f) || !(pitch_rad > 0.0f)) return 0;
  const int bin = noise::depth_bin(z_m);
  const int rim = rim_px(noise, bin);
  const float slope = kSteepest * pitch_rad * z_m;
  const float step = kEdgeDeviations * noise.sigma_per_m[bin] * z_m * z_m;
  for (int side = 0; side < 4; ++side) {
    const int sign = side % 2 == 0 ? 1 : -1;
    for (int n = 1; n <= rim; ++n) {
      const float other = side < 2 ? at(sign * n, 0) : at(0, sign * n);
      if (other < 0.0f) break;
      const float apart = other < z_m ? z_m - other : other - z_m;
      const bool is_edge = other > 0.0f ? apart > slope * static_cast<float>(n) + step : n == rim;
      if (is_edge) return rim;
      if (other > 0.0f) break;
    }
  }
  return 0;
}

/// Whether a cell lies in the rim of an edge `du`, `dv` pixels away.
SEXTANT_HD inline bool is_in_rim(int rim, int du, int dv) { return du * du + dv * dv < rim * rim; }

/// A cell in a rim carries its depth negated. Then it lies beyond the gate of every patch, and is
/// the middle of its own all the same.
SEXTANT_HD inline float depth_in_rim(float z_m) { return -z_m; }

}  // namespace sextant::detail::curvature
