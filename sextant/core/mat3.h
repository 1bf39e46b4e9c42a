// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/vec.h"

namespace sextant {

/// A 3×3 matrix stored by its rows.
template <class T>
struct Mat3 {
  Vec3<T> row[3];

  static SEXTANT_HD constexpr Mat3 identity() { return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }
  static SEXTANT_HD constexpr Mat3 from_columns(const Vec3<T>& a, const Vec3<T>& b,
                                                const Vec3<T>& c) {
    return {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
  }
  SEXTANT_HD constexpr Vec3<T> column(int index) const {
    if (index == 0) return {row[0].x, row[1].x, row[2].x};
    if (index == 1) return {row[0].y, row[1].y, row[2].y};
    return {row[0].z, row[1].z, row[2].z};
  }
};

using Mat3f = Mat3<float>;
using Mat3d = Mat3<double>;

template <class T>
SEXTANT_HD constexpr Vec3<T> operator*(const Mat3<T>& m, const Vec3<T>& v) {
  return {dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v)};
}
template <class T>
SEXTANT_HD constexpr Mat3<T> transpose(const Mat3<T>& m) {
  return {{m.column(0), m.column(1), m.column(2)}};
}
template <class T>
SEXTANT_HD constexpr Mat3<T> operator*(const Mat3<T>& a, const Mat3<T>& b) {
  return Mat3<T>::from_columns(a * b.column(0), a * b.column(1), a * b.column(2));
}
template <class T>
SEXTANT_HD constexpr Mat3<T> operator+(const Mat3<T>& a, const Mat3<T>& b) {
  return {{a.row[0] + b.row[0], a.row[1] + b.row[1], a.row[2] + b.row[2]}};
}
template <class T>
SEXTANT_HD constexpr Mat3<T> operator*(const Mat3<T>& a, T s) {
  return {{a.row[0] * s, a.row[1] * s, a.row[2] * s}};
}
template <class T>
SEXTANT_HD constexpr T determinant(const Mat3<T>& m) {
  return dot(m.row[0], cross(m.row[1], m.row[2]));
}
template <class To, class From>
SEXTANT_HD constexpr Mat3<To> cast(const Mat3<From>& m) {
  return {{cast<To>(m.row[0]), cast<To>(m.row[1]), cast<To>(m.row[2])}};
}

}  // namespace sextant
