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

/// Copies the candidates with squared distance < radius_sq, in their order, and returns how many
/// there are; rows up to the next multiple of sixteen are zero. `to` has room for all.
std::int64_t select_within(const CandidateColumns& from, const Vec3f& p, float radius_sq,
                           FloatColumns& to);

/// Keeps `kept` of `count` rows, evenly spread.
void thin_out(FloatColumns& rows, int columns, std::int64_t count, std::int64_t kept);

}  // namespace sextant::detail::neighbours
