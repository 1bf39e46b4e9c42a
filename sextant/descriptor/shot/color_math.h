// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/vec.h"

// CIELAB as SHOT takes it: through a table of 256 steps for sRGB and one of 4000 for the cube root,
// as in PCL. The tables' elements are functions here; the host keeps them, CUDA computes them.

namespace sextant::detail::shot {

inline constexpr int kSrgbSteps = 256;
inline constexpr int kRootSteps = 4000;

SEXTANT_HD inline float linear_of_srgb(int level) {
  const float f = static_cast<float>(level) / 255.0f;
  if (!(static_cast<double>(f) > 0.04045)) return f / 12.92f;
  const double base = static_cast<double>((f + 0.055f) / 1.055f);
  return static_cast<float>(std::pow(base, static_cast<double>(2.4f)));
}

SEXTANT_HD inline float cube_root_of(int step) {
  const float f = static_cast<float>(step) / static_cast<float>(kRootSteps);
  if (!(f > 0.008856f)) return 7.87f * f + 16.0f / 116.0f;
  return static_cast<float>(std::pow(static_cast<double>(f), static_cast<double>(1.0f / 3.0f)));
}

/// The tables' elements, computed.
struct ComputedTables {
  SEXTANT_HD float linear(int level) const { return linear_of_srgb(level); }
  SEXTANT_HD float root(int step) const { return cube_root_of(step); }
};

/// The sum is rounded after every operation: the step of the cube root must be the same on every
/// device.
SEXTANT_HD inline float weighted_sum(const Vec3f& a, float x, float y, float z) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fadd_rn(__fmul_rn(a.x, x), __fmul_rn(a.y, y)), __fmul_rn(a.z, z));
#else
  return a.x * x + a.y * y + a.z * z;
#endif
}

/// L, a and b, scaled to 0 … 1 and -1 … 1.
template <class Tables>
SEXTANT_HD Vec3f scaled_lab(const Rgb8& color, const Tables& tables) {
  const Vec3f linear{tables.linear(color.x), tables.linear(color.y), tables.linear(color.z)};
  const float x = weighted_sum(linear, 0.412453f, 0.357580f, 0.180423f) / 0.95047f;
  const float y = weighted_sum(linear, 0.212671f, 0.715160f, 0.072169f);
  const float z = weighted_sum(linear, 0.019334f, 0.119193f, 0.950227f) / 1.08883f;
  const auto root = [&](float v) {
    return tables.root(
        min_of(static_cast<int>(v * static_cast<float>(kRootSteps)), kRootSteps - 1));
  };
  const float fx = root(x);
  const float fy = root(y);
  const float fz = root(z);
  const float light = min_of(116.0f * fy - 16.0f, 100.0f);
  const float a = clamp(500.0f * (fx - fy), -120.0f, 120.0f);
  const float b = clamp(200.0f * (fy - fz), -120.0f, 120.0f);
  return {light / 100.0f, a / 120.0f, b / 120.0f};
}

/// One colour of an array.
template <class Tables>
struct LabOfColor {
  const Rgb8* colors;
  Tables tables;
  Vec3f* lab;
  SEXTANT_HD void operator()(std::int64_t i) const { lab[i] = scaled_lab(colors[i], tables); }
};

}  // namespace sextant::detail::shot
