// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/random.h"
#include "sextant/synth/sensor_noise/edges.h"

namespace sextant::detail::sensor_noise {

/// Which draws of a pixel's random numbers serve what.
enum Draw : std::uint64_t { kWhite = 0, kChances = 1, kCorrelated = 2, kWarp = 3, kFlying = 4 };

/// What the sensor gives for one pixel.
struct NoisyPixel {
  ImageView<const float> depth_m;
  ImageView<const Vec3f> normals;       ///< empty: no grazing
  ImageView<const std::uint8_t> edges;  ///< of EdgePixel
  ImageView<const float> correlated;    ///< deviation 1; empty: none
  ImageView<const float> warp;          ///< deviation 1; empty: none
  ImageView<float> noisy_m;
  Cameraf camera;
  SensorNoiseOptions options;
  float cos_start = 0;  ///< of the two grazing angles
  float cos_end = 0;
  std::uint64_t seed = 0;

  SEXTANT_HD Random random_of(int u, int v) const {
    return {seed, static_cast<std::uint64_t>(std::int64_t{v} * depth_m.width + u)};
  }
  SEXTANT_HD static bool happens(std::uint32_t word, float probability) {
    return static_cast<float>(word >> 8) * 0x1p-24f < probability;
  }

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
    const float share = cosine <= cos_end ? 1.0f : (cos_start - cosine) / (cos_start - cos_end);
    return options.grazing_loss * share;
  }

  /// The probability that the pixel belongs to the rim of a near thing: from a straight edge,
  /// rim_px pixels are lost on average.
  SEXTANT_HD float rim_loss(float z, int u, int v) const {
    const int reach = static_cast<int>(options.rim_px);
    float loss = 0;
    for (int dv = -reach; dv <= reach; ++dv) {
      for (int du = -reach; du <= reach; ++du) {
        if (!depth_m.contains(u + du, v + dv)) continue;
        if ((edges(u + du, v + dv) & (kFarAnywhere | kBesideHole)) == 0) continue;
        if (z > (1 + options.edge_step) * depth_m(u + du, v + dv)) continue;  // the far side
        const float here = options.rim_px - std::sqrt(static_cast<float>(du * du + dv * dv));
        loss = max_of(loss, here);
      }
    }
    return loss;
  }

  /// Of a shadow, the part beside the thing that throws it has no return.
  SEXTANT_HD bool shadowed(int u, int v) const {
    if ((edges(u, v) & kShadow) == 0) return false;
    int first = u, last = u;
    while (first > 0 && (edges(first - 1, v) & kShadow) != 0) --first;
    while (last + 1 < edges.width && (edges(last + 1, v) & kShadow) != 0) ++last;
    const int width = last - first + 1;
    return width >= options.shadow_min_px &&
           static_cast<float>(last - u) < options.shadow_share * static_cast<float>(width) - 0.5f;
  }

  /// Whether the pixel floats between both sides of an edge, and then its disparity. The edges that
  /// have such pixels are drawn; from their near pixel on, 3 to 5 pixels lead to the far side.
  SEXTANT_HD bool flies(float z, int u, int v, double& inverse) const {
    constexpr int kMostLength = 5;
    constexpr int kDu[] = {-1, 1, 0, 0}, kDv[] = {0, 0, -1, 1};
    for (int direction = 0; direction < 4; ++direction) {
      const int du = kDu[direction], dv = kDv[direction];
      for (int steps = 0; steps < kMostLength; ++steps) {
        const int u0 = u - steps * du, v0 = v - steps * dv;
        if (!depth_m.contains(u0, v0)) break;
        const int far = edges(u0, v0) & kFarAnywhere;
        if ((far & (1 << direction)) == 0 || (far & ((1 << direction) - 1)) != 0) continue;
        const Random::Words words = random_of(u0, v0).words(kFlying);
        const int length = 3 + static_cast<int>((std::uint64_t{words.word[1]} * 3) >> 32);
        if (steps >= length || !happens(words.word[0], options.flying_share)) continue;
        const double near = 1.0 / static_cast<double>(depth_m(u0, v0));
        const double beyond = 1.0 / static_cast<double>(depth_m(u0 + du, v0 + dv));
        inverse = near + (beyond - near) * ((steps + 0.5) / length);
        if (z * (1 + options.edge_step) >= depth_m(u0, v0)) return true;  // nothing stands before
      }
    }
    return false;
  }

  SEXTANT_HD float measured(double inverse, int u, int v) const {
    const double ideal = inverse;
    if (!correlated.empty()) {
      inverse += (double{options.sigma_per_m} + double{options.sigma_relative} * ideal) *
                 static_cast<double>(correlated(u, v));
    }
    if (!warp.empty()) inverse += double{options.warp_per_m} * static_cast<double>(warp(u, v));
    if (options.white_per_m > 0) {
      inverse += double{options.white_per_m} * random_of(u, v).normal(kWhite);
    }
    const double step = options.step_per_m;
    if (step > 0) inverse = step * std::floor(inverse / step + 0.5);
    double z = 1.0 / inverse;
    const double depth_step = options.depth_step_m;
    if (depth_step > 0) z = depth_step * std::floor(z / depth_step + 0.5);
    return inverse > 0 && z > 0 && z <= options.max_depth_m ? static_cast<float>(z) : NAN;
  }

  SEXTANT_HD void operator()(int u, int v) const {
    const float z = depth_m(u, v);
    if (!measurable(z)) {
      noisy_m(u, v) = NAN;
      return;
    }
    double inverse = 1.0 / static_cast<double>(z);
    if (options.flying_share > 0 && flies(z, u, v, inverse)) {
      noisy_m(u, v) = measured(inverse, u, v);
      return;
    }
    inverse = 1.0 / static_cast<double>(z);
    const Random::Words chance = random_of(u, v).words(kChances);
    const bool hole = (!normals.empty() && happens(chance.word[0], grazing_loss(u, v))) ||
                      ((edges(u, v) & kApart) != 0 && happens(chance.word[1], options.edge_loss)) ||
                      (options.rim_px > 0 && happens(chance.word[2], rim_loss(z, u, v))) ||
                      shadowed(u, v);
    noisy_m(u, v) = hole ? NAN : measured(inverse, u, v);
  }
};

}  // namespace sextant::detail::sensor_noise
