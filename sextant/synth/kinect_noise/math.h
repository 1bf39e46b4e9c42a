// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/random.h"
#include "sextant/synth/kinect_noise.h"

namespace sextant::detail::kinect_noise {

inline constexpr int kMaxShadowPx = 96;

/// The noise of one pixel.
struct KinectNoisePixel {
  ImageView<const float> depth_m;
  ImageView<const Vec3f> normals;  ///< empty: no grazing
  ImageView<float> noisy_m;
  Cameraf camera;
  KinectNoiseOptions options;
  float cos_start = 0;  ///< of the two grazing angles
  float cos_end = 0;
  std::uint64_t seed = 0;

  SEXTANT_HD bool measurable(float z) const {
    return z > 0 && z >= options.min_depth_m && z <= options.max_depth_m;
  }

  /// The probability that a surface facing away as much as this one gives no return.
  SEXTANT_HD float grazing_loss(int u, int v) const {
    const Vec3f n = normals(u, v);
    if (!is_finite(n)) return 0;
    const Vec3f ray = unproject(camera, Vec2f{static_cast<float>(u), static_cast<float>(v)});
    const float cosine = std::abs(dot(n, ray)) / (norm(n) * norm(ray));
    if (cosine >= cos_start) return 0;
    return cosine <= cos_end ? 1.0f : (cos_start - cosine) / (cos_start - cos_end);
  }

  SEXTANT_HD bool apart(float z, int u, int v) const {
    if (!depth_m.contains(u, v)) return false;
    const float other = depth_m(u, v);
    return !(std::abs(other - z) <= options.edge_step * z);  // holes are apart, too
  }
  SEXTANT_HD bool at_edge(float z, int u, int v) const {
    return apart(z, u - 1, v) || apart(z, u + 1, v) || apart(z, u, v - 1) || apart(z, u, v + 1);
  }

  /// In the projector's picture a point lies `disparity` px to the left of where the camera sees
  /// it: it is hidden by a nearer one to its right that falls on the same place.
  SEXTANT_HD bool in_shadow(float z, int u, int v) const {
    const float scale = options.baseline_m * camera.fx_px;
    const float own = scale / z;
    const float near_z = scale / (own + 1.0f);  // nearer by a pixel of disparity
    const int last = min_of(depth_m.width - 1, u + kMaxShadowPx);
    for (int other = u + 1; other <= last; ++other) {
      const float other_z = depth_m(other, v);
      if (!(other_z > 0 && other_z <= near_z)) continue;
      const float apart_px = scale / other_z - own - static_cast<float>(other - u);
      if (std::abs(apart_px) <= 0.75f) return true;
    }
    return false;
  }

  SEXTANT_HD float measured(float z, const Random& random) const {
    const double step = options.step_per_m;
    const double sigma = options.sigma_per_m;
    const double noise = sigma > 0 ? sigma * random.normal(0) : 0.0;
    double inverse = 1.0 / static_cast<double>(z) + noise;
    if (step > 0) inverse = step * std::floor(inverse / step + 0.5);
    const double result = 1.0 / inverse;
    return inverse > 0 && result <= options.max_depth_m ? static_cast<float>(result) : NAN;
  }

  SEXTANT_HD void operator()(std::int64_t index) const {
    const int u = static_cast<int>(index % noisy_m.width);
    const int v = static_cast<int>(index / noisy_m.width);
    const float z = depth_m(u, v);
    const Random random{seed, static_cast<std::uint64_t>(index)};
    const Random::Words chance = random.words(1);
    const auto lost = [&](std::uint32_t word, float probability) {
      return static_cast<float>(word >> 8) * 0x1p-24f < probability;
    };
    const bool hole =
        !measurable(z) || (!normals.empty() && lost(chance.word[0], grazing_loss(u, v))) ||
        (options.edge_loss > 0 && lost(chance.word[1], options.edge_loss) && at_edge(z, u, v)) ||
        (options.shadow && in_shadow(z, u, v));
    noisy_m(u, v) = hole ? NAN : measured(z, random);
  }
};

}  // namespace sextant::detail::kinect_noise
