// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/pairs/math.h"

// Bounds on the pixels of a patch that tell when no pixel of one patch can be the partner of a
// pixel of another. A search that leaves such patches out finds what it finds without them, to the
// last bit: most surface is smooth, and most patches are left out.

namespace sextant::detail::pairs {

inline constexpr int kPatchEdge_px = 4;
inline constexpr int kPatchPixels = kPatchEdge_px * kPatchEdge_px;

/// Whether a pixel can be in a pair at all. An infinite normal can, as the test of a pair has it.
SEXTANT_HD inline bool can_pair(const Vec3f& p, const Vec3f& n) {
  const Vec3f zero = p - p;  // or NaN; no branches, as all lanes of a warp come here
  return (zero.x + zero.y + zero.z == 0.0f) & (n.x == n.x) & (n.y == n.y) & (n.z == n.z);
}

SEXTANT_HD inline Vec3f least_of(const Vec3f& a, const Vec3f& b) {
  return {std::fmin(a.x, b.x), std::fmin(a.y, b.y), std::fmin(a.z, b.z)};
}
SEXTANT_HD inline Vec3f most_of(const Vec3f& a, const Vec3f& b) {
  return {std::fmax(a.x, b.x), std::fmax(a.y, b.y), std::fmax(a.z, b.z)};
}

/// The boxes of the points and of the normals of a patch.
struct PatchBoxes {
  Vec3f point_least{INFINITY, INFINITY, INFINITY};
  Vec3f point_most{-INFINITY, -INFINITY, -INFINITY};
  Vec3f normal_least = point_least;
  Vec3f normal_most = point_most;

  SEXTANT_HD void add(const Vec3f& p, const Vec3f& n) {
    point_least = least_of(point_least, p);
    point_most = most_of(point_most, p);
    normal_least = least_of(normal_least, n);
    normal_most = most_of(normal_most, n);
  }
};

/// The points of a patch lie in a box, its normals in a ball. A patch without pixels pairs with
/// nothing.
struct alignas(16) PatchBounds {
  Vec3f least{INFINITY, INFINITY, INFINITY};
  float half_length_sq = INFINITY;  ///< of the shortest normal
  Vec3f most{-INFINITY, -INFINITY, -INFINITY};
  float spread = 0.0f;  ///< no normal is farther from the middle; infinite if one is too long
  Vec3f normal;         ///< the middle
  float unused = 0.0f;

  /// Rounding moves the bound of n · m, and n · m itself, by less than 70 times 6e-8 as long as no
  /// normal is longer than this; a longer one turns the bound off.
  static constexpr float kLongest_sq = 1.001f;
  static constexpr float kTurnSlack = 1e-5f;

  PatchBounds() = default;
  /// The pixels that were added to the boxes are to be included one by one.
  SEXTANT_HD explicit PatchBounds(const PatchBoxes& boxes)
      : least(boxes.point_least), most(boxes.point_most) {
    if (least.x <= most.x) normal = (boxes.normal_least + boxes.normal_most) * 0.5f;
  }
  SEXTANT_HD void include(const Vec3f& n) {
    const float length_sq = norm_sq(n);
    half_length_sq = std::fmin(half_length_sq, 0.5f * length_sq);
    spread = std::fmax(spread, length_sq <= kLongest_sq ? norm(n - normal) : INFINITY);
  }
  /// Makes the bounds of one pixel.
  SEXTANT_HD PatchBounds(const Vec3f& p, const Vec3f& n) : least(p), most(p), normal(n) {
    const float length_sq = norm_sq(n);
    half_length_sq = 0.5f * length_sq;
    if (!(length_sq <= kLongest_sq)) spread = INFINITY;
  }

  /// No two points of the patches have a smaller squared distance. Rounding keeps order, so that
  /// this holds for the rounded numbers without slack: the operations are those of the distance.
  SEXTANT_HD float gap_sq(const PatchBounds& other) const {
    const Vec3f before = other.least - most;
    const Vec3f after = least - other.most;
    return squared_distance(most_of(most_of(before, after), Vec3f{}), Vec3f{});
  }
  /// No two normals of the patches are turned enough against each other: n · m is half of
  /// |n|² + |m|² - |n - m|², and |n - m| at most the distance of the middles and both spreads.
  SEXTANT_HD bool too_alike(const PatchBounds& other, float cos_angle) const {
    const float most_apart = norm(normal - other.normal) + spread + other.spread;
    return half_length_sq + other.half_length_sq - 0.5f * most_apart * most_apart >=
           cos_angle + kTurnSlack;
  }
};

/// The patches of an image, row by row, and which of them the pixels of a patch may look at.
struct PairPatchGrid {
  int across = 0;
  int down = 0;

  SEXTANT_HD PairPatchGrid(int width, int height)
      : across(width / kPatchEdge_px + (width % kPatchEdge_px != 0)),
        down(height / kPatchEdge_px + (height % kPatchEdge_px != 0)) {}
  SEXTANT_HD int size() const { return across * down; }
  SEXTANT_HD bool contains(int column, int row) const {
    return column >= 0 && row >= 0 && column < across && row < down;
  }
};

/// Steps from a patch to all that a window reaches, near ones first.
struct PatchSteps {
  static constexpr int kReach = (kMostPairWindow_px + kPatchEdge_px - 1) / kPatchEdge_px;
  static constexpr int kCount = (2 * kReach + 1) * (2 * kReach + 1);
  std::int8_t across[kCount]{};
  std::int8_t down[kCount]{};

  constexpr PatchSteps() {
    int count = 0;
    for (int distance_sq = 0; distance_sq <= 2 * kReach * kReach; ++distance_sq) {
      for (int y = -kReach; y <= kReach; ++y) {
        for (int x = -kReach; x <= kReach; ++x) {
          if (x * x + y * y != distance_sq) continue;
          across[count] = static_cast<std::int8_t>(x);
          down[count++] = static_cast<std::int8_t>(y);
        }
      }
    }
  }
};

/// Whether a window reaches from some pixel of a patch into the patch so many steps away.
SEXTANT_HD constexpr bool reaches(int window_px, int steps) {
  return (steps < 0 ? -steps : steps) * kPatchEdge_px - (kPatchEdge_px - 1) <= window_px;
}

}  // namespace sextant::detail::pairs
