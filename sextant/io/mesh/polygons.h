// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sextant/core/buffer.h"
#include "sextant/core/vec.h"

namespace sextant::detail::mesh {

/// The triangles of a polygon with four or more corners.
struct Fan {
  std::size_t first = 0;
  std::size_t triangles = 0;
};

/// Turns a polygon into the fan of triangles around its first corner; fewer than three corners give
/// none. Whether a fan is right is only known when the vertices are: `cut_concave` needs `fans`.
inline void append_fan(std::span<const std::int32_t> corners, std::vector<Vec3i>& triangles,
                       std::vector<Fan>* fans = nullptr) {
  if (fans && corners.size() > 3) fans->push_back({triangles.size(), corners.size() - 2});
  for (std::size_t i = 2; i < corners.size(); ++i) {
    triangles.push_back({corners[0], corners[i - 1], corners[i]});
  }
}

/// Unrolls a strip: every corner makes a triangle with the two before it, and every other one is
/// turned so that all face the same way. A negative corner starts a new strip.
inline void append_strip(std::span<const std::int32_t> corners, std::vector<Vec3i>& triangles) {
  std::size_t start = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    if (corners[i] < 0) {
      start = i + 1;
    } else if (i >= start + 2) {
      const bool turned = (i - start) % 2 != 0;
      triangles.push_back(
          {corners[turned ? i - 1 : i - 2], corners[turned ? i - 2 : i - 1], corners[i]});
    }
  }
}

/// Makes a host buffer of the vector's memory, without a copy.
template <class T>
Buffer<T> to_buffer(std::vector<T>&& elements) {
  if (elements.empty()) return {};
  auto owner = std::make_shared<std::vector<T>>(std::move(elements));
  return Buffer<T>::adopt(Context::cpu(), owner->data(), static_cast<std::int64_t>(owner->size()),
                          [owner]() mutable { owner.reset(); });
}

}  // namespace sextant::detail::mesh
