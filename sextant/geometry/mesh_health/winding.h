// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/vec.h"

namespace sextant::detail::mesh_health {

/// Triangles that are connected over edges of exactly two triangles.
struct Part {
  std::int64_t triangles = 0;
  bool closed = true;      ///< every edge has two triangles
  bool one_sided = false;  ///< no winding is consistent
};

struct Winding {
  std::vector<std::int32_t> part;  ///< of each triangle; parts count from their first triangle on
  std::vector<char> turned;        ///< whether a triangle is against most of its part
  std::vector<Part> parts;
  std::int64_t open_edges = 0;
  std::int64_t crowded_edges = 0;
  std::int64_t holes = 0;
};

/// Walks over the edges of triangles whose corners are places 0 .. places - 1, all three different.
Winding find_winding(const Context& context, std::span<const Vec3i> triangles, std::int64_t places);

}  // namespace sextant::detail::mesh_health
