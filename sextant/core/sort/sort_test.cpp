// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

template <class Key>
Key random_key(const Random& random) {
  if constexpr (std::is_same_v<Key, float>) {
    return static_cast<float>(random.normal(0)) * 1000;
  } else {
    const auto words = random.words(0);
    return static_cast<Key>((std::uint64_t{words.word[0]} << 32) | words.word[1]);
  }
}

std::vector<std::uint32_t> iota(std::size_t count) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0u);
  return values;
}

template <class Key>
class SortTest : public ::testing::Test {};
using Keys = ::testing::Types<std::uint32_t, std::uint64_t, float>;
TYPED_TEST_SUITE(SortTest, Keys);

TYPED_TEST(SortTest, EqualsStableSort) {
  using Key = TypeParam;
  const std::uint64_t seed = testing::seed_of_test();
  for (const std::int64_t size : {0, 1, 2, 3, 1000, 4096, 4097, 200003, 270001}) {
    std::vector<Key> keys(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = random_key<Key>({seed, i});
    // Half of the keys again, so that equal keys show whether their order is kept.
    for (std::size_t i = 1; i < keys.size(); i += 2) keys[i] = keys[i / 2];
    std::vector<std::uint32_t> order = iota(keys.size());
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return keys[a] < keys[b]; });
    std::vector<Key> sorted;
    for (const std::uint32_t index : order) sorted.push_back(keys[index]);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      Buffer<Key> there = copy(context, keys);
      Buffer<std::uint32_t> values = copy(context, iota(keys.size()));
      sort_pairs<Key>(context, there, values);
      EXPECT_EQ(to_host(context, there), sorted);
      EXPECT_EQ(to_host(context, values), order);
      Buffer<Key> alone = copy(context, keys);
      sort_keys<Key>(context, alone);
      EXPECT_EQ(to_host(context, alone), sorted);
    }
  }
}

TEST(Sort, LooksAtTheGivenBitsOnly) {
  std::vector<std::uint32_t> keys;
  for (std::uint32_t i = 0; i < 5000; ++i) keys.push_back((i * 2654435761u) ^ i);
  for (const SortBits bits : {SortBits{0, 5}, SortBits{4, 13}, SortBits{20, 32}, SortBits{8, 8}}) {
    std::vector<std::uint32_t> expected = keys;
    const std::uint64_t mask = (std::uint64_t{1} << (bits.end - bits.begin)) - 1;
    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ((a >> bits.begin) & mask) < ((b >> bits.begin) & mask);
    });
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      Buffer<std::uint32_t> there = copy(context, keys);
      sort_keys<std::uint32_t>(context, there, bits);
      EXPECT_EQ(to_host(context, there), expected);
    }
  }
}

TEST(Sort, OddFloats) {
  const float inf = INFINITY;
  const float nan = NAN;
  const std::vector<float> keys{nan, 1, inf, 0.0f, -nan, -0.0f, -inf, 1e-45f, 0.0f};
  // Zeros of both signs are equal and keep their order.
  const std::vector<float> expected{-nan, -inf, 0.0f, -0.0f, 0.0f, 1e-45f, 1, inf, nan};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<float> there = copy(context, keys);
    sort_keys<float>(context, there);
    const std::vector<float> sorted = to_host(context, there);
    EXPECT_EQ(std::memcmp(sorted.data(), expected.data(), sizeof(float) * sorted.size()), 0);
  }
}

TEST(Sort, Misuse) {
  const Context context = Context::cpu();
  Buffer<std::uint32_t> keys(context, 4);
  Buffer<std::uint32_t> values(context, 3);
  EXPECT_THROW(sort_pairs<std::uint32_t>(context, keys, values), Error);
  EXPECT_THROW(sort_keys<std::uint32_t>(context, keys, {5, 3}), Error);
  EXPECT_THROW(sort_keys<std::uint32_t>(context, keys, {0, 33}), Error);
}

}  // namespace
}  // namespace sextant
