// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/mesh_resolution.h"

namespace sextant::detail::mesh_resolution {

/// The lengths of edges added up.
struct EdgeLengths {
  double length_m = 0;
  double edges = 0;
};
struct AddLengths {
  SEXTANT_HD EdgeLengths operator()(const EdgeLengths& a, const EdgeLengths& b) const {
    return {a.length_m + b.length_m, a.edges + b.edges};
  }
};

/// Those of one triangle that exists.
struct TriangleLengths {
  View<const Vec3f> vertices;
  View<const Vec3i> triangles;

  SEXTANT_HD Vec3d corner(std::int32_t i) const {
    const bool there = i >= 0 && i < vertices.size;
    return there ? cast<double>(vertices[i]) : Vec3d{NAN, NAN, NAN};
  }
  SEXTANT_HD EdgeLengths operator()(std::int64_t t) const {
    const Vec3d a = corner(triangles[t].x);
    const Vec3d b = corner(triangles[t].y);
    const Vec3d c = corner(triangles[t].z);
    const double length = norm(b - a) + norm(c - b) + norm(a - c);
    return std::isfinite(length) ? EdgeLengths{length, 3} : EdgeLengths{};
  }
};

}  // namespace sextant::detail::mesh_resolution
