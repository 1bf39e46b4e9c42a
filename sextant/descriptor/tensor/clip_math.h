// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "sextant/core/vec.h"

// The pieces of a triangle of any size in unit bins, by cutting polygons.

namespace sextant::detail::tensor {

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

/// An area in units of kAreaUnit, rounded. A piece fits a bin, so it has less than two faces; what
/// rounding made of a triangle far larger than the cube is held to that.
SEXTANT_HD inline std::uint32_t area_units(float area) {
  if (!(area > 0.0f)) return 0;
  return static_cast<std::uint32_t>(min_of(area, 2.0f) / kAreaUnit + 0.5f);
}
SEXTANT_HD inline std::uint32_t area_units(const ClipPolygon& polygon) {
  Vec3f twice{};
  const Vec3f origin = polygon.corner[0];
  for (int i = 2; i < polygon.count; ++i) {
    twice += cross(polygon.corner[i - 1] - origin, polygon.corner[i] - origin);
  }
  return area_units(0.5f * norm(twice));
}

/// The value of a bin from its sum.
SEXTANT_HD inline float area_from(std::uint32_t units) {
  return static_cast<float>(units) * kAreaUnit;
}

/// Calls add(index of bin, area) for every bin that a triangle of any size has area in.
template <class Add>
SEXTANT_HD void add_long_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
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

}  // namespace sextant::detail::tensor
