// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sextant/core/vec.h"

// Cuts one triangle at the faces of unit bins and measures the pieces.

namespace sextant::detail {

inline constexpr float kAreaUnit = 0x1p-20f;            ///< of the sums, in faces of a bin
inline constexpr std::uint32_t kLeastArea = 1u << 6;    ///< 2⁻¹⁴; what is less is none
inline constexpr std::uint32_t kFullBin = 0xffffffffu;  ///< where sums end

/// A convex polygon: a triangle cut by up to six planes.
struct ClipPolygon {
  Vec3f corner[9];
  int count = 0;
};

template <int kAxis>
SEXTANT_HD float along(const Vec3f& v) {
  return kAxis == 0 ? v.x : kAxis == 1 ? v.y : v.z;
}
template <int kAxis>
SEXTANT_HD void set_along(Vec3f& v, float value) {
  (kAxis == 0 ? v.x : kAxis == 1 ? v.y : v.z) = value;
}

/// The part of a polygon on one side of a plane at right angles to an axis (Sutherland-Hodgman).
template <int kAxis, bool kAbove>
SEXTANT_HD void clip(const ClipPolygon& from, float at, ClipPolygon& to) {
  to.count = 0;
  Vec3f a = from.corner[from.count - 1];
  float inside_a = kAbove ? along<kAxis>(a) - at : at - along<kAxis>(a);
  for (int i = 0; i < from.count; ++i) {
    const Vec3f b = from.corner[i];
    const float inside_b = kAbove ? along<kAxis>(b) - at : at - along<kAxis>(b);
    if ((inside_a >= 0.0f) != (inside_b >= 0.0f) && to.count < 9) {
      Vec3f cut = a + (b - a) * (inside_a / (inside_a - inside_b));
      set_along<kAxis>(cut, at);
      to.corner[to.count++] = cut;
    }
    if (inside_b >= 0.0f && to.count < 9) to.corner[to.count++] = b;
    a = b;
    inside_a = inside_b;
  }
}

/// Calls piece(part, bin) for the parts of a polygon in the bins along an axis. A part that lies in
/// the plane between two bins goes to the upper one alone.
template <int kAxis, class Piece>
SEXTANT_HD void slice(const ClipPolygon& polygon, int bins, const Piece& piece) {
  float low = along<kAxis>(polygon.corner[0]);
  float high = low;
  for (int i = 1; i < polygon.count; ++i) {
    low = min_of(low, along<kAxis>(polygon.corner[i]));
    high = max_of(high, along<kAxis>(polygon.corner[i]));
  }
  if (!(low < static_cast<float>(bins) && high >= 0.0f)) return;
  const int first = static_cast<int>(max_of(low, 0.0f));
  const int last = static_cast<int>(min_of(high, static_cast<float>(bins) - 0.5f));
  for (int bin = first; bin <= last; ++bin) {
    const float floor = static_cast<float>(bin);
    const bool below = low < floor;
    const bool above = high > floor + 1.0f;
    if (!below && !above) {
      piece(polygon, bin);
      continue;
    }
    ClipPolygon part, rest;
    if (below && above) {
      clip<kAxis, true>(polygon, floor, rest);
      if (rest.count < 3) continue;
      clip<kAxis, false>(rest, floor + 1.0f, part);
    } else if (below) {
      clip<kAxis, true>(polygon, floor, part);
    } else {
      clip<kAxis, false>(polygon, floor + 1.0f, part);
    }
    if (part.count >= 3) piece(part, bin);
  }
}

/// Half the length of a vector in units of kAreaUnit, rounded. A piece fits a bin, so it has less
/// than two faces; what rounding made of a triangle far larger than the cube is held to that.
SEXTANT_HD inline std::uint32_t area_units(const Vec3f& twice) {
  const float area = 0.5f * norm(twice);
  if (!(area > 0.0f)) return 0;
  return static_cast<std::uint32_t>(min_of(area, 2.0f) / kAreaUnit + 0.5f);
}
SEXTANT_HD inline std::uint32_t area_units(const ClipPolygon& polygon) {
  Vec3f twice{};
  const Vec3f origin = polygon.corner[0];
  for (int i = 2; i < polygon.count; ++i) {
    twice += cross(polygon.corner[i - 1] - origin, polygon.corner[i] - origin);
  }
  return area_units(twice);
}

/// Calls add(index of bin, area) for every bin that a triangle of any size has area in.
template <class Add>
SEXTANT_HD void add_large_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                                   const Add& add) {
  ClipPolygon triangle;
  triangle.corner[0] = a;
  triangle.corner[1] = b;
  triangle.corner[2] = c;
  triangle.count = 3;
  slice<2>(triangle, bins, [&](const ClipPolygon& slab, int k) {
    slice<1>(slab, bins, [&](const ClipPolygon& column, int j) {
      slice<0>(column, bins, [&](const ClipPolygon& part, int i) {
        const std::uint32_t area = area_units(part);
        if (area > 0) add(i + bins * (j + bins * k), area);
      });
    });
  });
}

/// Part of a triangle. Its x is the axis that is looked at; those before are settled.
struct TrianglePart {
  Vec3f a, b, c;
  std::int32_t axis = 0;
  std::int32_t index = 0;  ///< of its bin, as far as it is settled
};

/// The point of the edge from p to q where x is `at`.
SEXTANT_HD inline Vec3f cut_edge(const Vec3f& p, const Vec3f& q, float at) {
  const float share = (at - p.x) / (q.x - p.x);
  return {at, p.y + (q.y - p.y) * share, p.z + (q.z - p.z) * share};
}
SEXTANT_HD inline Vec3f next_axis_first(const Vec3f& v) { return {v.y, v.z, v.x}; }

/// The same for a triangle of less than a bin along each axis, which one plane of each axis can cut
/// at most: into three triangles, that need no lists of corners.
template <class Add>
SEXTANT_HD void add_small_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                                   const Add& add) {
  TrianglePart waiting[6];  // two for each axis
  int count = 0;
  TrianglePart part{a, b, c, 0, 0};
  for (;;) {
    const float low = min_of(part.a.x, min_of(part.b.x, part.c.x));
    const float high = max_of(part.a.x, max_of(part.b.x, part.c.x));
    const int bin = low < 0.0f ? -1 : static_cast<int>(low);
    const float plane = static_cast<float>(bin + 1);
    if (high > plane) {
      // One corner is alone on its side; it becomes the first.
      const bool a_above = part.a.x > plane, b_above = part.b.x > plane;
      const bool c_above = part.c.x > plane;
      if (a_above == c_above && a_above != b_above) {
        const Vec3f first = part.a;
        part.a = part.b;
        part.b = part.c;
        part.c = first;
      } else if (a_above == b_above) {
        const Vec3f last = part.c;
        part.c = part.b;
        part.b = part.a;
        part.a = last;
      }
      const Vec3f ab = cut_edge(part.a, part.b, plane);
      const Vec3f ac = cut_edge(part.a, part.c, plane);
      waiting[count++] = {ab, part.b, part.c, part.axis, part.index};
      waiting[count++] = {ab, part.c, ac, part.axis, part.index};
      part.b = ab;
      part.c = ac;
      continue;
    }
    const bool inside = bin >= 0 && bin < bins;
    if (inside && part.axis < 2) {
      part.index += part.axis == 0 ? bin : bin * bins;
      part.a = next_axis_first(part.a);
      part.b = next_axis_first(part.b);
      part.c = next_axis_first(part.c);
      ++part.axis;
      continue;
    }
    if (inside) {
      const std::uint32_t area = area_units(cross(part.b - part.a, part.c - part.a));
      if (area > 0) add(part.index + bin * bins * bins, area);
    }
    if (count == 0) return;
    part = waiting[--count];
  }
}

/// The bin along an axis that holds all three, or -1.
SEXTANT_HD inline int bin_of_all(float a, float b, float c, int bins) {
  const float low = min_of(a, min_of(b, c));
  const float high = max_of(a, max_of(b, c));
  if (!(low >= 0.0f && high < static_cast<float>(bins))) return -1;
  const int bin = static_cast<int>(low);
  return high <= static_cast<float>(bin + 1) ? bin : -1;
}
/// Along how many axes a triangle is cut; `index` is its bin where there are none.
SEXTANT_HD inline int cut_axes(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                               int& index) {
  const int i = bin_of_all(a.x, b.x, c.x, bins);
  const int j = bin_of_all(a.y, b.y, c.y, bins);
  const int k = bin_of_all(a.z, b.z, c.z, bins);
  index = i + bins * (j + bins * k);
  return (i < 0 ? 1 : 0) + (j < 0 ? 1 : 0) + (k < 0 ? 1 : 0);
}

/// A triangle that lies in one bin.
template <class Add>
SEXTANT_HD void add_whole_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int index,
                                   const Add& add) {
  const std::uint32_t area = area_units(cross(b - a, c - a));
  if (area > 0) add(index, area);
}

/// Calls add(index of bin, area) for every bin that a triangle has area in; it meets the cube.
template <class Add>
SEXTANT_HD void add_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                             const Add& add) {
  int index = 0;
  if (cut_axes(a, b, c, bins, index) == 0) return add_whole_triangle(a, b, c, index, add);
  // Less than a bin, by more than a cut may round.
  constexpr float kSmall = 0.999f;
  const bool small = max_of(a.x, max_of(b.x, c.x)) - min_of(a.x, min_of(b.x, c.x)) < kSmall &&
                     max_of(a.y, max_of(b.y, c.y)) - min_of(a.y, min_of(b.y, c.y)) < kSmall &&
                     max_of(a.z, max_of(b.z, c.z)) - min_of(a.z, min_of(b.z, c.z)) < kSmall;
  if (small) {
    add_small_triangle(a, b, c, bins, add);
  } else {
    add_large_triangle(a, b, c, bins, add);
  }
}

/// The value of a bin from its sum.
SEXTANT_HD inline float area_of(std::uint32_t units) {
  return static_cast<float>(units) * kAreaUnit;
}

}  // namespace sextant::detail
