// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/core/rigid3.h"
#include "sextant/geometry/attribute.h"

namespace sextant {

/// Points in metres with what is known of them, all on one device. A point with a NaN coordinate is
/// a hole. An organised cloud keeps the rows of the image it came from.
struct Cloud {
  Buffer<Vec3f> points;
  Buffer<Vec3f> normals;  ///< empty, or one per point
  Buffer<Rgb8> colors;    ///< empty, or one per point
  std::vector<Attribute> attributes;
  int width = 0;              ///< of an organised cloud; 0 when unorganised
  int height = 0;             ///< of an organised cloud; 0 when unorganised
  Rigid3d world_from_sensor;  ///< where the sensor stood, when the file says so

  /// What was subtracted from the coordinates, and from where the sensor stood, because floats
  /// cannot hold them: those of a map are millions of metres. Zero for nearly all clouds.
  /// Everything works on the points as they are; writers add it again.
  Vec3d origin_m;

  std::int64_t size() const { return points.size(); }
  bool organised() const { return width > 0 && height > 0; }
  Device device() const { return points.device(); }
};

/// Throws Error unless every part has one element per point, organised sizes multiply to the number
/// of points and everything lies on one device.
void check_cloud(const Cloud& cloud);

/// The same cloud on the context's device, and in host memory.
Cloud copy(const Context& context, const Cloud& from);
Cloud to_host(const Context& context, const Cloud& from);

/// The box around the finite points.
struct Bounds {
  Vec3f low{INFINITY, INFINITY, INFINITY};
  Vec3f high{-INFINITY, -INFINITY, -INFINITY};

  SEXTANT_HD bool empty() const { return !(low.x <= high.x); }
  SEXTANT_HD float diagonal_m() const { return empty() ? 0.0f : norm(high - low); }
};

/// One pass over the points; NaN and infinite points are left out. Waits for the device.
Bounds bounds(const Context& context, View<const Vec3f> points);

}  // namespace sextant
