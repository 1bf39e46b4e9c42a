// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/core/random.h"
#include "tests/make_image.h"

namespace sextant::testing {

/// A Gaussian spot on a grey ground.
struct Blob {
  double u_px, v_px, sigma_px, height;
};

/// The sum of blobs at any point of the plane.
inline double brightness(const std::vector<Blob>& blobs, double u, double v) {
  double sum = 128;
  for (const Blob& blob : blobs) {
    const double distance_sq = std::pow(u - blob.u_px, 2) + std::pow(v - blob.v_px, 2);
    const double width_sq = blob.sigma_px * blob.sigma_px;
    if (distance_sq < 36 * width_sq) sum += blob.height * std::exp(-0.5 * distance_sq / width_sq);
  }
  return sum;
}

/// Blobs of many sizes, bright and dark, all over an image.
inline std::vector<Blob> scattered_blobs(int width, int height, int count, std::uint64_t seed) {
  std::vector<Blob> blobs;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    blobs.push_back({double{random.uniform(0)} * width, double{random.uniform(1)} * height,
                     0.8 * std::exp2(3.5 * random.uniform(2)),
                     (random.uniform(3) < 0.5f ? -1 : 1) * (20 + 40 * random.uniform(4))});
  }
  return blobs;
}

/// An image of blobs as a camera gives it: whole numbers from 0 to 255.
inline Image<std::uint8_t> blob_image(int width, int height, const std::vector<Blob>& blobs) {
  return make_image<std::uint8_t>(width, height, [&](int u, int v) {
    return static_cast<std::uint8_t>(std::lround(std::clamp(brightness(blobs, u, v), 0.0, 255.0)));
  });
}

}  // namespace sextant::testing
