// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/undistort.h"

namespace sextant::detail::undistort {

/// Where pixel (u, v) of the ideal camera `to` lies in the image of `camera`.
SEXTANT_HD inline Vec2f source_pixel(const Cameraf& camera, const Cameraf& to, int u, int v) {
  const Vec3f ray = unproject(to, Vec2f{static_cast<float>(u), static_cast<float>(v)});
  return project(camera, ray);
}

SEXTANT_HD inline std::uint8_t blend(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                                     float x, float y) {
  const float top = static_cast<float>(a) + (static_cast<float>(b) - static_cast<float>(a)) * x;
  const float low = static_cast<float>(c) + (static_cast<float>(d) - static_cast<float>(c)) * x;
  return static_cast<std::uint8_t>(top + (low - top) * y + 0.5f);
}

/// Bilinear; black outside the square of pixel centres.
SEXTANT_HD inline Rgb8 sample(const ImageView<const Rgb8>& image, const Vec2f& at) {
  const float right = static_cast<float>(image.width - 1);
  const float bottom = static_cast<float>(image.height - 1);
  if (!(at.x >= 0.0f && at.y >= 0.0f && at.x <= right && at.y <= bottom)) return {};
  const int u = static_cast<int>(at.x);
  const int v = static_cast<int>(at.y);
  const int u1 = min_of(u + 1, image.width - 1);
  const int v1 = min_of(v + 1, image.height - 1);
  const float x = at.x - static_cast<float>(u);
  const float y = at.y - static_cast<float>(v);
  const Rgb8 a = image(u, v), b = image(u1, v), c = image(u, v1), d = image(u1, v1);
  return {blend(a.x, b.x, c.x, d.x, x, y), blend(a.y, b.y, c.y, d.y, x, y),
          blend(a.z, b.z, c.z, d.z, x, y)};
}

/// The nearest pixel; NaN outside the image.
SEXTANT_HD inline float sample(const ImageView<const float>& image, const Vec2f& at) {
  if (!(at.x >= -0.5f && at.y >= -0.5f)) return NAN;
  const int u = static_cast<int>(at.x + 0.5f);
  const int v = static_cast<int>(at.y + 0.5f);
  return image.contains(u, v) ? image(u, v) : NAN;
}

template <class Pixel>
struct UndistortPixel {
  ImageView<const Pixel> from;
  ImageView<Pixel> to;
  Cameraf camera;
  Cameraf ideal;

  SEXTANT_HD void operator()(std::int64_t index) const {
    const int u = static_cast<int>(index % to.width);
    const int v = static_cast<int>(index / to.width);
    to(u, v) = sample(from, source_pixel(camera, ideal, u, v));
  }
};

}  // namespace sextant::detail::undistort
