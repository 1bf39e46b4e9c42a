// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "sextant/core/cholesky.h"
#include "sextant/core/image.h"

namespace sextant::testing {

/// What is left of the disparity 1/z of a square patch when a quadratic surface is taken away: the
/// sensor's noise, without the scene and without what calibration bends.
struct PatchNoise {
  static constexpr int kSide_px = 60;
  static constexpr int kLags = 9;  ///< 0 to 8 px

  double depth_m = 0;                      ///< 1 / mean disparity
  double sigma_per_m = 0;                  ///< deviation of the residual
  double worst_per_m = 0;                  ///< its largest magnitude
  std::array<double, kLags> along_x = {};  ///< autocorrelation, 1 at lag 0
  std::array<double, kLags> along_y = {};
  int left = 0, top = 0;      ///< of the patch in its picture
  std::vector<float> fitted;  ///< depth of the quadratic surface, row by row

  Image<float> fitted_depth_m() const {
    Image<float> image(Context::cpu(), kSide_px, kSide_px);
    std::copy(fitted.begin(), fitted.end(), image.pixels().host().begin());
    return image;
  }
};

/// Nothing where more than `most_holes` of the patch have no depth.
inline std::optional<PatchNoise> patch_noise(const Image<float>& depth_m, int left, int top,
                                             double most_holes = 0.01) {
  constexpr int kSide = PatchNoise::kSide_px;
  const auto terms = [](int u, int v, double(&row)[6]) {
    const double x = 2.0 * u / (kSide - 1) - 1, y = 2.0 * v / (kSide - 1) - 1;
    const double values[6] = {1, x, y, x * x, x * y, y * y};
    for (int i = 0; i < 6; ++i) row[i] = values[i];
  };
  std::vector<double> disparity(kSide * kSide);
  SymN<double, 6> matrix;
  double solution[6] = {}, row[6], sum = 0;
  int count = 0;
  for (int v = 0; v < kSide; ++v) {
    for (int u = 0; u < kSide; ++u) {
      const double d = 1.0 / static_cast<double>(depth_m(left + u, top + v));
      disparity[static_cast<std::size_t>(v * kSide + u)] = d;
      if (!std::isfinite(d)) continue;
      terms(u, v, row);
      matrix.add_outer(row, 1.0);
      for (int i = 0; i < 6; ++i) solution[i] += d * row[i];
      sum += d;
      ++count;
    }
  }
  if (count < (1 - most_holes) * kSide * kSide) return std::nullopt;
  cholesky(matrix).solve(solution);
  PatchNoise noise;
  noise.left = left;
  noise.top = top;
  noise.depth_m = count / sum;
  for (int v = 0; v < kSide; ++v) {
    for (int u = 0; u < kSide; ++u) {
      terms(u, v, row);
      double fitted = 0;
      for (int i = 0; i < 6; ++i) fitted += solution[i] * row[i];
      double& residual = disparity[static_cast<std::size_t>(v * kSide + u)];
      residual -= fitted;
      noise.fitted.push_back(static_cast<float>(1 / fitted));
      if (std::isfinite(residual)) {
        noise.worst_per_m = std::max(noise.worst_per_m, std::abs(residual));
      }
    }
  }
  const auto covariance = [&](int du, int dv) {
    double products = 0, pairs = 0;
    for (int v = 0; v + dv < kSide; ++v) {
      for (int u = 0; u + du < kSide; ++u) {
        const double product = disparity[static_cast<std::size_t>(v * kSide + u)] *
                               disparity[static_cast<std::size_t>((v + dv) * kSide + u + du)];
        if (!std::isfinite(product)) continue;
        products += product;
        pairs += 1;
      }
    }
    return products / pairs;
  };
  const double variance = covariance(0, 0);
  noise.sigma_per_m = std::sqrt(variance);
  for (int lag = 0; lag < PatchNoise::kLags; ++lag) {
    noise.along_x[static_cast<std::size_t>(lag)] = covariance(lag, 0) / variance;
    noise.along_y[static_cast<std::size_t>(lag)] = covariance(0, lag) / variance;
  }
  return noise;
}

/// Patches of a captured frame, half a side apart, that a quadratic surface fits up to noise of at
/// most this deviation and without anything that lies on it.
inline std::vector<PatchNoise> flat_patches(const Image<float>& depth_m, double most_sigma_per_m) {
  constexpr int kSide = PatchNoise::kSide_px;
  std::vector<PatchNoise> patches;
  for (int top = 0; top + kSide <= depth_m.height(); top += kSide / 2) {
    for (int left = 0; left + kSide <= depth_m.width(); left += kSide / 2) {
      const std::optional<PatchNoise> patch = patch_noise(depth_m, left, top);
      if (!patch || patch->sigma_per_m > most_sigma_per_m) continue;
      if (patch->worst_per_m <= 6 * patch->sigma_per_m) patches.push_back(*patch);
    }
  }
  return patches;
}

/// A captured frame without the value that some files have where nothing came back.
inline Image<float> without_far(Image<float> depth_m) {
  for (float& z : depth_m.pixels().host()) z = z < 20 ? z : NAN;
  return depth_m;
}

/// The mean over patches.
inline PatchNoise mean_noise(const std::vector<PatchNoise>& patches) {
  PatchNoise mean;
  const double share = 1.0 / static_cast<double>(patches.size());
  for (const PatchNoise& patch : patches) {
    mean.depth_m += share * patch.depth_m;
    mean.sigma_per_m += share * patch.sigma_per_m;
    for (std::size_t lag = 0; lag < PatchNoise::kLags; ++lag) {
      mean.along_x[lag] += share * patch.along_x[lag];
      mean.along_y[lag] += share * patch.along_y[lag];
    }
  }
  return mean;
}

}  // namespace sextant::testing
