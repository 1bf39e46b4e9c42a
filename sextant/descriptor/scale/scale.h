// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/core/vec.h"
#include "sextant/geometry/neighbours.h"
#include "sextant/surface/cloud_resolution.h"

// Lengths in the options of descriptors mean the same everywhere: 0 stands for a multiple of the
// resolution of the surface. `resolved` puts the length in its place; functions that are given
// points alone take the resolution of these, and `_into` forms, which must not wait for it, want
// the length itself.

namespace sextant::detail::scale {

/// The given length, or so many resolutions where it is 0.
inline float resolved_length(float length_m, float resolutions, float resolution_m,
                             const char* name) {
  if (length_m != 0.0f) return length_m;
  require(resolution_m > 0.0f && std::isfinite(resolution_m), "resolution_m: ", resolution_m,
          " is no resolution; call estimate_resolution or triangulate first, or give ", name,
          " in metres");
  return resolutions * resolution_m;
}

/// The options with a radius of so many resolutions where theirs is 0.
template <class Options>
Options with_radius(const Options& options, float resolution_m) {
  Options result = options;
  result.radius_m =
      resolved_length(options.radius_m, options.radius_resolutions, resolution_m, "radius_m");
  return result;
}

/// The grid for searches of spheres around keypoints. Its cells are half as long as the radius, so
/// that few candidates lie outside the sphere.
inline NeighbourGridOptions cells_for_sphere(float radius_m) {
  return NeighbourGridOptions::for_radius(0.5f * radius_m);
}

inline void require_resolved(float length_m, const char* name) {
  require(length_m > 0.0f, name, ": ", length_m,
          " is no length; 0 stands for a multiple of the resolution, which resolved(options, "
          "resolution_m) puts in its place");
}

/// What lengths of 0 are multiples of where nobody says: the resolution of the points. Any length
/// does where there are no two different points.
inline float resolution_of(const Context& context, View<const Vec3f> points) {
  const float resolution_m = cloud_resolution_m(context, points);
  return resolution_m > 0.0f ? resolution_m : 1.0f;
}

}  // namespace sextant::detail::scale
