// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sextant/descriptor/sift.h"
#include "tests/blob_image.h"

namespace sextant::testing {

/// An image full of blobs, with keypoints of many sizes.
inline Image<std::uint8_t> blobs_for_sift(int width, int height) {
  return blob_image(width, height, scattered_blobs(width, height, width * height / 25, 7));
}

/// What a device finds in images on the host, on the host again.
template <class T>
SiftFeatures sift_on(const Context& context, const Image<T>& image, const SiftOptions& options = {},
                     const Image<std::uint8_t>& mask = {}) {
  if (context.is_cpu()) return compute_sift(context, image, options, mask);
  const Image<T> there = copy(context, image);
  const Image<std::uint8_t> mask_there = copy(context, mask);
  return to_host(context, compute_sift(context, there, options, mask_there));
}

inline std::span<const SiftKeypoint> keypoints_of(const SiftFeatures& features) {
  return features.keypoints.host().first(static_cast<std::size_t>(features.count));
}

/// Everything of the result, byte by byte.
inline std::vector<std::uint8_t> bits_of(const SiftFeatures& features) {
  std::vector<std::uint8_t> bits;
  const auto append = [&](const auto* data, std::int64_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(data);
    bits.insert(bits.end(), bytes, bytes + count * static_cast<std::int64_t>(sizeof(*data)));
  };
  append(features.keypoints.data(), features.count);
  if (!features.bytes.empty()) append(features.bytes.data(), features.count * kSiftLength);
  if (!features.floats.empty()) append(features.floats.data(), features.count * kSiftLength);
  return bits;
}

/// The cosine of the angle between two descriptors.
template <class T, class U>
double descriptor_cosine(const T* a, const U* b) {
  double ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < kSiftLength; ++i) {
    ab += double(a[i]) * double(b[i]);
    aa += double(a[i]) * double(a[i]);
    bb += double(b[i]) * double(b[i]);
  }
  return ab / std::sqrt(aa * bb);
}

}  // namespace sextant::testing
