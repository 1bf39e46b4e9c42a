// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/geometry/gather.h"

namespace sextant::detail::gather {

/// What stands for an element that is not there.
template <class T>
SEXTANT_HD T missing();
template <>
SEXTANT_HD inline Vec3f missing<Vec3f>() {
  return {NAN, NAN, NAN};
}
template <>
SEXTANT_HD inline Rgb8 missing<Rgb8>() {
  return {};
}
template <>
SEXTANT_HD inline std::int32_t missing<std::int32_t>() {
  return -1;
}

template <class T>
struct GatherElement {
  View<const T> from;
  const std::int32_t* indices;
  T* to;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int32_t index = indices[i];
    to[i] = index >= 0 && index < from.size ? from[index] : missing<T>();
  }
};

/// 1 for a point that is there, 0 for a hole.
struct MarkFinite {
  const Vec3f* points;
  std::int32_t* marks;

  SEXTANT_HD void operator()(std::int64_t i) const { marks[i] = is_finite(points[i]) ? 1 : 0; }
};

/// Lists the marked points; element `size` of the ranks is their number.
struct ListMarked {
  const std::int32_t* marks;
  const std::int32_t* ranks;
  std::int64_t size;
  std::int32_t* indices;
  std::int32_t* count;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (i == size) {
      *count = ranks[size];
    } else if (marks[i] != 0) {
      indices[ranks[i]] = static_cast<std::int32_t>(i);
    }
  }
};

}  // namespace sextant::detail::gather
