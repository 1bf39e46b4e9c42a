// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "sextant/core/host_device.h"

namespace sextant {

/// Small column vectors: plain memory, the same layout in every compiler.
template <class T>
struct Vec2 {
  T x{}, y{};
  friend SEXTANT_HD constexpr bool operator==(const Vec2& a, const Vec2& b) {
    return a.x == b.x && a.y == b.y;
  }
};

template <class T>
struct Vec3 {
  T x{}, y{}, z{};
  friend SEXTANT_HD constexpr bool operator==(const Vec3& a, const Vec3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

template <class T>
struct Vec4 {
  T x{}, y{}, z{}, w{};
  friend SEXTANT_HD constexpr bool operator==(const Vec4& a, const Vec4& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
  }
};

using Vec2f = Vec2<float>;
using Vec2d = Vec2<double>;
using Vec3f = Vec3<float>;
using Vec3d = Vec3<double>;
using Vec4f = Vec4<float>;
using Vec4d = Vec4<double>;
using Vec3i = Vec3<std::int32_t>;
/// Colours: red, green, blue, one byte each.
using Rgb8 = Vec3<std::uint8_t>;

template <class T>
SEXTANT_HD constexpr Vec2<T> operator+(const Vec2<T>& a, const Vec2<T>& b) {
  return {a.x + b.x, a.y + b.y};
}
template <class T>
SEXTANT_HD constexpr Vec2<T> operator-(const Vec2<T>& a, const Vec2<T>& b) {
  return {a.x - b.x, a.y - b.y};
}
template <class T>
SEXTANT_HD constexpr Vec2<T> operator*(const Vec2<T>& a, T s) {
  return {a.x * s, a.y * s};
}
template <class T>
SEXTANT_HD constexpr T dot(const Vec2<T>& a, const Vec2<T>& b) {
  return a.x * b.x + a.y * b.y;
}

template <class T>
SEXTANT_HD constexpr Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
SEXTANT_HD constexpr Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
SEXTANT_HD constexpr Vec3<T> operator-(const Vec3<T>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class T>
SEXTANT_HD constexpr Vec3<T> operator*(const Vec3<T>& a, T s) {
  return {a.x * s, a.y * s, a.z * s};
}
template <class T>
SEXTANT_HD constexpr Vec3<T> operator*(T s, const Vec3<T>& a) {
  return a * s;
}
template <class T>
SEXTANT_HD constexpr Vec3<T> operator/(const Vec3<T>& a, T s) {
  return {a.x / s, a.y / s, a.z / s};
}
template <class T>
SEXTANT_HD constexpr Vec3<T>& operator+=(Vec3<T>& a, const Vec3<T>& b) {
  return a = a + b;
}
template <class T>
SEXTANT_HD constexpr T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
SEXTANT_HD constexpr Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
SEXTANT_HD constexpr T norm_sq(const Vec3<T>& a) {
  return dot(a, a);
}
template <class T>
SEXTANT_HD T norm(const Vec3<T>& a) {
  return std::sqrt(norm_sq(a));
}
/// Returns the unit vector, or zero for the zero vector.
template <class T>
SEXTANT_HD Vec3<T> normalized(const Vec3<T>& a) {
  const T length = norm(a);
  return length > T(0) ? a / length : Vec3<T>{};
}
template <class T>
SEXTANT_HD bool is_finite(const Vec3<T>& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}
/// Converts component by component: `cast<double>(point)`.
template <class To, class From>
SEXTANT_HD constexpr Vec3<To> cast(const Vec3<From>& a) {
  return {static_cast<To>(a.x), static_cast<To>(a.y), static_cast<To>(a.z)};
}

template <class T>
SEXTANT_HD constexpr T dot(const Vec4<T>& a, const Vec4<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

/// Return the smaller and the larger of two numbers; the first when they compare equal or one is
/// NaN.
template <class T>
SEXTANT_HD constexpr T min_of(T a, T b) {
  return b < a ? b : a;
}
template <class T>
SEXTANT_HD constexpr T max_of(T a, T b) {
  return a < b ? b : a;
}
template <class T>
SEXTANT_HD constexpr T clamp(T value, T low, T high) {
  return max_of(low, min_of(value, high));
}

}  // namespace sextant
