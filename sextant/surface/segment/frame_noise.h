// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/patches.h"
#include "sextant/surface/segment/union_find.h"

// The noise of the sensor, from the frame itself.

namespace sextant::detail::segment {

struct ClearHistogram {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t i) const { s.histogram[i] = 0; }
};

/// What planes through 3 × 3 cells leave: where the scene is flat, the sensor's noise, at a scale
/// beyond the few pixels over which neighbours err together. Every other window is enough.
struct CountResidual {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t cell) const {
    const int row = static_cast<int>(cell / s.columns);
    const int column = static_cast<int>(cell - std::int64_t{row} * s.columns);
    if (row % 2 == 0 || column % 2 == 0 || row + 1 >= s.rows || column + 1 >= s.columns) return;
    if (s.root[cell] < 0) return;
    const PatchSums& own = s.sums[cell];
    ModelSums<kPlaneTerms> sums(own);
    for (int k = 0; k < 9; ++k) {
      const std::int64_t other = cell + (k / 3 - 1) * s.columns + (k % 3 - 1);
      if (s.root[other] < 0) return;
      if (other == cell) continue;
      const PatchSums& beside = s.sums[other];
      ModelSums<kPlaneTerms> moved(beside);
      moved.move(beside.x - own.x, beside.y - own.y, beside.d - own.d);
      sums.add(moved);
    }
    const PatchModel plane = fitted<kPlaneTerms>(sums);
    if (!plane.ok) return;
    const double rms = std::sqrt(mean_square<kPlaneTerms>(sums, plane));
    const float z_m = static_cast<float>(1.0 / (own.d + sums.inverse[0] / sums.count()));
    noise::count_window(s.histogram, z_m, static_cast<float>(rms));
  }
};

// The noise at each depth is what a fifth of the windows there stay below, but no more than the
// depths beside it allow. Depths with few windows take the nearest depth that has enough; a frame
// without any is taken to be exact. Three steps find it, each for all depths at once.

/// What the windows of one depth tell; -1 where they are too few.
struct FindLevel {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t z) const {
    constexpr float kShare = 0.2f;
    constexpr int kLeastWindows = 12;
    s.found_level[z] = noise::quantile_level(s.histogram + z * kNoiseBins, kShare, kLeastWindows);
  }
};

/// A depth at which only slats or leaves are seen seems noisy. The noise of sensors grows or falls
/// by no more than a factor of two with half an octave of depth, seen from the two nearest levels
/// on either side; the side that allows more counts. A level of next to nothing is that of a wall
/// whose depth is one number, which tells nothing of other depths.
struct SteadyLevel {
  PatchState s;
  SEXTANT_HD void operator()(std::int64_t bin) const {
    const int z = static_cast<int>(bin);
    s.steady_level[z] = min_of(s.found_level[z], most_beside(s.found_level, z));
  }

 private:
  SEXTANT_HD static float most_beside(const float* levels, int z) {
    constexpr float kNextToNothing = 1.0f / 32;
    float most = -1.0f;
    for (int way = -1; way <= 1; way += 2) {
      float of_side = INFINITY;
      int met = 0;
      for (int away = 1; met < 2; ++away) {
        const int other = z + way * away;
        if (other < 0 || other >= kDepthBins) break;
        if (levels[other] < 0 || levels[other] < kNextToNothing * levels[z]) continue;
        of_side = min_of(of_side, std::ldexp(levels[other], away));
        ++met;
      }
      if (met > 0) most = max_of(most, of_side);
    }
    return most < 0 ? INFINITY : most;
  }
};

/// The noise of one depth, and, with the first, the least of all.
struct NameLevel {
  PatchState s;
  float given_inverse_m;  ///< instead of what was found, when positive
  SEXTANT_HD void operator()(std::int64_t bin) const {
    s.noise->inverse_m[bin] = level_at(static_cast<int>(bin));
    if (bin != 0) return;
    // Every level is that of some depth which has enough windows.
    float least = INFINITY;
    for (int z = 0; z < kDepthBins; ++z) {
      if (s.steady_level[z] >= 0) least = min_of(least, s.steady_level[z]);
    }
    s.noise->least_inverse_m = given_inverse_m > 0 || !(least < INFINITY) ? level_at(0) : least;
  }

 private:
  SEXTANT_HD float level_at(int z) const {
    return given_inverse_m > 0 ? given_inverse_m : noise::nearest_level(s.steady_level, z, 0.0f);
  }
};

/// The deviation of inverse depth that counts as none: noise, and a part of a pixel.
SEXTANT_HD inline double inverse_tolerance(const NoiseLevels& noise, const PixelSize& pixel,
                                           double d) {
  constexpr double kPixelShare = 0.15;
  const double sensor = double{noise.at(static_cast<float>(1.0 / d))};
  const double part = kPixelShare * 0.5 * (double{pixel.x} + double{pixel.y}) * d;
  return std::sqrt(sensor * sensor + part * part);
}

}  // namespace sextant::detail::segment
