// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sextant {
namespace {

TEST(Random, KnownAnswers) {
  // The published test vectors of Philox 4×32-10: counter words, then key words.
  const auto zero = Random{0, 0}.words(0);
  EXPECT_EQ(zero.word[0], 0x6627e8d5u);
  EXPECT_EQ(zero.word[1], 0xe169c58du);
  EXPECT_EQ(zero.word[2], 0xbc57ac4cu);
  EXPECT_EQ(zero.word[3], 0x9b00dbd8u);
  const auto ones = Random{~0ull, ~0ull}.words(~0ull);
  EXPECT_EQ(ones.word[0], 0x408f276du);
  EXPECT_EQ(ones.word[3], 0x6d5451fdu);
  const auto pi = Random{0x299f31d0a4093822ull, 0x0370734413198a2eull}.words(0x85a308d3243f6a88ull);
  EXPECT_EQ(pi.word[0], 0xd16cfe09u);
  EXPECT_EQ(pi.word[1], 0x94fdccebu);
  EXPECT_EQ(pi.word[2], 0x5001e420u);
  EXPECT_EQ(pi.word[3], 0x24126ea1u);
}

TEST(Random, MomentsAndRange) {
  constexpr int kDraws = 200000;
  const Random random{7, 3};
  double mean = 0, normal_mean = 0, normal_square = 0;
  std::vector<int> faces(6, 0);
  for (int i = 0; i < kDraws; ++i) {
    const float u = random.uniform(i);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    mean += u;
    const double n = random.normal(i);
    ASSERT_TRUE(std::isfinite(n));
    normal_mean += n;
    normal_square += n * n;
    ++faces.at(random.below(6, i));
  }
  // Five standard deviations of the sample means.
  EXPECT_NEAR(mean / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(normal_mean / kDraws, 0, 5 * std::sqrt(1.0 / kDraws));
  EXPECT_NEAR(normal_square / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  for (const int count : faces) {
    EXPECT_NEAR(count, kDraws / 6.0, 5 * std::sqrt(kDraws * 5.0 / 36));
  }
}

TEST(Random, NormalIsThatOfTheLibrarysLogarithmAndCosine) {
  // Rounding of u's logarithm, of the root and of the angle; normals reach 6.7.
  constexpr double kBound = 8 * 2.3e-16;
  for (int i = 0; i < 100000; ++i) {
    const Random random{11, static_cast<std::uint64_t>(i)};
    const Random::Words w = random.words(2);
    const double length = std::sqrt(-2.0 * std::log((w.word[0] + 0.5) * 0x1p-32));
    const double turn = w.word[1] * 0x1p-32;
    ASSERT_NEAR(random.normal(2), length * std::cos(6.283185307179586 * turn), kBound * 6.7) << i;
  }
}

TEST(Random, ItemsAndSeedsAreIndependent) {
  EXPECT_NE((Random{1, 0}.bits(0)), (Random{2, 0}.bits(0)));
  EXPECT_NE((Random{1, 0}.bits(0)), (Random{1, 1}.bits(0)));
  EXPECT_EQ((Random{1, 5}.bits(9)), (Random{1, 5}.bits(9)));
  EXPECT_EQ((Random{1, 5}.below(1, 9)), 0u);
}

}  // namespace
}  // namespace sextant
