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

  /// Draws four independent 32-bit words for draw number `draw`.
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

  /// Draws a uniform number in [0, 1), a multiple of 2⁻²⁴.
  SEXTANT_HD float uniform(std::uint64_t draw) const {
    return static_cast<float>(bits(draw) >> 8) * 0x1p-24f;
  }

  /// Draws uniformly from {0, …, count - 1}; the bias is below count / 2⁶⁴.
  SEXTANT_HD std::uint32_t below(std::uint32_t count, std::uint64_t draw) const {
    const Words w = words(draw);
    const std::uint64_t high = std::uint64_t{w.word[0]} * count;
    const std::uint64_t low = (std::uint64_t{w.word[1]} * count) >> 32;
    return static_cast<std::uint32_t>((high + low) >> 32);
  }

  /// Draws from the normal distribution with mean 0 and deviation 1 (Box-Muller, in double so that
  /// the tails are right). It is made of additions, multiplications, divisions and roots alone:
  /// where the compiler does not fuse them, CUDA gives the bits of the CPU.
  SEXTANT_HD double normal(std::uint64_t draw) const {
    const Words w = words(draw);
    const double u = (static_cast<double>(w.word[0]) + 0.5) * 0x1p-32;
    return std::sqrt(-2.0 * log_of(u)) * cosine_of_turn(w.word[1]);
  }

 private:
  /// log(u) of a positive normal number: u = m 2^e with m in [√½, √2), log m = 2 artanh(s).
  SEXTANT_HD static double log_of(double u) {
    int exponent = 0;
    double m = std::frexp(u, &exponent);
    if (m < 0.7071067811865476) {
      m *= 2;
      --exponent;
    }
    const double s = (m - 1) / (m + 1);  // below 0.172: the term s²³ is less than 1e-17 of the sum
    const double square = s * s;
    double series = 0;
    for (int odd = 21; odd >= 3; odd -= 2) series = (series + 1.0 / odd) * square;
    return exponent * 0.6931471805599453 + (2 * s + 2 * s * series);
  }

  /// cos(2π word / 2³²): the nearest quarter turn and the Taylor series of what is left, at most
  /// an eighth of a turn.
  SEXTANT_HD static double cosine_of_turn(std::uint32_t word) {
    const std::int64_t quarter = (std::int64_t{word} + (1 << 29)) >> 30;
    const double x =
        static_cast<double>(std::int64_t{word} - (quarter << 30)) * 0x1p-30 * 1.5707963267948966;
    const bool sine = quarter & 1;
    double series = 1;
    for (int n = sine ? 17 : 16; n >= 2; n -= 2) series = 1 - x * x / (n * (n - 1)) * series;
    const double value = sine ? x * series : series;
    return ((quarter + 1) & 2) != 0 ? -value : value;
  }
};

}  // namespace sextant
