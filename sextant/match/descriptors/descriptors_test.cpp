// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/descriptors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/instruction_sets.h"
#include "tests/steady_state.h"

namespace sextant {
namespace {

using testing::all_contexts;
using testing::describe;

template <class T>
struct Rows {
  std::vector<T> values;
  int length;
  std::int64_t count() const { return static_cast<std::int64_t>(values.size()) / length; }
};

Rows<std::uint8_t> random_bytes(std::int64_t rows, int length, std::uint64_t seed) {
  Rows<std::uint8_t> result{std::vector<std::uint8_t>(rows * length), length};
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    result.values[i] = static_cast<std::uint8_t>(Random{seed, i}.bits(0));
  }
  return result;
}

/// Non-negative and of length 1, as SHOT is.
Rows<float> random_floats(std::int64_t rows, int length, std::uint64_t seed) {
  Rows<float> result{std::vector<float>(rows * length), length};
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0.0;
    float* row = result.values.data() + r * length;
    for (int i = 0; i < length; ++i) {
      const float u = Random{seed, static_cast<std::uint64_t>(r)}.uniform(i);
      row[i] = u * u * u;
      sum += static_cast<double>(row[i]) * row[i];
    }
    for (int i = 0; i < length; ++i) row[i] /= static_cast<float>(std::sqrt(sum));
  }
  return result;
}

struct Expected {
  std::vector<std::int32_t> indices;
  std::vector<double> distances_sq;
};

/// Every distance in double precision, sorted.
template <class T>
Expected brute_force(const Rows<T>& queries, const Rows<T>& base,
                     const std::vector<std::int32_t>& ends, int k) {
  Expected expected;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    const std::int32_t begin = s == 0 ? 0 : ends[s - 1];
    for (std::int64_t q = 0; q < queries.count(); ++q) {
      std::vector<std::pair<double, std::int32_t>> all;
      for (std::int32_t r = begin; r < ends[s]; ++r) {
        double sum = 0.0;
        for (int i = 0; i < base.length; ++i) {
          const double d = static_cast<double>(queries.values[q * base.length + i]) -
                           static_cast<double>(base.values[std::int64_t{r} * base.length + i]);
          sum += d * d;
        }
        if (std::isfinite(sum)) all.emplace_back(sum, r);
      }
      std::sort(all.begin(), all.end());
      all.resize(static_cast<std::size_t>(k),
                 {std::numeric_limits<double>::infinity(), std::int32_t{-1}});
      for (const auto& [distance_sq, index] : all) {
        expected.indices.push_back(index);
        expected.distances_sq.push_back(distance_sq);
      }
    }
  }
  return expected;
}

struct Found {
  std::vector<std::int32_t> indices;
  std::vector<float> distances_sq;
};

template <class T>
Found find(const Context& context, const Rows<T>& queries, const Rows<T>& base, int k,
           const std::vector<std::int32_t>& ends = {}) {
  const Buffer<T> q = copy(context, queries.values);
  const Buffer<T> b = copy(context, base.values);
  const Buffer<std::int32_t> e = copy(context, ends);
  const NearestDescriptors nearest =
      nearest_descriptors(context, DescriptorRows<T>{q, queries.length},
                          DescriptorRows<T>{b, base.length}, {.k = k}, e);
  EXPECT_EQ(nearest.queries, queries.count());
  return {to_host(context, nearest.indices), to_host(context, nearest.distances_sq)};
}

/// Distances may round once; rows whose distances are closer than that may change places.
void expect_found(const Found& found, const Expected& expected, double tolerance) {
  ASSERT_EQ(found.indices.size(), expected.indices.size());
  for (std::size_t i = 0; i < found.indices.size(); ++i) {
    ASSERT_EQ(found.indices[i], expected.indices[i]) << i;
    if (expected.indices[i] < 0) {
      ASSERT_EQ(found.distances_sq[i], INFINITY) << i;
    } else {
      ASSERT_NEAR(found.distances_sq[i], expected.distances_sq[i],
                  tolerance * expected.distances_sq[i])
          << i;
    }
  }
}

TEST(NearestDescriptors, BytesAreExact) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    for (const auto [queries, rows, length, k] : {std::array{1, 1, 128, 1},
                                                  {300, 1000, 128, 2},
                                                  {65, 129, 128, 8},
                                                  {7, 200, 61, 3},
                                                  {257, 64, 1, 2},
                                                  {3, 5, 4, 8}}) {
      const auto q = random_bytes(queries, length, 1);
      const auto b = random_bytes(rows, length, 2);
      expect_found(find(context, q, b, k), brute_force(q, b, {rows}, k), 0.0);
    }
  }
}

TEST(NearestDescriptors, BytesAtTheEndsOfTheirRange) {
  Rows<std::uint8_t> q{std::vector<std::uint8_t>(2 * 128, 255), 128};
  std::fill(q.values.begin() + 128, q.values.end(), std::uint8_t{0});
  Rows<std::uint8_t> b = q;
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Found found = find(context, q, b, 2);
    EXPECT_EQ(found.indices, (std::vector<std::int32_t>{0, 1, 1, 0}));
    EXPECT_EQ(found.distances_sq, (std::vector<float>{0.0f, 8323200.0f, 0.0f, 8323200.0f}));
  }
}

TEST(NearestDescriptors, FloatsAreExact) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    for (const auto [queries, rows, length, k] : {std::array{1, 1, 352, 1},
                                                  {200, 700, 352, 2},
                                                  {130, 260, 33, 8},
                                                  {5, 3, 1344, 4},
                                                  {3, 140, 4096, 2}}) {
      const auto q = random_floats(queries, length, 3);
      const auto b = random_floats(rows, length, 4);
      expect_found(find(context, q, b, k), brute_force(q, b, {rows}, k), 1e-7);
    }
  }
}

TEST(NearestDescriptors, EqualRowsComeInTheirOrder) {
  Rows<float> b = random_floats(1, 352, 5);
  const Rows<float> q = b;
  Rows<std::uint8_t> b8 = random_bytes(1, 128, 6);
  const Rows<std::uint8_t> q8 = b8;
  // More equal rows than any list holds.
  for (int i = 0; i < 9; ++i) {
    b.values.insert(b.values.end(), b.values.begin(), b.values.end());
    b8.values.insert(b8.values.end(), b8.values.begin(), b8.values.end());
  }
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const std::vector<std::int32_t> first{0, 1, 2, 3, 4};
    EXPECT_EQ(find(context, q, b, 5).indices, first);
    EXPECT_EQ(find(context, q8, b8, 5).indices, first);
    EXPECT_EQ(find(context, q8, b8, 5).distances_sq, std::vector<float>(5, 0.0f));
  }
}

TEST(NearestDescriptors, FloatsThatDifferInTheLastBitsAreToldApart) {
  // The nearest is the last of many that products of half precision cannot tell apart.
  const int length = 352;
  Rows<float> q = random_floats(4, length, 7);
  Rows<float> b{{}, length};
  for (int r = 0; r < 400; ++r) {
    std::vector<float> row(q.values.begin(), q.values.begin() + length);
    row[static_cast<std::size_t>(r) % row.size()] += 1e-4f - 1e-7f * static_cast<float>(r);
    b.values.insert(b.values.end(), row.begin(), row.end());
  }
  const Expected expected = brute_force(q, b, {400}, 3);
  EXPECT_EQ(expected.indices[0], 399);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    expect_found(find(context, q, b, 3), expected, 1e-7);
  }
}

TEST(NearestDescriptors, OfEverySize) {
  // Norms from 1e-9 to 1e9 in one base.
  Rows<float> q = random_floats(60, 40, 8);
  Rows<float> b = random_floats(300, 40, 9);
  for (std::int64_t r = 0; r < b.count(); ++r) {
    const float scale = std::pow(10.0f, static_cast<float>(r % 19 - 9));
    for (int i = 0; i < b.length; ++i) b.values[r * b.length + i] *= scale;
  }
  for (std::int64_t r = 0; r < q.count(); ++r) {
    const float scale = std::pow(10.0f, static_cast<float>(r % 19 - 9));
    for (int i = 0; i < q.length; ++i) q.values[r * q.length + i] *= scale;
  }
  const Expected expected = brute_force(q, b, {300}, 2);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Found found = find(context, q, b, 2);
    for (std::size_t i = 0; i < found.indices.size(); ++i) {
      ASSERT_NEAR(found.distances_sq[i], expected.distances_sq[i], 1e-6 * expected.distances_sq[i]);
    }
  }
}

TEST(NearestDescriptors, OfTheSmallestNumbers) {
  // Squares that are no normal numbers of single precision.
  const Rows<float> q = random_floats(30, 64, 24);
  const Rows<float> b = random_floats(200, 64, 25);
  for (const float scale : {1e-19f, 1e-21f, 1e-23f}) {
    SCOPED_TRACE(scale);
    Rows<float> small_q = q, small_b = b;
    for (float& x : small_q.values) x *= scale;
    for (float& x : small_b.values) x *= scale;
    const Expected expected = brute_force(small_q, small_b, {200}, 2);
    for (const Context& context : all_contexts()) {
      SCOPED_TRACE(describe(context));
      EXPECT_EQ(find(context, small_q, small_b, 2).indices, expected.indices);
    }
  }
}

TEST(NearestDescriptors, AmongVeryManyRows) {
  // So many that a GPU splits them into parts that are longer than what it looks at first.
  const auto q8 = random_bytes(5, 16, 26);
  const auto b8 = random_bytes(300000, 16, 27);
  const auto q = random_floats(3, 8, 28);
  const auto b = random_floats(100000, 8, 29);
  const Expected bytes = brute_force(q8, b8, {300000}, 3);
  const Expected floats = brute_force(q, b, {100000}, 3);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    expect_found(find(context, q8, b8, 3), bytes, 0.0);
    expect_found(find(context, q, b, 3), floats, 1e-6);
  }
}

TEST(NearestDescriptors, SegmentsHaveTheirOwnNeighbours) {
  const std::vector<std::int32_t> ends{0, 3, 130, 130, 400};
  const auto q8 = random_bytes(70, 128, 10);
  const auto b8 = random_bytes(400, 128, 11);
  const auto q = random_floats(70, 96, 12);
  const auto b = random_floats(400, 96, 13);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    expect_found(find(context, q8, b8, 4, ends), brute_force(q8, b8, ends, 4), 0.0);
    expect_found(find(context, q, b, 4, ends), brute_force(q, b, ends, 4), 1e-7);
  }
}

TEST(NearestDescriptors, RowsThatAreNotFiniteTakeNoPart) {
  auto q = random_floats(10, 352, 14);
  auto b = random_floats(50, 352, 15);
  q.values[3 * 352 + 17] = NAN;
  b.values[4 * 352] = NAN;
  b.values[5 * 352 + 351] = INFINITY;
  b.values[6 * 352] = 1e30f;
  std::vector<std::int32_t> none;
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Found found = find(context, q, b, 8);
    for (std::size_t i = 0; i < found.indices.size(); ++i) {
      const std::int32_t index = found.indices[i];
      EXPECT_TRUE(index < 4 || index > 6) << i;
      EXPECT_EQ(index == -1, i / 8 == 3) << i;
    }
  }
}

TEST(NearestDescriptors, EmptySidesAreFine) {
  const auto some = random_bytes(5, 128, 16);
  const Rows<std::uint8_t> nothing{{}, 128};
  const Rows<float> no_floats{{}, 352};
  const auto floats = random_floats(5, 352, 17);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    EXPECT_TRUE(find(context, nothing, some, 2).indices.empty());
    EXPECT_EQ(find(context, some, nothing, 2).indices, std::vector<std::int32_t>(10, -1));
    EXPECT_TRUE(find(context, no_floats, floats, 2).indices.empty());
    EXPECT_EQ(find(context, floats, no_floats, 2).indices, std::vector<std::int32_t>(10, -1));
  }
}

TEST(NearestDescriptors, BitsAreTheSameEverywhere) {
  const auto q = random_floats(150, 352, 18);
  const auto b = random_floats(900, 352, 19);
  const Found reference = find(Context::cpu(1), q, b, 3);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Found found = find(context, q, b, 3);
    EXPECT_TRUE(testing::same_bytes(found.distances_sq, reference.distances_sq));
    EXPECT_EQ(found.indices, reference.indices);
  }
  testing::expect_same_bits_on_every_set(
      [&] { return find(Context::cpu(2), q, b, 3).distances_sq; });
  const auto q8 = random_bytes(100, 128, 20);
  const auto b8 = random_bytes(500, 128, 21);
  testing::expect_same_bits_on_every_set(
      [&] { return find(Context::cpu(2), q8, b8, 3).distances_sq; });
}

TEST(NearestDescriptors, ASecondCallAllocatesNothingAndDoesNotWait) {
  const auto q = random_floats(150, 352, 22);
  const auto b = random_floats(900, 352, 23);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Buffer<float> queries = copy(context, q.values);
    const Buffer<float> base = copy(context, b.values);
    const Buffer<std::int32_t> ends = copy(context, std::vector<std::int32_t>{900});
    Buffer<std::int32_t> indices(context, 300);
    Buffer<float> distances_sq(context, 300);
    Workspace workspace;
    const auto run = [&] {
      nearest_descriptors_into(context, DescriptorRows<float>{queries, 352},
                               DescriptorRows<float>{base, 352}, ends, {.k = 2}, indices,
                               distances_sq, workspace);
    };
    run();
    testing::expect_steady(context, run);
    EXPECT_EQ(testing::launch_recorded(context, run), 0);
  }
}

TEST(NearestDescriptors, WrongArgumentsAreNamed) {
  const Context context = Context::cpu();
  const std::vector<float> values(12);
  const DescriptorRows<float> threes{view_of(values), 3};
  const DescriptorRows<float> fours{view_of(values), 4};
  const DescriptorRows<float> fives{view_of(values), 5};
  using testing::error_message;
  EXPECT_NE(error_message([&] { nearest_descriptors(context, threes, fours); }).find("queries"),
            std::string::npos);
  EXPECT_NE(error_message([&] { nearest_descriptors(context, fives, fives); }).find("whole rows"),
            std::string::npos);
  EXPECT_NE(
      error_message([&] { nearest_descriptors(context, threes, threes, {.k = 9}); }).find("k: 9"),
      std::string::npos);
}

TEST(MatchDescriptors, RatioDistanceAndMutualTests) {
  // Rows of the base at 0, 10 and 11 on a line; queries at 1, 10.4, 30 and 2.
  const Rows<float> b{{0, 10, 11}, 1};
  const Rows<float> q{{1, 10.4f, 30, 2}, 1};
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Buffer<float> queries = copy(context, q.values);
    const Buffer<float> base = copy(context, b.values);
    const DescriptorRows<float> query_rows{queries, 1};
    const DescriptorRows<float> base_rows{base, 1};
    const NearestDescriptors nearest = nearest_descriptors(context, query_rows, base_rows);
    const NearestDescriptors back = nearest_descriptors(context, base_rows, query_rows, {.k = 1});
    const auto matches = [&](const DescriptorMatchOptions& options) {
      return to_host(context, match_descriptors(context, nearest, options, back));
    };
    using Indices = std::vector<std::int32_t>;
    EXPECT_EQ(matches({.ratio = 1.0f}), (Indices{0, 1, 2, 0}));
    EXPECT_EQ(matches({.ratio = 0.5f}), (Indices{0, -1, -1, 0}));
    EXPECT_EQ(matches({.ratio = 0.7f}), (Indices{0, 1, -1, 0}));
    EXPECT_EQ(matches({.ratio = 1.0f, .mutual = true}), (Indices{0, 1, -1, -1}));
    EXPECT_EQ(matches({.ratio = 1.0f, .most_distance = 1.5f}), (Indices{0, 1, -1, -1}));
  }
}

TEST(MatchDescriptors, TheOnlyRowOfASegmentPasses) {
  const Context context = Context::cpu();
  const std::vector<float> base{0, 10};
  const std::vector<float> queries{1, 9};
  const std::vector<std::int32_t> ends{1, 2};
  const NearestDescriptors nearest =
      nearest_descriptors(context, DescriptorRows<float>{view_of(queries), 1},
                          DescriptorRows<float>{view_of(base), 1}, {}, view_of(ends));
  EXPECT_EQ(to_host(context, match_descriptors(context, nearest)),
            (std::vector<std::int32_t>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace sextant
