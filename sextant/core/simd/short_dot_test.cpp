// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/simd/short_dot.h"

#include <gtest/gtest.h>

#include "tests/instruction_sets.h"

namespace sextant::detail {
namespace {

struct SumShort {
  template <class Set>
  void operator()(Set, const std::vector<std::uint8_t>& bytes, std::int32_t factors,
                  std::vector<std::int32_t>& sums) const {
    using Dot = ShortDot<Set>;
    typename Dot::V row, whole;
    typename Dot::Sum sum{};
    PlainRegister<std::int32_t, Set::kBytes>::load(bytes.data(), row);
    Dot::add(row, factors, sum);
    Dot::add(row, factors, sum);
    Dot::finish(sum, whole);
    sums.resize(Set::kBytes / sizeof(std::int32_t));
    PlainRegister<std::int32_t, Set::kBytes>::store(whole, sums.data());
  }
};

TEST(ShortDot, MultipliesAndAddsExactly) {
  std::vector<std::uint8_t> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(37 * i % 60);
  }
  bytes[3] = bytes[11] = 127;
  testing::for_each_instruction_set([&](InstructionSet) {
    std::vector<std::int32_t> sums;
    run_widest(SumShort{}, bytes, 0x017f4003, sums);
    ASSERT_FALSE(sums.empty());
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      const std::uint8_t* b = &bytes[4 * lane];
      EXPECT_EQ(sums[lane], 2 * (3 * b[0] + 64 * b[1] + 127 * b[2] + b[3])) << lane;
    }
  });
}

}  // namespace
}  // namespace sextant::detail
