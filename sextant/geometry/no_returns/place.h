// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "sextant/core/vec.h"

namespace sextant::detail::no_returns {

/// The same for equal points, of which 0 and -0 are.
SEXTANT_HD inline std::uint32_t hash_of_place(const Vec3f& p) {
  const auto bits = [](float value) {
    const float unsigned_zero = value + 0.0f;
    std::uint32_t word;
    memcpy(&word, &unsigned_zero, sizeof word);
    return std::uint64_t{word};
  };
  std::uint64_t hash = bits(p.x) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ (hash >> 29) ^ bits(p.y)) * 0xBF58476D1CE4E5B9u;
  hash = (hash ^ (hash >> 32) ^ bits(p.z)) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace sextant::detail::no_returns
