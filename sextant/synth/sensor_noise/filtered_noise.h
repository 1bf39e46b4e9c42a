// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/random.h"
#include "sextant/core/view.h"
#include "sextant/synth/sensor_noise.h"

// White noise, and the separable filters that make neighbours err together. Sums follow the order
// of the taps on every device.

namespace sextant::detail::sensor_noise {

inline constexpr int kMostTaps = 128;  // a Gaussian of 20 px, cut at three deviations, has 121

/// One axis of a kernel; the squares of the weights add up to 1, so that the deviation of white
/// noise stays.
struct Taps {
  int count = 1;
  float weight[kMostTaps] = {1.0f};
};

/// Normal numbers of deviation 1, a function of (seed, stream, u, v).
struct WhiteNoise {
  ImageView<float> out;
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;

  SEXTANT_HD void operator()(int u, int v) const {
    const std::uint64_t item = (static_cast<std::uint64_t>(v) << 32) | static_cast<unsigned>(u);
    out(u, v) = static_cast<float>(Random{seed, item}.normal(stream));
  }
};

/// Filters along one axis: the input is longer than the output by taps.count - 1 along that axis.
/// One call makes kRun pixels of a row, which the compiler holds in registers and vectorises.
struct FilterRun {
  static constexpr int kRun = 8;

  ImageView<const float> in;
  ImageView<float> out;
  std::int64_t step = 1;  ///< from one tap to the next in `in`: 1 or its stride
  Taps taps;

  static int runs(int width) { return (width + kRun - 1) / kRun; }

  SEXTANT_HD void operator()(int run, int v) const {
    const int first = run * kRun;
    const float* from = in.row(v) + first;
    float* to = out.row(v) + first;
    if (first + kRun <= out.width) {
      float sum[kRun] = {};
      for (int tap = 0; tap < taps.count; ++tap) {
        for (int i = 0; i < kRun; ++i) sum[i] += taps.weight[tap] * from[tap * step + i];
      }
      for (int i = 0; i < kRun; ++i) to[i] = sum[i];
      return;
    }
    for (int i = 0; first + i < out.width; ++i) {
      float sum = 0;
      for (int tap = 0; tap < taps.count; ++tap) sum += taps.weight[tap] * from[tap * step + i];
      to[i] = sum;
    }
  }
};

}  // namespace sextant::detail::sensor_noise
