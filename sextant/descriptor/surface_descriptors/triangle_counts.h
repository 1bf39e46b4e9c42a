// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"
#include "sextant/geometry/neighbour_walk.h"

namespace sextant::detail::surface_descriptors {

SEXTANT_HD inline Vec3f centre_of(const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  return (a + b + c) / 3.0f;
}

/// Element 2 c + k is the centre of triangle k of cell c, and NaN where there is none.
struct CellCentre {
  ImageView<const Vec3f> points;
  ImageView<const std::uint8_t> cells;
  Vec3f* centres = nullptr;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t cell = i / 2;
    const int v = static_cast<int>(cell / cells.width);
    const int u = static_cast<int>(cell - std::int64_t{v} * cells.width);
    const int second = static_cast<int>(i % 2);
    const bool there = (cells(u, v) >> second & 1) != 0;
    // The triangles of a cell are those of write_triangles.
    centres[i] = there
                     ? centre_of(points(u + second, v), points(u, v + 1), points(u + 1, v + second))
                     : Vec3f{NAN, NAN, NAN};
  }
};

/// The centre of a triangle of a mesh, and NaN where a vertex is not there.
struct TriangleCentre {
  View<const Vec3f> vertices;
  View<const Vec3i> triangles;
  Vec3f* centres = nullptr;

  SEXTANT_HD Vec3f corner(std::int32_t i) const {
    return i >= 0 && i < vertices.size ? vertices[i] : Vec3f{NAN, NAN, NAN};
  }
  SEXTANT_HD void operator()(std::int64_t t) const {
    const Vec3i triangle = triangles[t];
    centres[t] = centre_of(corner(triangle.x), corner(triangle.y), corner(triangle.z));
  }
};

/// How many centres lie in the cube of frame i * step.
struct CountCentres {
  NeighbourGridView centres;
  const TensorFrame* frames = nullptr;
  std::int64_t step = 1;
  int bins = 0;
  std::int32_t* counts = nullptr;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const TensorFrame frame = frames[i * step];
    counts[i] = -1;
    if (std::isnan(frame.angle_rad)) return;
    const float half_m = 0.5f * static_cast<float>(bins) * frame.bin_m;
    const float reach_m = half_m * 1.7320509f;  // to the corners of the cube
    std::int32_t count = 0;
    for_each_neighbour(centres, frame.origin_m, reach_m, [&](const GridPoint& centre, float) {
      const Vec3f v = frame.axes * (centre.position - frame.origin_m);
      const float farthest = max_of(max_of(std::abs(v.x), std::abs(v.y)), std::abs(v.z));
      count += farthest < half_m ? 1 : 0;
    });
    counts[i] = count;
  }
};

}  // namespace sextant::detail::surface_descriptors
