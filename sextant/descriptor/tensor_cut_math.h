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

/// The point of the edge from p to q where x is `at`.
SEXTANT_HD inline Vec3f cut_edge(const Vec3f& p, const Vec3f& q, float at) {
  const float share = (at - p.x) / (q.x - p.x);
  return {at, p.y + (q.y - p.y) * share, p.z + (q.z - p.z) * share};
}
SEXTANT_HD inline Vec3f next_axis_first(const Vec3f& v) { return {v.y, v.z, v.x}; }

/// Calls piece(a, b, c, bin) for the parts of a triangle in the bins along x, of which it meets two
/// at most: itself, or three triangles. -1 stands for the bin below the first.
template <class Piece>
SEXTANT_HD void cut_at_bins(const Vec3f& a, const Vec3f& b, const Vec3f& c, const Piece& piece) {
  const auto bin_of = [](const Vec3f& p, const Vec3f& q, const Vec3f& r) {
    const float low = min_of(p.x, min_of(q.x, r.x));
    return low < 0.0f ? -1 : static_cast<int>(low);
  };
  const float plane = static_cast<float>(bin_of(a, b, c) + 1);
  const bool a_above = a.x > plane, b_above = b.x > plane, c_above = c.x > plane;
  const bool cut = a_above || b_above || c_above;
  // One corner is alone on its side of the plane; it becomes the first.
  const bool b_alone = cut && a_above == c_above && a_above != b_above;
  const bool c_alone = cut && a_above == b_above;
  const Vec3f p = b_alone ? b : c_alone ? c : a;
  const Vec3f q = b_alone ? c : c_alone ? a : b;
  const Vec3f r = b_alone ? a : c_alone ? b : c;
  const Vec3f pq = cut ? cut_edge(p, q, plane) : q;
  const Vec3f pr = cut ? cut_edge(p, r, plane) : r;
  const int pieces = cut ? 3 : 1;
  for (int k = 0; k < pieces; ++k) {
    const Vec3f first = k == 0 ? p : pq;
    const Vec3f second = k == 0 ? pq : k == 1 ? q : r;
    const Vec3f third = k == 1 ? r : pr;
    piece(first, second, third, bin_of(first, second, third));
  }
}

/// The same for a triangle of less than a bin along each axis, which one plane of each axis can cut
/// at most. Needs no lists of corners, which a GPU would keep in memory.
template <class Add>
SEXTANT_HD void add_small_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                                   const Add& add) {
  const auto inside = [bins](int bin) { return bin >= 0 && bin < bins; };
  cut_at_bins(a, b, c, [&](const Vec3f& ax, const Vec3f& bx, const Vec3f& cx, int i) {
    if (!inside(i)) return;
    cut_at_bins(next_axis_first(ax), next_axis_first(bx), next_axis_first(cx),
                [&](const Vec3f& ay, const Vec3f& by, const Vec3f& cy, int j) {
                  if (!inside(j)) return;
                  cut_at_bins(next_axis_first(ay), next_axis_first(by), next_axis_first(cy),
                              [&](const Vec3f& az, const Vec3f& bz, const Vec3f& cz, int k) {
                                if (!inside(k)) return;
                                const std::uint32_t area = area_units(cross(bz - az, cz - az));
                                if (area > 0) add(i + bins * (j + bins * k), area);
                              });
                });
  });
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
