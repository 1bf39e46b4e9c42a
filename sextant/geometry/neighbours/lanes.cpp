// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours/lanes.h"

#include <algorithm>

namespace sextant::detail::neighbours {

void CandidateTile::grow(std::int64_t room) {
  constexpr std::int64_t kLeastRoom = 512;
  constexpr std::int64_t kArrays = 5;
  const std::int64_t packs = (std::max({room, 2 * room_, kLeastRoom}) + kLanes - 1) / kLanes;
  std::vector<CacheLine> memory(static_cast<std::size_t>(kArrays * packs));
  const auto array = [&](std::int64_t number) {
    return reinterpret_cast<float*>(memory.data() + number * packs);
  };
  const auto bytes = static_cast<std::size_t>(count_) * sizeof(float);
  if (count_ > 0) {
    std::memcpy(array(0), x_, bytes);
    std::memcpy(array(1), y_, bytes);
    std::memcpy(array(2), z_, bytes);
    std::memcpy(array(4), index_, bytes);
  }
  x_ = array(0);
  y_ = array(1);
  z_ = array(2);
  distance_ = array(3);
  index_ = reinterpret_cast<std::int32_t*>(array(4));
  room_ = packs * kLanes;
  memory_ = std::move(memory);
}

void CandidateTile::gather(View<const Vec3f> points) {
  count_ = 0;
  if (points.size + kLanes > room_) grow(points.size + kLanes);
  count_ = points.size;
  for (std::int64_t i = 0; i < count_; ++i) {
    x_[i] = points[i].x;
    y_[i] = points[i].y;
    z_[i] = points[i].z;
    index_[i] = static_cast<std::int32_t>(i);
  }
  for (std::int64_t i = count_; i < packs() * kLanes; ++i) x_[i] = NAN;
}

void CandidateTile::drop_ties(float distance_sq, std::int64_t k) {
  std::int64_t nearer = 0;
  std::vector<std::pair<std::int32_t, std::int64_t>> ties;
  for (std::int64_t i = 0; i < count_; ++i) {
    if (distance_[i] < distance_sq) ++nearer;
    if (distance_[i] == distance_sq) ties.emplace_back(index_[i], i);
  }
  const auto kept = ties.begin() + (k - nearer);
  std::nth_element(ties.begin(), kept, ties.end());
  for (auto tie = kept; tie != ties.end(); ++tie) {
    distance_[tie->second] = std::numeric_limits<float>::infinity();
  }
}

}  // namespace sextant::detail::neighbours
