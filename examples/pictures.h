// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/geometry/camera.h"
#include "sextant/geometry/cloud.h"

// Pictures and clouds out of what the rasteriser gives, on the host.

namespace pictures {

using namespace sextant;

/// A colour per object; white where nothing is.
inline Image<Rgb8> of_ids(ImageView<const std::int32_t> ids) {
  constexpr Rgb8 kColors[] = {{196, 200, 204}, {51, 117, 178}, {204, 80, 62}, {236, 150, 52},
                              {146, 92, 160},  {84, 150, 98},  {214, 186, 70}};
  Image<Rgb8> picture(Context::cpu(), ids.width, ids.height);
  for (int v = 0; v < ids.height; ++v) {
    for (int u = 0; u < ids.width; ++u) {
      picture(u, v) = ids(u, v) < 0 ? Rgb8{255, 255, 255} : kColors[ids(u, v) % 7];
    }
  }
  return picture;
}

/// The organised cloud of a view, with the colours of a picture of it.
inline Cloud cloud_of(const Camera& camera, ImageView<const float> depth_m,
                      ImageView<const Vec3f> normals, ImageView<const Rgb8> colors) {
  const Context host = Context::cpu();
  Cloud cloud;
  cloud.width = camera.width;
  cloud.height = camera.height;
  cloud.points = Buffer<Vec3f>(host, depth_m.pixels());
  cloud.normals = Buffer<Vec3f>(host, depth_m.pixels());
  cloud.colors = Buffer<Rgb8>(host, depth_m.pixels());
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const std::int64_t i = std::int64_t{v} * camera.width + u;
      const Vec2d pixel{static_cast<double>(u), static_cast<double>(v)};
      cloud.points.data()[i] = cast<float>(unproject(camera, pixel)) * depth_m(u, v);
      cloud.normals.data()[i] = normals(u, v);
      cloud.colors.data()[i] = colors(u, v);
    }
  }
  return cloud;
}

}  // namespace pictures
