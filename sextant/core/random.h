// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "sextant/core/host_device.h"

namespace sextant {

/// Counter-based random numbers (Philox 4×32-10; Salmon et al., SC 2011): the draw is a function of
/// (seed, item, draw) alone, so it is the same on every device, in any order and in any thread.
struct Random {
  std::uint64_t seed = 0;
  std::uint64_t item = 0;  ///< what is being drawn for: a pixel, a point, a hypothesis

  /// Four independent 32-bit words for draw number `draw`.
  struct Words {
    std::uint32_t word[4];
  };
  SEXTANT_HD Words words(std::uint64_t draw) const {
    Words c{{static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32),
             static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(item >> 32)}};
    std::uint32_t k0 = static_cast<std::uint32_t>(seed);
    std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c.word[0];
      const std::uint64_t p1 = std::uint64_t{0xCD9E8D57u} * c.word[2];
      c = {{static_cast<std::uint32_t>(p1 >> 32) ^ c.word[1] ^ k0, static_cast<std::uint32_t>(p1),
            static_cast<std::uint32_t>(p0 >> 32) ^ c.word[3] ^ k1, static_cast<std::uint32_t>(p0)}};
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    return c;
  }

  SEXTANT_HD std::uint32_t bits(std::uint64_t draw) const { return words(draw).word[0]; }

  /// Uniform in [0, 1), a multiple of 2⁻²⁴.
  SEXTANT_HD float uniform(std::uint64_t draw) const {
    return static_cast<float>(bits(draw) >> 8) * 0x1p-24f;
  }

  /// Uniform in {0, …, count - 1}; the bias is below count / 2⁶⁴.
  SEXTANT_HD std::uint32_t below(std::uint32_t count, std::uint64_t draw) const {
    const Words w = words(draw);
    const std::uint64_t high = std::uint64_t{w.word[0]} * count;
    const std::uint64_t low = (std::uint64_t{w.word[1]} * count) >> 32;
    return static_cast<std::uint32_t>((high + low) >> 32);
  }

  /// Normal with mean 0 and deviation 1 (Box-Muller, in double so that the tails are right).
  SEXTANT_HD double normal(std::uint64_t draw) const {
    const Words w = words(draw);
    const double u = (static_cast<double>(w.word[0]) + 0.5) * 0x1p-32;
    const double turn = static_cast<double>(w.word[1]) * 0x1p-32;
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * turn);
  }
};

}  // namespace sextant
