// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/core/simd/points.h"
#include "tests/devices.h"
#include "tests/instruction_sets.h"

// Every operation of the layer against plain numbers, for every instruction set and width.

namespace sextant {
namespace {

using namespace detail;

constexpr int kCount = 16;  // numbers in a case; packs of fewer lanes take several turns
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Ordinary numbers and, in some places, those that need care.
std::vector<float> numbers(std::uint64_t seed) {
  const Random random{seed, 0};
  std::vector<float> all;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    all.push_back(static_cast<float>(10 * random.normal(i)));
  }
  all[1] = NAN;
  all[2] = 0.0f;
  all[3] = -0.0f;
  all[4] = kInfinity;
  all[5] = -kInfinity;
  all[6] = 1.0f;
  return all;
}

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

/// Calls test(pack) with an empty pack of 4, 8 and 16 lanes for each instruction set.
template <class T, class Test>
struct ForEachPack {
  const Test& test;
  template <class Set>
  void operator()(Set) const {
    test(Lanes<T, 4, Set>());
    test(Lanes<T, 8, Set>());
    test(Lanes<T, 16, Set>());
  }
};
template <class T, class Test>
void for_each_pack(const Test& test) {
  testing::for_each_instruction_set(
      [&](InstructionSet) { run_widest(ForEachPack<T, Test>{test}); });
}

TEST(Simd, ArithmeticComparisonAndChoiceAreThoseOfEachLane) {
  const std::vector<float> a = numbers(testing::seed_of_test());
  std::vector<float> b = numbers(testing::seed_of_test() + 1);
  b[4] = kInfinity;
  b[7] = a[7];
  for_each_pack<float>([&](auto pack) {
    using Pack = decltype(pack);
    using Math = LaneMath<Pack>;
    for (int first = 0; first < kCount; first += Pack::kCount) {
      const Pack x = Pack::load(&a[static_cast<std::size_t>(first)]);
      const Pack y = Pack::load(&b[static_cast<std::size_t>(first)]);
      const Pack sum = x + y, difference = x - y, product = x * y, ratio = x / y, opposite = -x;
      const Pack chosen = Math::select(x < y, x, y);
      const Pack small = Math::smaller(x, y), large = Math::larger(x, y), size = Math::magnitude(x);
      for (int i = 0; i < Pack::kCount; ++i) {
        const float p = a[static_cast<std::size_t>(first + i)];
        const float q = b[static_cast<std::size_t>(first + i)];
        SCOPED_TRACE(::testing::Message() << p << " and " << q);
        const auto same = [](float got, float expected) {
          return (std::isnan(got) && std::isnan(expected)) || bits_of(got) == bits_of(expected);
        };
        EXPECT_TRUE(same(sum.lane(i), p + q));
        EXPECT_TRUE(same(difference.lane(i), p - q));
        EXPECT_TRUE(same(product.lane(i), p * q));
        EXPECT_TRUE(same(ratio.lane(i), p / q));
        EXPECT_TRUE(same(opposite.lane(i), -p));
        EXPECT_TRUE(same(chosen.lane(i), p < q ? p : q));
        EXPECT_TRUE(same(small.lane(i), q < p ? q : p));
        EXPECT_TRUE(same(large.lane(i), p < q ? q : p));
        EXPECT_TRUE(same(size.lane(i), std::abs(p)));
        const auto holds = [&](const typename Pack::Mask& mask) { return mask.bits() >> i & 1; };
        EXPECT_EQ(holds(x < y), p < q);
        EXPECT_EQ(holds(x <= y), p <= q);
        EXPECT_EQ(holds(x > y), p > q);
        EXPECT_EQ(holds(x >= y), p >= q);
        EXPECT_EQ(holds(x == y), p == q);
        EXPECT_EQ(holds((x < y) & (y < Pack(1.0f))), p < q && q < 1.0f);
        EXPECT_EQ(holds((x < y) | (y < Pack(1.0f))), p < q || q < 1.0f);
      }
      EXPECT_EQ((x == x).any(), true);
      EXPECT_EQ((x < Pack(-kInfinity)).any(), false);
    }
  });
}

TEST(Simd, IntegersCountWhereAMaskHolds) {
  for_each_pack<std::int32_t>([](auto pack) {
    using Pack = decltype(pack);
    std::vector<std::int32_t> steps(Pack::kCount);
    std::iota(steps.begin(), steps.end(), 0);
    const Pack index = Pack::load(steps.data());
    Pack count(5);
    count.count_up(index < Pack(3));
    count.count_up(index == Pack(1));
    for (int i = 0; i < Pack::kCount; ++i) EXPECT_EQ(count.lane(i), 5 + (i < 3) + (i == 1));
    EXPECT_EQ(index.sum(), Pack::kCount * (Pack::kCount - 1) / 2);
    const Pack chosen = LaneMath<Pack>::select(index < Pack(2), Pack(-1), index);
    EXPECT_EQ(chosen.lane(1), -1);
    EXPECT_EQ(chosen.lane(2), 2);
  });
  for_each_pack<std::int64_t>([](auto pack) {
    using Pack = decltype(pack);
    const std::int64_t large = std::int64_t{1} << 40;
    Pack count;
    count.count_up(Pack(large) > Pack(large - 1));
    EXPECT_EQ(count.sum(), Pack::kCount);
  });
}

TEST(Simd, SumsHalveUntilOneIsLeft) {
  const Random random{testing::seed_of_test(), 0};
  std::vector<float> values;
  for (std::uint64_t i = 0; i < kCount; ++i) values.push_back(static_cast<float>(random.normal(i)));
  for_each_pack<float>([&](auto pack) {
    using Pack = decltype(pack);
    std::vector<float> rest(values.begin(), values.begin() + Pack::kCount);
    for (std::size_t half = Pack::kCount / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) rest[i] += rest[i + half];
    }
    EXPECT_EQ(Pack::load(values.data()).sum(), rest[0]);
  });
}

TEST(Simd, CompressKeepsTheOrder) {
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), 1.0f);
  for_each_pack<float>([&](auto pack) {
    using Pack = decltype(pack);
    for (std::uint32_t chosen = 0; chosen < 1u << Pack::kCount; chosen += 1 + chosen / 97) {
      std::vector<float> keep, expected;
      for (int i = 0; i < Pack::kCount; ++i) {
        keep.push_back(chosen >> i & 1 ? 1.0f : 0.0f);
        if (chosen >> i & 1) expected.push_back(values[static_cast<std::size_t>(i)]);
      }
      std::vector<float> to(kCount + 1, -1.0f);
      const auto mask = Pack::load(keep.data()) > Pack(0.5f);
      ASSERT_EQ(mask.bits(), chosen);
      const int count = Pack::load(values.data()).compress(mask, to.data());
      ASSERT_EQ(count, static_cast<int>(expected.size()));
      ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to.begin()));
      ASSERT_EQ(to[static_cast<std::size_t>(Pack::kCount)], -1.0f);  // no more than a pack
    }
  });
}

TEST(Simd, ConversionsCutAndKeep) {
  for_each_pack<float>([](auto pack) {
    using Pack = decltype(pack);
    const Pack value = LaneMath<Pack>::whole(Pack(-2.75f));
    EXPECT_EQ(value.lane(Pack::kCount - 1), -2.0f);
    EXPECT_EQ(convert<std::int32_t>(Pack(7.9f)).lane(0), 7);
    if constexpr (Pack::kCount == 4) {
      const float four[] = {0.1f, -3.0f, 1e30f, 0.0f};
      const auto doubles = convert<double>(Pack::load(four));
      for (int i = 0; i < 4; ++i) EXPECT_EQ(doubles.lane(i), static_cast<double>(four[i]));
      EXPECT_EQ(doubles.sum(), (double{four[0]} + four[2]) + (double{four[1]} + four[3]));
    }
  });
}

TEST(Simd, RootsKeepTheirPromise) {
  for_each_pack<float>([](auto pack) {
    using Pack = decltype(pack);
    using Math = LaneMath<Pack>;
    for (float value = 1e-30f; value < 1e30f; value *= 1.37f) {
      const double root = std::sqrt(static_cast<double>(value));
      const float tolerance = static_cast<float>(3 * 1.2e-7);
      EXPECT_NEAR(Math::square_root(Pack(value)).lane(0) / root, 1.0, tolerance);
      EXPECT_NEAR(Math::inverse_square_root(Pack(value)).lane(1) * root, 1.0, tolerance);
      EXPECT_NEAR(Math::rough_inverse_square_root(Pack(value)).lane(2) * root, 1.0, 5e-6);
    }
    EXPECT_EQ(Math::square_root(Pack(0.0f)).lane(0), 0.0f);
  });
}

TEST(Simd, PowersOfTwoKeepTheirPromise) {
  for_each_pack<float>([](auto pack) {
    using Pack = decltype(pack);
    using Math = LaneMath<Pack>;
    for (float exponent = -120.0f; exponent < 120.0f; exponent += 0.0371f) {
      const double expected = std::exp2(static_cast<double>(exponent));
      ASSERT_NEAR(Math::quick_exp2(Pack(exponent)).lane(0) / expected, 1.0, 3e-7) << exponent;
      ASSERT_NEAR(Math::rough_exp2(Pack(exponent)).lane(0) / expected, 1.0, 3e-6) << exponent;
    }
    EXPECT_LE(Math::rough_exp2(Pack(-1e36f)).lane(0), std::exp2(-124.9f));
  });
}

struct FusedOrNot {
  template <class Set>
  void operator()(Set) const {
    using Pack = FloatLanes<Set::kFloats, Set>;
    const float a = 1.0f + 1e-4f;
    const float rounded_once = std::fma(a, a, -1.0f);
    const float rounded_twice = a * a - 1.0f;
    ASSERT_NE(rounded_once, rounded_twice);
    EXPECT_EQ(LaneMath<Pack>::multiply_add(Pack(a), Pack(a), Pack(-1.0f)).lane(0),
              Set::kFused ? rounded_once : rounded_twice);
  }
};
TEST(Simd, MultiplyAddRoundsOnceWhereTheSetFuses) {
  testing::for_each_instruction_set([](InstructionSet) { run_widest(FusedOrNot{}); });
}

TEST(Simd, PointsBecomeCoordinatesAndBack) {
  for_each_pack<float>([](auto pack) {
    using Pack = decltype(pack);
    std::vector<Vec3f> points, back(Pack::kCount);
    for (int i = 0; i < Pack::kCount; ++i) {
      const float at = static_cast<float>(i);
      points.push_back({at, at + 100, at + 200});
    }
    const Vec3<Pack> loaded = load_points<Pack>(points.data());
    for (int i = 0; i < Pack::kCount; ++i) {
      EXPECT_EQ(loaded.x.lane(i), static_cast<float>(i));
      EXPECT_EQ(loaded.y.lane(i), static_cast<float>(i + 100));
      EXPECT_EQ(loaded.z.lane(i), static_cast<float>(i + 200));
    }
    store_points(loaded, back.data());
    EXPECT_TRUE(testing::same_bytes(points, back));
    if constexpr (Pack::kParts == 1) {
      EXPECT_EQ(shifted<1>(loaded.x, loaded.y).lane(0), 1.0f);
      EXPECT_EQ(shifted<1>(loaded.x, loaded.y).lane(Pack::kCount - 1), 100.0f);
    }
  });
}

/// Sums of products at the ends of both ranges and in between, beside plain integers.
struct SumBytes {
  template <class Set>
  void operator()(Set, const std::vector<std::uint8_t>& bytes, const std::int8_t (&factors)[4],
                  std::vector<std::int32_t>& sums) const {
    using Dot = ByteDot<Set>;
    typename Dot::V row, sum;
    PlainRegister<std::int32_t, Set::kBytes>::load(bytes.data(), row);
    PlainRegister<std::int32_t, Set::kBytes>::fill(7, sum);
    typename Dot::Factor factor;
    Dot::prepare(factors, factor);
    Dot::add(row, factor, sum);
    Dot::add(row, factor, sum);
    sums.resize(Set::kBytes / sizeof(std::int32_t));
    PlainRegister<std::int32_t, Set::kBytes>::store(sum, sums.data());
  }
};

TEST(Simd, BytesAreMultipliedAndAddedExactly) {
  const std::int8_t factors[4] = {-128, 127, -1, 5};
  std::vector<std::uint8_t> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i < 8 ? 255 : 37 * i);
  }
  testing::for_each_instruction_set([&](InstructionSet) {
    std::vector<std::int32_t> sums;
    run_widest_bytes(SumBytes{}, bytes, factors, sums);
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      std::int32_t expected = 7;
      for (std::size_t b = 0; b < 4; ++b) expected += 2 * bytes[4 * lane + b] * factors[b];
      EXPECT_EQ(sums[lane], expected) << lane;
    }
  });
}

TEST(Simd, TheLimitHolds) {
  for (const InstructionSet set : {InstructionSet::kPortable, InstructionSet::kAvx2,
                                   InstructionSet::kAvx512, InstructionSet::kAvx512Vnni}) {
    const InstructionSetLimit limit(set);
    EXPECT_EQ(chosen_instruction_set(), std::min(set, supported_instruction_set()));
  }
  EXPECT_EQ(chosen_instruction_set(), supported_instruction_set());
}

}  // namespace
}  // namespace sextant
