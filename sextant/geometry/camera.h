// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "sextant/core/error.h"
#include "sextant/core/vec.h"

namespace sextant {

/// Brown-Conrady lens distortion with OpenCV's coefficients and order (k1, k2, p1, p2, k3).
template <class T>
struct Distortion {
  T k1{}, k2{}, p1{}, p2{}, k3{};

  SEXTANT_HD bool is_zero() const {
    return k1 == T(0) && k2 == T(0) && p1 == T(0) && p2 == T(0) && k3 == T(0);
  }
};

/// A pinhole camera: x right, y down, z forward; pixel centres are integers.
template <class T>
struct PinholeCamera {
  int width = 0;
  int height = 0;
  T fx_px{}, fy_px{};
  T cx_px{}, cy_px{};
  Distortion<T> distortion;
};

using Camera = PinholeCamera<double>;
using Cameraf = PinholeCamera<float>;

template <class To, class From>
SEXTANT_HD PinholeCamera<To> cast(const PinholeCamera<From>& c) {
  const Distortion<From>& d = c.distortion;
  return {c.width,
          c.height,
          To(c.fx_px),
          To(c.fy_px),
          To(c.cx_px),
          To(c.cy_px),
          {To(d.k1), To(d.k2), To(d.p1), To(d.p2), To(d.k3)}};
}

/// Throws Error unless the sizes are positive and the numbers finite.
void check_camera(const Camera& camera);

/// Where the lens puts the ideal point (X/Z, Y/Z).
template <class T>
SEXTANT_HD Vec2<T> distort(const Distortion<T>& d, const Vec2<T>& p) {
  const T r2 = dot(p, p);
  const T radial = T(1) + r2 * (d.k1 + r2 * (d.k2 + r2 * d.k3));
  return {p.x * radial + T(2) * d.p1 * p.x * p.y + d.p2 * (r2 + T(2) * p.x * p.x),
          p.y * radial + d.p1 * (r2 + T(2) * p.y * p.y) + T(2) * d.p2 * p.x * p.y};
}

/// Whether the radius after distortion, r (1 + k1 r² + k2 r⁴ + k3 r⁶), grows all the way from the
/// centre to r: beyond the first fold it may grow again, over pixels that others have already.
template <class T>
SEXTANT_HD bool grows_outwards(const Distortion<T>& d, T r2) {
  // Its derivative is a cubic in t = r², whose least value lies at r or at the cubic's minimum.
  const T a = T(3) * d.k1, b = T(5) * d.k2, c = T(7) * d.k3;
  const auto slope = [&](T t) { return T(1) + t * (a + t * (b + t * c)); };
  if (!(slope(r2) > T(0))) return false;
  const T square = b * b - T(3) * a * c;
  if (!(square >= T(0))) return true;
  const T minimum = -a / (b + std::sqrt(square));
  return !(minimum > T(0) && minimum < r2) || slope(minimum) > T(0);
}

/// The ideal point that `distort` sends to `observed`: Newton with the analytic Jacobian, started
/// at the observed point, about 25 flop a step. NaN where the model does not reach the point or has
/// folded over, as strong distortion does far outside the image.
template <class T>
SEXTANT_HD Vec2<T> undistort(const Distortion<T>& d, const Vec2<T>& observed) {
  if (d.is_zero()) return observed;
  const T tolerance = sizeof(T) == 4 ? T(1e-6) : T(1e-13);
  Vec2<T> p = observed;
  for (int iteration = 0; iteration < 30; ++iteration) {
    const T r2 = dot(p, p);
    const T radial = T(1) + r2 * (d.k1 + r2 * (d.k2 + r2 * d.k3));
    const T slope = d.k1 + r2 * (T(2) * d.k2 + r2 * T(3) * d.k3);  // d radial / d r²
    const T jxx = radial + T(2) * p.x * p.x * slope + T(2) * d.p1 * p.y + T(6) * d.p2 * p.x;
    const T jxy = T(2) * p.x * p.y * slope + T(2) * d.p1 * p.x + T(2) * d.p2 * p.y;
    const T jyy = radial + T(2) * p.y * p.y * slope + T(6) * d.p1 * p.y + T(2) * d.p2 * p.x;
    const T det = jxx * jyy - jxy * jxy;
    if (!(det > T(0))) break;
    const Vec2<T> error = distort(d, p) - observed;
    const Vec2<T> step{(jyy * error.x - jxy * error.y) / det,
                       (jxx * error.y - jxy * error.x) / det};
    p = p - step;
    if (dot(step, step) > tolerance * tolerance * (T(1) + dot(p, p))) continue;
    if (grows_outwards(d, dot(p, p))) return p;
    break;
  }
  return {T(NAN), T(NAN)};
}

/// The pixel of a point in the camera's frame; NaN for points at or behind the camera's plane, and
/// for those so far outside the view that the radial distortion has turned back on itself.
template <class T>
SEXTANT_HD Vec2<T> project(const PinholeCamera<T>& camera, const Vec3<T>& point_m) {
  if (!(point_m.z > T(0))) return {T(NAN), T(NAN)};
  const Vec2<T> ideal{point_m.x / point_m.z, point_m.y / point_m.z};
  if (!grows_outwards(camera.distortion, dot(ideal, ideal))) return {T(NAN), T(NAN)};
  const Vec2<T> p = distort(camera.distortion, ideal);
  return {camera.fx_px * p.x + camera.cx_px, camera.fy_px * p.y + camera.cy_px};
}

/// The ray (X/Z, Y/Z, 1) through a pixel. Times the depth z it is the point.
template <class T>
SEXTANT_HD Vec3<T> unproject(const PinholeCamera<T>& camera, const Vec2<T>& pixel_px) {
  const Vec2<T> p = undistort(camera.distortion, {(pixel_px.x - camera.cx_px) / camera.fx_px,
                                                  (pixel_px.y - camera.cy_px) / camera.fy_px});
  return {p.x, p.y, T(1)};
}

}  // namespace sextant
