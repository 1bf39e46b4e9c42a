// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/neighbours/select.h"

#include <algorithm>

namespace sextant::detail::neighbours {

void clear_rest(FloatColumns& rows, int columns, std::int64_t count) {
  const std::int64_t end = (count + kLanes - 1) / kLanes * kLanes;
  for (int c = 0; c < columns; ++c) {
    std::fill(rows.column(c) + count, rows.column(c) + end, 0.0f);
  }
}

void FloatColumns::reserve(int columns, std::int64_t count) {
  const std::int64_t packs = (count + kLanes - 1) / kLanes + 1;
  room_ = std::max(room_, packs * kLanes);
  const auto needed = static_cast<std::size_t>(columns * (room_ / kLanes));
  if (memory_.size() < needed) memory_.resize(needed);
}

void thin_out(FloatColumns& rows, int columns, std::int64_t count, std::int64_t kept) {
  if (kept == count) return;
  constexpr std::int64_t kBatch = 256;
  std::int32_t places[kBatch];
  // place_of_voter(i, kept, count), one after the other without its division: `place` is the
  // quotient i count / kept and `over` its remainder.
  const std::int64_t step = count / kept;
  const std::int64_t rest = count % kept;
  std::int64_t place = 0;
  std::int64_t over = 0;
  for (std::int64_t first = 0; first < kept; first += kBatch) {
    const std::int64_t batch = std::min(kBatch, kept - first);
    for (std::int64_t i = 0; i < batch; ++i) {
      places[i] = static_cast<std::int32_t>(place + (over > 0));
      place += step;
      over += rest;
      const bool carry = over >= kept;
      place += carry;
      over -= carry ? kept : 0;
    }
    // Rows move towards the front, past rows that were read before.
    for (int c = 0; c < columns; ++c) {
      const float* const from = rows.column(c);
      float* const to = rows.column(c) + first;
      for (std::int64_t i = 0; i < batch; ++i) to[i] = from[places[i]];
    }
  }
  clear_rest(rows, columns, kept);
}

}  // namespace sextant::detail::neighbours
