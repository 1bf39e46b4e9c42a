// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/geometry/neighbours/lanes.h"

// The neighbours of one keypoint, picked from the candidates of its cell and packed without gaps.
// Host only.

namespace sextant::detail::neighbours {

/// Columns of floats, each a multiple of sixteen long and aligned for the widest registers.
class FloatColumns {
 public:
  /// Room for `count` rows and sixteen more that are written but not used. Contents are lost.
  void reserve(int columns, std::int64_t count);
  float* column(int number) { return data() + number * room_; }
  const float* column(int number) const { return data() + number * room_; }

 private:
  struct alignas(64) Pack {
    float lane[kLanes];
  };
  float* data() { return reinterpret_cast<float*>(memory_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(memory_.data()); }
  std::vector<Pack> memory_;
  std::int64_t room_ = 0;
};

/// First columns of a neighbour: its offset from the keypoint and the square of its distance. What
/// the caller knows of the candidates follows.
enum NeighbourColumn { kDx, kDy, kDz, kDistanceSq, kPayload };

/// Where candidates are read from: coordinates of the tile, then `extra` columns of the caller's.
struct CandidateColumns {
  const float* x;
  const float* y;
  const float* z;
  std::int64_t count;  ///< arrays are filled up to a multiple of sixteen; x with NaN
  const float* const* extra;
  int extras;
};

/// Sets the rows from `count` to the next multiple of sixteen to zero.
void clear_rest(FloatColumns& rows, int columns, std::int64_t count);

/// Most columns beside the first four: normal, whether it votes, colour.
inline constexpr int kMostExtras = 7;

/// Copies the candidates with squared distance < radius_sq, in their order, and returns how many
/// there are; rows up to the next multiple of sixteen are zero. `to` has room for all.
template <class Set>
std::int64_t select_within(const CandidateColumns& from, const Vec3f& p, float radius_sq,
                           FloatColumns& to) {
  using Pack = FloatLanes<Set::kFloats, Set>;
  float* const dx_to = to.column(kDx);
  float* const dy_to = to.column(kDy);
  float* const dz_to = to.column(kDz);
  float* const distance_to = to.column(kDistanceSq);
  float* extra_to[kMostExtras];
  for (int e = 0; e < from.extras; ++e) extra_to[e] = to.column(kPayload + e);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < from.count; i += Pack::kCount) {
    const Pack dx = Pack::load(from.x + i) - p.x;
    const Pack dy = Pack::load(from.y + i) - p.y;
    const Pack dz = Pack::load(from.z + i) - p.z;
    const Pack distance_sq = dx * dx + dy * dy + dz * dz;
    const auto near = distance_sq < radius_sq;
    if (!near.any()) continue;
    for (int e = 0; e < from.extras; ++e) {
      Pack::load(from.extra[e] + i).compress(near, extra_to[e] + kept);
    }
    dx.compress(near, dx_to + kept);
    dy.compress(near, dy_to + kept);
    dz.compress(near, dz_to + kept);
    kept += distance_sq.compress(near, distance_to + kept);
  }
  clear_rest(to, kPayload + from.extras, kept);
  return kept;
}

/// Keeps `kept` of `count` rows, evenly spread.
void thin_out(FloatColumns& rows, int columns, std::int64_t count, std::int64_t kept);

}  // namespace sextant::detail::neighbours
