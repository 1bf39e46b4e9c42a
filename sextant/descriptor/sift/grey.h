// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/descriptor/sift.h"

// How pixels of each kind become numbers from 0 to 255.

namespace sextant::detail::sift {

inline constexpr float kStepsOf16Bits = 257.0f;  ///< 65535 / 255
inline constexpr float kLargestFloat = 1e6f;     ///< its squares and sums stay far from overflow

template <class T>
SEXTANT_HD float luma(const Vec3<T>& color) {
  return 0.299f * static_cast<float>(color.x) + 0.587f * static_cast<float>(color.y) +
         0.114f * static_cast<float>(color.z);
}

struct ToGrey {
  SEXTANT_HD float operator()(std::uint8_t value) const { return static_cast<float>(value); }
  SEXTANT_HD float operator()(std::uint16_t value) const {
    return static_cast<float>(value) * (1.0f / kStepsOf16Bits);
  }
  SEXTANT_HD float operator()(float value) const { return value; }
  SEXTANT_HD float operator()(const Rgb8& color) const { return luma(color); }
  SEXTANT_HD float operator()(const Vec3<std::uint16_t>& color) const {
    return luma(color) * (1.0f / kStepsOf16Bits);
  }
};

/// Whether SIFT takes a float; NaN is not.
SEXTANT_HD inline bool is_usable(float number) { return std::abs(number) <= kLargestFloat; }
/// Throws Error for one that it does not take.
[[noreturn]] void refuse_number(std::int64_t u, std::int64_t v, float number);

}  // namespace sextant::detail::sift
