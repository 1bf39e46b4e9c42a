// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "sextant/io/mesh/polygons.h"

namespace sextant::detail::mesh {

/// Finds whether all corners at a vertex name elements of the same bits. If so `per_vertex` gets
/// one element for each of the vertices, zero where no triangle uses it. A corner of -1 names
/// nothing, which counts as zero.
template <class T>
bool gather_per_vertex(std::span<const Vec3i> triangles, std::int64_t vertices,
                       const std::vector<T>& elements, const std::vector<Vec3i>& corners,
                       std::vector<T>& per_vertex) {
  per_vertex.assign(static_cast<std::size_t>(vertices), T{});
  std::vector<bool> known(per_vertex.size());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const std::int32_t at[] = {triangles[i].x, triangles[i].y, triangles[i].z};
    const std::int32_t named[] = {corners[i].x, corners[i].y, corners[i].z};
    for (int k = 0; k < 3; ++k) {
      const auto vertex = static_cast<std::size_t>(at[k]);
      const T element = named[k] < 0 ? T{} : elements[static_cast<std::size_t>(named[k])];
      if (known[vertex] && std::memcmp(&per_vertex[vertex], &element, sizeof(T)) != 0) return false;
      per_vertex[vertex] = element;
      known[vertex] = true;
    }
  }
  return true;
}

/// Gives a mesh what the corners of its triangles name in a list of elements: one element per
/// vertex where that is enough, else the list and which of it each corner has.
template <class T>
void set_corners(std::span<const Vec3i> triangles, std::int64_t vertices, std::vector<T>&& elements,
                 std::vector<Vec3i>&& corners, Buffer<T>& per_vertex, Buffer<T>& per_corner,
                 Buffer<Vec3i>& corner_triangles) {
  // As our own writers number them: elements of vertices that no triangle uses stay.
  if (static_cast<std::int64_t>(elements.size()) == vertices &&
      std::equal(triangles.begin(), triangles.end(), corners.begin(), corners.end())) {
    per_vertex = to_buffer(std::move(elements));
    return;
  }
  std::vector<T> gathered;
  if (gather_per_vertex(triangles, vertices, elements, corners, gathered)) {
    per_vertex = to_buffer(std::move(gathered));
    return;
  }
  const auto nothing = static_cast<std::int32_t>(elements.size());
  bool some_name_nothing = false;
  for (Vec3i& corner : corners) {
    for (std::int32_t* index : {&corner.x, &corner.y, &corner.z}) {
      if (*index >= 0) continue;
      *index = nothing;
      some_name_nothing = true;
    }
  }
  if (some_name_nothing) elements.push_back(T{});
  per_corner = to_buffer(std::move(elements));
  corner_triangles = to_buffer(std::move(corners));
}

}  // namespace sextant::detail::mesh
