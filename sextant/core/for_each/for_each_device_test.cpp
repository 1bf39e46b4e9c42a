// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"

#include <gtest/gtest.h>

#include <atomic>

#include "sextant/core/buffer.h"
#include "sextant/core/eigen3.h"
#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "tests/devices.h"

namespace sextant {
namespace {

struct AddIndex {
  View<std::int64_t> values;
  SEXTANT_HD void operator()(std::int64_t i) const { values[i] += 3 * i; }
};

TEST(ForEach, VisitsEveryIndexOnce) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const std::int64_t count : {0, 1, 255, 256, 257, 1023, 1025, 100003}) {
      Buffer<std::int64_t> values =
          copy(context, std::vector<std::int64_t>(static_cast<std::size_t>(count), 7));
      for_each(context, count, AddIndex{values});
      const auto result = to_host(context, values);
      for (std::int64_t i = 0; i < count; ++i) {
        ASSERT_EQ(result[static_cast<std::size_t>(i)], 7 + 3 * i);
      }
    }
    for_each(context, -5, AddIndex{});
  }
}

TEST(ForEach, ThrowsTheErrorOfTheFunction) {
  const Context context = Context::cpu(7);
  std::atomic<int> calls{0};
  const auto failing = [&](std::int64_t begin, std::int64_t) {
    ++calls;
    if (begin >= 0) fail("chunk ", begin);
  };
  EXPECT_THROW(for_each_chunk(context, 100, 1, failing), Error);
  EXPECT_GE(calls, 1);
  EXPECT_THROW(for_each_chunk(context, 100, 0, failing), Error);
}

/// The small mathematics as kernels see it: eigenvectors, exp/log and random numbers.
struct SmallMathematics {
  std::uint64_t seed;
  View<Eigen3<float>> eigenpairs;
  View<Twist3<double>> twists;
  View<std::uint32_t> bits;

  static SEXTANT_HD Sym3f matrix(const Random& random) {
    const float u[6] = {random.uniform(0), random.uniform(1), random.uniform(2),
                        random.uniform(3), random.uniform(4), random.uniform(5)};
    // Every third matrix has two equal eigenvalues, up to rounding.
    if (random.item % 3 == 0) return outer(Vec3f{u[0], u[1], u[2]});
    return {u[0], u[1], u[2], u[3], u[4], u[5]};
  }
  static SEXTANT_HD Twist3<double> twist(const Random& random) {
    return {{random.uniform(6), random.uniform(7), random.uniform(8)},
            {random.uniform(9), random.uniform(10), random.uniform(11)}};
  }
  SEXTANT_HD void operator()(std::int64_t i) const {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    eigenpairs[i] = eigen(matrix(random));
    twists[i] = log(exp(twist(random)));
    bits[i] = random.below(1000, 12);
  }
};

TEST(ForEach, SmallMathematicsAgreesOnEveryDevice) {
  constexpr std::int64_t kCount = 30000;
  const std::uint64_t seed = testing::seed_of_test();
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Buffer<Eigen3<float>> eigenpairs(context, kCount);
    Buffer<Twist3<double>> twists(context, kCount);
    Buffer<std::uint32_t> bits(context, kCount);
    for_each(context, kCount, SmallMathematics{seed, eigenpairs, twists, bits});
    const auto pairs = to_host(context, eigenpairs);
    const auto logs = to_host(context, twists);
    const auto drawn = to_host(context, bits);
    for (std::size_t i = 0; i < kCount; ++i) {
      const Random random{seed, i};
      ASSERT_EQ(drawn[i], random.below(1000, 12));
      const Twist3<double> twist = SmallMathematics::twist(random);
      ASSERT_LE(norm(logs[i].omega_rad - twist.omega_rad), 1e-12);
      ASSERT_LE(norm(logs[i].v_m - twist.v_m), 1e-12);
      const Sym3f m = SmallMathematics::matrix(random);
      for (int k = 0; k < 3; ++k) {
        const Vec3f v = pairs[i].vectors.row[k];
        ASSERT_LE(norm(m * v - v * pairs[i].values[k]), 4e-6f);
        ASSERT_NEAR(norm(v), 1.0f, 1e-6f);
      }
    }
  }
}

}  // namespace
}  // namespace sextant
