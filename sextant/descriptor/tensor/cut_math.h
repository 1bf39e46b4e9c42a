// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor/clip_math.h"

// The pieces of a triangle in unit bins. Nearly all triangles meet two bins at most along an axis:
// one plane of each axis can cut them. Their pieces are all parts of one area, so no polygon is
// made: a plane that cuts off a corner cuts off the product of the shares of its two edges, and
// what is above two or three planes follows from the same of the corner alone.

namespace sextant::detail::tensor {

/// Longer triangles, in bins along an axis, are made smaller before they are cut: their areas would
/// lose digits where they are subtracted. Halves of those that are not have less than a bin.
inline constexpr float kLongestCut = 1.99f;

/// What a linear function has at the corners of a triangle.
struct CornerValues {
  float a, b, c;
};

/// A triangle along one axis and the plane above the bin of its lowest corner.
struct AxisCut {
  CornerValues above;  ///< heights above the plane
  int bin;             ///< below the plane; -1 for everything below the first
  bool cut;            ///< something is above the plane
  bool further;        ///< it is too long, or something may be above the next plane as well
};
SEXTANT_HD inline AxisCut axis_cut(float a, float b, float c, int bins) {
  const float low = min_of(a, min_of(b, c));
  const float high = max_of(a, max_of(b, c));
  const int bin = low < 0.0f ? -1 : static_cast<int>(low);
  const float plane = static_cast<float>(bin + 1);
  return {{a - plane, b - plane, c - plane},
          bin,
          high > plane,
          (high > plane + 1.0f && bin + 1 < bins) || high - low >= kLongestCut};
}

/// By its members, which a GPU can keep in registers.
SEXTANT_HD inline AxisCut chosen(bool first, const AxisCut& a, const AxisCut& b) {
  return {
      {first ? a.above.a : b.above.a, first ? a.above.b : b.above.b, first ? a.above.c : b.above.c},
      first ? a.bin : b.bin,
      first ? a.cut : b.cut,
      first ? a.further : b.further};
}

/// A triangle and the planes that cut it.
struct TriangleCuts {
  AxisCut x, y, z;

  SEXTANT_HD TriangleCuts(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins)
      : x(axis_cut(a.x, b.x, c.x, bins)),
        y(axis_cut(a.y, b.y, c.y, bins)),
        z(axis_cut(a.z, b.z, c.z, bins)) {}

  SEXTANT_HD bool further() const { return x.further || y.further || z.further; }
  SEXTANT_HD int axes() const { return (x.cut ? 1 : 0) + (y.cut ? 1 : 0) + (z.cut ? 1 : 0); }
};

/// How much there is to do for a triangle: the axes that cut it, 0 to 2, or kCutFurther, which
/// three are as well.
inline constexpr int kCutFurther = 3;
SEXTANT_HD inline int cut_kind(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins) {
  const TriangleCuts cuts(a, b, c, bins);
  return cuts.further() ? kCutFurther : cuts.axes();
}

/// How a plane cuts a triangle: which corner is alone on its side, and the parts of its two edges
/// on that side. Where all are on one side, the corner has nothing of the triangle.
struct CornerCut {
  bool b_alone, c_alone;  ///< otherwise a
  bool above;             ///< the side of the corner
  float to_next, to_last;

  SEXTANT_HD explicit CornerCut(const CornerValues& height) {
    const bool a_above = height.a > 0.0f, b_above = height.b > 0.0f, c_above = height.c > 0.0f;
    b_alone = a_above == c_above && a_above != b_above;
    c_alone = a_above == b_above && a_above != c_above;
    const CornerValues own = from_corner(height);
    const bool cut = a_above != b_above || a_above != c_above;
    above = cut == (own.a > 0.0f);
    to_next = cut ? own.a / (own.a - own.b) : 0.0f;
    to_last = cut ? own.a / (own.a - own.c) : 0.0f;
  }

  /// The corner's value first.
  SEXTANT_HD CornerValues from_corner(const CornerValues& v) const {
    return {b_alone   ? v.b
            : c_alone ? v.c
                      : v.a,
            b_alone   ? v.c
            : c_alone ? v.a
                      : v.b,
            b_alone   ? v.a
            : c_alone ? v.b
                      : v.c};
  }
  /// The share of the area that is cut off with the corner.
  SEXTANT_HD float share() const { return to_next * to_last; }
  /// A linear function at the corners of what is cut off.
  SEXTANT_HD CornerValues at_part(const CornerValues& v) const {
    const CornerValues own = from_corner(v);
    return {own.a, own.a + (own.b - own.a) * to_next, own.a + (own.c - own.a) * to_last};
  }
};

/// The part of a triangle's area that lies above a plane.
SEXTANT_HD inline float area_above(float area, const CornerValues& height) {
  const CornerCut cut(height);
  const float part = area * cut.share();
  return cut.above ? part : area - part;
}

/// An area, and what of it lies above two planes.
struct AreasAbove {
  float all, first, second, both;

  SEXTANT_HD AreasAbove operator-(const AreasAbove& part) const {
    return {all - part.all, first - part.first, second - part.second, both - part.both};
  }
};
SEXTANT_HD inline AreasAbove areas_above(float area, const CornerValues& first,
                                         const CornerValues& second) {
  const CornerCut cut(first);
  const float part = area * cut.share();
  const float second_all = area_above(area, second);
  const float second_part = area_above(part, cut.at_part(second));
  return {area, cut.above ? part : area - part, second_all,
          cut.above ? second_part : second_all - second_part};
}

SEXTANT_HD inline float area_of(const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  return 0.5f * norm(cross(b - a, c - a));
}

/// Calls add(index, area) where there is some.
template <class Add>
SEXTANT_HD void add_area(bool inside, int index, float area, const Add& add) {
  const std::uint32_t units = inside ? area_units(area) : 0;
  if (units > 0) add(index, units);
}

/// A triangle that no plane cuts.
template <class Add>
SEXTANT_HD void add_whole(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                          const Add& add) {
  const TriangleCuts cuts(a, b, c, bins);
  const bool inside = cuts.x.bin >= 0 && cuts.y.bin >= 0 && cuts.z.bin >= 0;
  add_area(inside, cuts.x.bin + bins * (cuts.y.bin + bins * cuts.z.bin), area_of(a, b, c), add);
}

/// One that a plane of one axis cuts.
template <class Add>
SEXTANT_HD void add_cut_once(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                             const Add& add) {
  const TriangleCuts cuts(a, b, c, bins);
  const AxisCut axis = chosen(cuts.x.cut, cuts.x, chosen(cuts.y.cut, cuts.y, cuts.z));
  const int step = cuts.x.cut ? 1 : cuts.y.cut ? bins : bins * bins;
  const bool inside = (cuts.x.cut || cuts.x.bin >= 0) && (cuts.y.cut || cuts.y.bin >= 0) &&
                      (cuts.z.cut || cuts.z.bin >= 0);
  const int index = cuts.x.bin + bins * (cuts.y.bin + bins * cuts.z.bin);
  const float area = area_of(a, b, c);
  const float above = area_above(area, axis.above);
  add_area(inside && axis.bin >= 0, index, area - above, add);
  add_area(inside && axis.bin + 1 < bins, index + step, above, add);
}

/// The four parts of an area at a bin and the next along two axes.
template <class Add>
SEXTANT_HD void add_quarters(const AreasAbove& areas, bool inside, const AxisCut& first,
                             int first_step, const AxisCut& second, int second_step, int index,
                             int bins, const Add& add) {
  const bool low_first = inside && first.bin >= 0, high_first = inside && first.bin + 1 < bins;
  const bool low_second = second.bin >= 0, high_second = second.bin + 1 < bins;
  add_area(low_first && low_second, index, areas.all - areas.first - (areas.second - areas.both),
           add);
  add_area(high_first && low_second, index + first_step, areas.first - areas.both, add);
  add_area(low_first && high_second, index + second_step, areas.second - areas.both, add);
  add_area(high_first && high_second, index + first_step + second_step, areas.both, add);
}

/// One that planes of two axes cut.
template <class Add>
SEXTANT_HD void add_cut_twice(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                              const Add& add) {
  const TriangleCuts cuts(a, b, c, bins);
  const AxisCut first = chosen(cuts.x.cut, cuts.x, cuts.y);
  const AxisCut second = chosen(cuts.z.cut, cuts.z, cuts.y);
  const int other = !cuts.x.cut ? cuts.x.bin : !cuts.y.cut ? cuts.y.bin : cuts.z.bin;
  const int index = cuts.x.bin + bins * (cuts.y.bin + bins * cuts.z.bin);
  add_quarters(areas_above(area_of(a, b, c), first.above, second.above), other >= 0, first,
               cuts.x.cut ? 1 : bins, second, cuts.z.cut ? bins * bins : bins, index, bins, add);
}

/// One that one plane of each axis may cut; it need not meet the cube.
template <class Add>
SEXTANT_HD void add_cut_thrice(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                               const Add& add) {
  const TriangleCuts cuts(a, b, c, bins);
  if (cuts.x.bin >= bins || cuts.y.bin >= bins || cuts.z.bin >= bins) return;
  const CornerCut cut(cuts.z.above);
  const float area = area_of(a, b, c);
  const AreasAbove all = areas_above(area, cuts.x.above, cuts.y.above);
  const AreasAbove part =
      areas_above(area * cut.share(), cut.at_part(cuts.x.above), cut.at_part(cuts.y.above));
  const int index = cuts.x.bin + bins * (cuts.y.bin + bins * cuts.z.bin);
  add_quarters(cut.above ? all - part : part, cuts.z.bin >= 0, cuts.x, 1, cuts.y, bins, index, bins,
               add);
  add_quarters(cut.above ? part : all - part, cuts.z.bin + 1 < bins, cuts.x, 1, cuts.y, bins,
               index + bins * bins, bins, add);
}

/// A triangle of kCutFurther: one of up to four bins along an axis in smaller ones, a longer one by
/// add_long(a, b, c).
template <class Add, class AddLong>
SEXTANT_HD void add_cut_further(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                                const Add& add, const AddLong& add_long) {
  const Vec3f ab = b - a, ac = c - a, bc = c - b;
  const auto longest = [](const Vec3f& v) {
    return max_of(std::abs(v.x), max_of(std::abs(v.y), std::abs(v.z)));
  };
  const float length = max_of(longest(ab), max_of(longest(ac), longest(bc)));
  if (!(length < 2 * kLongestCut)) return add_long(a, b, c);
  const int parts = !TriangleCuts(a, b, c, bins).further() ? 1 : length < kLongestCut ? 2 : 4;
  const float share = 1.0f / static_cast<float>(parts);
  // With weights that are whole numbers, what is in a face of a bin stays in it.
  const auto corner = [&](int to_b, int to_c) {
    return (a * static_cast<float>(parts - to_b - to_c) + b * static_cast<float>(to_b) +
            c * static_cast<float>(to_c)) *
           share;
  };
  // Row by row along ac: as many as have room along ab, and those upside down between them.
  for (int row = 0; row < parts; ++row) {
    for (int place = 0; place < 2 * (parts - row) - 1; ++place) {
      const int i = place / 2, down = place % 2;
      add_cut_thrice(corner(i + down, row), corner(i + 1, row + down), corner(i, row + 1), bins,
                     add);
    }
  }
}

/// Calls add(index of bin, area) for every bin that a triangle has area in; it meets the cube. One
/// that is too long to be made smaller is left to add_long(a, b, c).
template <class Add, class AddLong>
SEXTANT_HD void add_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                             const Add& add, const AddLong& add_long) {
  const int kind = cut_kind(a, b, c, bins);
  if (kind == 0) {
    add_whole(a, b, c, bins, add);
  } else if (kind == 1) {
    add_cut_once(a, b, c, bins, add);
  } else if (kind == 2) {
    add_cut_twice(a, b, c, bins, add);
  } else {
    add_cut_further(a, b, c, bins, add, add_long);
  }
}
template <class Add>
SEXTANT_HD void add_triangle(const Vec3f& a, const Vec3f& b, const Vec3f& c, int bins,
                             const Add& add) {
  add_triangle(a, b, c, bins, add, [&](const Vec3f& p, const Vec3f& q, const Vec3f& r) {
    add_long_triangle(p, q, r, bins, add);
  });
}

}  // namespace sextant::detail::tensor
