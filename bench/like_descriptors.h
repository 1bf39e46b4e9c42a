// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "sextant/core/random.h"

namespace sextant::measure {

/// Places around which the descriptors of one kind of surface or corner gather.
inline constexpr std::uint32_t kDescriptorKinds = 4000;

/// Bytes like SIFT's: most are small.
inline std::vector<std::uint8_t> bytes_like_sift(std::int64_t rows, std::uint64_t seed) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(rows * 128));
  for (std::int64_t r = 0; r < rows; ++r) {
    const Random own{seed, static_cast<std::uint64_t>(r)};
    const Random kind{99, own.below(kDescriptorKinds, 1000)};
    for (std::uint64_t i = 0; i < 128; ++i) {
      const float u = kind.uniform(i);
      const float value = 160.0f * u * u * u + 40.0f * own.uniform(i);
      values[static_cast<std::size_t>(r) * 128 + i] = static_cast<std::uint8_t>(value);
    }
  }
  return values;
}

/// Floats like SHOT's: mostly zero, of length 1.
inline std::vector<float> floats_like_shot(std::int64_t rows, std::uint64_t seed) {
  constexpr int kLength = 352;
  std::vector<float> values(static_cast<std::size_t>(rows * kLength));
  for (std::int64_t r = 0; r < rows; ++r) {
    const Random own{seed, static_cast<std::uint64_t>(r)};
    const Random kind{98, own.below(kDescriptorKinds, 1000)};
    float* row = values.data() + r * kLength;
    float sum = 0.0f;
    for (int i = 0; i < kLength; ++i) {
      const auto draw = static_cast<std::uint64_t>(i);
      const float u = kind.uniform(draw);
      row[i] = u > 0.7f ? u - 0.7f + 0.1f * own.uniform(draw) : 0.0f;
      sum += row[i] * row[i];
    }
    for (int i = 0; i < kLength; ++i) row[i] /= std::sqrt(sum);
  }
  return values;
}

}  // namespace sextant::measure
