// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/random.h"

namespace sextant::detail::catalogue {

/// Draws in sequence from one counter-based stream: what a procedure uses that makes one decision
/// after the other.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t item) : random_{seed, item} {}

  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_.uniform(draw_++));
  }
  int below(int count) {
    return static_cast<int>(random_.below(static_cast<std::uint32_t>(count), draw_++));
  }
  bool chance(double probability) { return uniform(0, 1) < probability; }

 private:
  Random random_;
  std::uint64_t draw_ = 0;
};

}  // namespace sextant::detail::catalogue
