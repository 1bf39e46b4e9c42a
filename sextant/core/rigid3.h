// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/mat3.h"

namespace sextant {

/// A rotation as a unit quaternion w + x i + y j + z k.
template <class T>
struct Quaternion {
  T w = 1, x{}, y{}, z{};
};

template <class T>
SEXTANT_HD Quaternion<T> normalized(const Quaternion<T>& q) {
  const T length = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
  if (!(length > T(0))) return {};
  return {q.w / length, q.x / length, q.y / length, q.z / length};
}

template <class T>
SEXTANT_HD Mat3<T> to_matrix(const Quaternion<T>& q) {
  const T two(2);
  return {{{1 - two * (q.y * q.y + q.z * q.z), two * (q.x * q.y - q.w * q.z),
            two * (q.x * q.z + q.w * q.y)},
           {two * (q.x * q.y + q.w * q.z), 1 - two * (q.x * q.x + q.z * q.z),
            two * (q.y * q.z - q.w * q.x)},
           {two * (q.x * q.z - q.w * q.y), two * (q.y * q.z + q.w * q.x),
            1 - two * (q.x * q.x + q.y * q.y)}}};
}

/// Converts a rotation matrix to its quaternion, with w >= 0 where it is not zero. It is stable for
/// every angle (Shepperd: divide by the largest component).
template <class T>
SEXTANT_HD Quaternion<T> to_quaternion(const Mat3<T>& r) {
  const T xx = r.row[0].x, yy = r.row[1].y, zz = r.row[2].z;
  const T trace = xx + yy + zz;
  Quaternion<T> q;
  if (trace >= xx && trace >= yy && trace >= zz) {
    const T s = T(0.5) / std::sqrt(T(1) + trace);
    q = {T(0.25) / s, (r.row[2].y - r.row[1].z) * s, (r.row[0].z - r.row[2].x) * s,
         (r.row[1].x - r.row[0].y) * s};
  } else if (xx >= yy && xx >= zz) {
    const T s = T(0.5) / std::sqrt(T(1) + xx - yy - zz);
    q = {(r.row[2].y - r.row[1].z) * s, T(0.25) / s, (r.row[0].y + r.row[1].x) * s,
         (r.row[0].z + r.row[2].x) * s};
  } else if (yy >= zz) {
    const T s = T(0.5) / std::sqrt(T(1) - xx + yy - zz);
    q = {(r.row[0].z - r.row[2].x) * s, (r.row[0].y + r.row[1].x) * s, T(0.25) / s,
         (r.row[1].z + r.row[2].y) * s};
  } else {
    const T s = T(0.5) / std::sqrt(T(1) - xx - yy + zz);
    q = {(r.row[1].x - r.row[0].y) * s, (r.row[0].z + r.row[2].x) * s,
         (r.row[1].z + r.row[2].y) * s, T(0.25) / s};
  }
  if (q.w < T(0)) q = {-q.w, -q.x, -q.y, -q.z};
  return normalized(q);
}

/// Converts a rotation vector (axis times angle in radians) to a matrix.
template <class T>
SEXTANT_HD Mat3<T> exp_rotation(const Vec3<T>& omega_rad) {
  const T angle_sq = norm_sq(omega_rad);
  const T half = T(0.5) * std::sqrt(angle_sq);
  // sin(half) / angle, by its series where the quotient would lose digits.
  const T k = angle_sq < T(1e-4) ? T(0.5) - angle_sq / T(48) + angle_sq * angle_sq / T(3840)
                                 : std::sin(half) / (T(2) * half);
  return to_matrix(
      normalized(Quaternion<T>{std::cos(half), omega_rad.x * k, omega_rad.y * k, omega_rad.z * k}));
}

/// Converts a matrix to a rotation vector, whose length is in [0, π].
template <class T>
SEXTANT_HD Vec3<T> log_rotation(const Mat3<T>& rotation) {
  const Quaternion<T> q = to_quaternion(rotation);
  const Vec3<T> v{q.x, q.y, q.z};
  const T sine = norm(v);
  // angle / sin(angle / 2) tends to 2 with the angle.
  const T k = sine < T(1e-6) ? T(2) / q.w : T(2) * std::atan2(sine, q.w) / sine;
  return v * k;
}

/// Returns the angle of a rotation in radians, in [0, π].
template <class T>
SEXTANT_HD T rotation_angle(const Mat3<T>& rotation) {
  return norm(log_rotation(rotation));
}

/// A rigid motion x ↦ R x + t. Names say both frames: `camera_from_object`.
template <class T>
struct Rigid3 {
  Mat3<T> rotation = Mat3<T>::identity();
  Vec3<T> translation{};
};

using Rigid3f = Rigid3<float>;
using Rigid3d = Rigid3<double>;

template <class T>
SEXTANT_HD Vec3<T> operator*(const Rigid3<T>& m, const Vec3<T>& point) {
  return m.rotation * point + m.translation;
}
template <class T>
SEXTANT_HD Rigid3<T> operator*(const Rigid3<T>& a, const Rigid3<T>& b) {
  return {a.rotation * b.rotation, a.rotation * b.translation + a.translation};
}
template <class T>
SEXTANT_HD Rigid3<T> inverse(const Rigid3<T>& m) {
  const Mat3<T> r = transpose(m.rotation);
  return {r, -(r * m.translation)};
}
/// Takes the rounding of long products away: the rotation becomes orthonormal again.
template <class T>
SEXTANT_HD Rigid3<T> renormalized(const Rigid3<T>& m) {
  return {to_matrix(to_quaternion(m.rotation)), m.translation};
}
template <class To, class From>
SEXTANT_HD Rigid3<To> cast(const Rigid3<From>& m) {
  return {cast<To>(m.rotation), cast<To>(m.translation)};
}

/// The tangent of SE(3) at the identity: rotation vector in radians, and the velocity in metres.
template <class T>
struct Twist3 {
  Vec3<T> omega_rad;
  Vec3<T> v_m;
};

/// The factors of V(ω) = I + b [ω] + c [ω]², b = (1 - cos θ)/θ², c = (θ - sin θ)/θ³.
template <class T>
struct TwistFactors {
  T b, c;
};
template <class T>
SEXTANT_HD TwistFactors<T> twist_factors(T angle_sq) {
  if (angle_sq < T(1e-2)) {
    return {T(0.5) - angle_sq * (T(1) / 24 - angle_sq * (T(1) / 720 - angle_sq / T(40320))),
            T(1) / 6 - angle_sq * (T(1) / 120 - angle_sq * (T(1) / 5040 - angle_sq / T(362880)))};
  }
  const T angle = std::sqrt(angle_sq);
  return {(T(1) - std::cos(angle)) / angle_sq, (angle - std::sin(angle)) / (angle_sq * angle)};
}

template <class T>
SEXTANT_HD Rigid3<T> exp(const Twist3<T>& twist) {
  const TwistFactors<T> f = twist_factors(norm_sq(twist.omega_rad));
  const Vec3<T> wv = cross(twist.omega_rad, twist.v_m);
  const Vec3<T> wwv = cross(twist.omega_rad, wv);
  return {exp_rotation(twist.omega_rad), twist.v_m + wv * f.b + wwv * f.c};
}

template <class T>
SEXTANT_HD Twist3<T> log(const Rigid3<T>& m) {
  const Vec3<T> omega = log_rotation(m.rotation);
  const T angle_sq = norm_sq(omega);
  // V⁻¹ = I - ½ [ω] + d [ω]²; d = (1 - a / (2 b)) / θ² with a = sin θ / θ.
  T d;
  if (angle_sq < T(1e-2)) {
    d = T(1) / 12 + angle_sq * (T(1) / 720 + angle_sq / T(30240));
  } else {
    const T half = T(0.5) * std::sqrt(angle_sq);
    d = (T(1) - half * std::cos(half) / std::sin(half)) / angle_sq;
  }
  const Vec3<T> wt = cross(omega, m.translation);
  const Vec3<T> wwt = cross(omega, wt);
  return {omega, m.translation - wt * T(0.5) + wwt * d};
}

}  // namespace sextant
