// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/mat3.h"

namespace sextant {

/// A symmetric 3×3 matrix: a covariance, a tensor.
template <class T>
struct Sym3 {
  T xx{}, xy{}, xz{}, yy{}, yz{}, zz{};
};

using Sym3f = Sym3<float>;
using Sym3d = Sym3<double>;

template <class T>
SEXTANT_HD constexpr Sym3<T> operator+(const Sym3<T>& a, const Sym3<T>& b) {
  return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
template <class T>
SEXTANT_HD constexpr Sym3<T> operator-(const Sym3<T>& a, const Sym3<T>& b) {
  return {a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
}
template <class T>
SEXTANT_HD constexpr Sym3<T> operator*(const Sym3<T>& a, T s) {
  return {a.xx * s, a.xy * s, a.xz * s, a.yy * s, a.yz * s, a.zz * s};
}
/// Computes v vᵀ.
template <class T>
SEXTANT_HD constexpr Sym3<T> outer(const Vec3<T>& v) {
  return {v.x * v.x, v.x * v.y, v.x * v.z, v.y * v.y, v.y * v.z, v.z * v.z};
}
template <class T>
SEXTANT_HD constexpr Vec3<T> operator*(const Sym3<T>& m, const Vec3<T>& v) {
  return {m.xx * v.x + m.xy * v.y + m.xz * v.z, m.xy * v.x + m.yy * v.y + m.yz * v.z,
          m.xz * v.x + m.yz * v.y + m.zz * v.z};
}
template <class T>
SEXTANT_HD constexpr T trace(const Sym3<T>& m) {
  return m.xx + m.yy + m.zz;
}
template <class T>
SEXTANT_HD constexpr Mat3<T> to_mat3(const Sym3<T>& m) {
  return {{{m.xx, m.xy, m.xz}, {m.xy, m.yy, m.yz}, {m.xz, m.yz, m.zz}}};
}
/// Returns the largest magnitude among the entries.
template <class T>
SEXTANT_HD T max_abs(const Sym3<T>& m) {
  const T diagonal = max_of(max_of(std::abs(m.xx), std::abs(m.yy)), std::abs(m.zz));
  const T rest = max_of(max_of(std::abs(m.xy), std::abs(m.xz)), std::abs(m.yz));
  return max_of(diagonal, rest);
}
template <class T>
SEXTANT_HD bool is_finite(const Sym3<T>& m) {
  return std::isfinite(m.xx) && std::isfinite(m.xy) && std::isfinite(m.xz) && std::isfinite(m.yy) &&
         std::isfinite(m.yz) && std::isfinite(m.zz);
}

}  // namespace sextant
