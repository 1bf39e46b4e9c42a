// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor/math.h"

// Triangles of a tile of 8 × 8 cells as bits, and how they reach each other.

namespace sextant::detail::tensor {

/// A bit for each cell, 8 · row + column: of its first triangle and of its second.
struct TileBits {
  std::uint64_t first, second;

  SEXTANT_HD bool empty() const { return (first | second) == 0; }
  friend SEXTANT_HD bool operator==(const TileBits& a, const TileBits& b) {
    return a.first == b.first && a.second == b.second;
  }
};
static_assert(kTileCells == 8);

inline constexpr std::uint64_t kFirstColumn = 0x0101010101010101u;

/// What the triangles of the neighbouring tiles reach in a tile: the second triangles of a cell
/// meet the first of the cell to the right and of the cell below.
SEXTANT_HD inline TileBits reached_across(const TileBits& left, const TileBits& right,
                                          const TileBits& above, const TileBits& below) {
  return {(left.second >> 7 & kFirstColumn) | above.second >> 56,
          (right.first & kFirstColumn) << 7 | below.first << 56};
}

/// The triangles of `open` that edges connect, within the tile, with one of `reached`.
SEXTANT_HD inline TileBits flooded(const TileBits& open, const TileBits& reached) {
  TileBits now{reached.first & open.first, reached.second & open.second};
  TileBits before{0, 0};
  while (!(now == before)) {
    before = now;
    now.first |=
        open.first & (now.second | (now.second & ~(kFirstColumn << 7)) << 1 | now.second << 8);
    now.second |= open.second & (now.first | (now.first & ~kFirstColumn) >> 1 | now.first >> 8);
  }
  return now;
}

/// On which sides of the cube a corner lies, a bit each. A triangle whose corners have a bit in
/// common misses the cube, and so does one with a corner that is a hole.
inline constexpr unsigned kHole = 64;
SEXTANT_HD inline unsigned sides_of(const TensorCube& cube, const Vec3f& local) {
  const auto near = [](float x) { return std::abs(x) < kFarthestBins; };
  const bool hole = !(near(local.x) && near(local.y) && near(local.z));
  return (local.x < 0.0f ? 1u : 0u) | (local.x >= cube.bins ? 2u : 0u) |
         (local.y < 0.0f ? 4u : 0u) | (local.y >= cube.bins ? 8u : 0u) |
         (local.z < 0.0f ? 16u : 0u) | (local.z >= cube.bins ? 32u : 0u) | (hole ? kHole : 0u);
}
/// Says what TensorCube::meets does.
SEXTANT_HD inline bool meets_cube(unsigned a, unsigned b, unsigned c) {
  return (a & b & c) == 0 && ((a | b | c) & kHole) == 0;
}

}  // namespace sextant::detail::tensor
