// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cholesky.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

/// Normal equations of `rows` random lines with N unknowns.
template <int N>
SymN<double, N> random_normal_equations(const Random& random, std::uint64_t& draw, int rows) {
  SymN<double, N> m;
  for (int r = 0; r < rows; ++r) {
    double row[N];
    for (double& value : row) value = random.normal(draw++);
    m.add_outer(row, 1.0);
  }
  return m;
}

template <int N>
Eigen::Matrix<double, N, N> to_eigen(const SymN<double, N>& m) {
  Eigen::Matrix<double, N, N> result;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < N; ++j) result(i, j) = m.at(i, j);
  }
  return result;
}

template <int N>
void expect_solutions() {
  const Random random{testing::seed_of_test(), N};
  std::uint64_t draw = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto m = random_normal_equations<N>(random, draw, 3 * N);
    Eigen::Matrix<double, N, 1> x;
    for (int i = 0; i < N; ++i) x(i) = random.normal(draw++);
    const Eigen::Matrix<double, N, 1> right = to_eigen(m) * x;
    double b[N];
    double c[N];
    for (int i = 0; i < N; ++i) b[i] = c[i] = right(i);
    const auto llt = cholesky(m);
    ASSERT_TRUE(llt.ok);
    llt.solve(b);
    const auto pivoted = ldlt(m, 1e-12);
    ASSERT_EQ(pivoted.rank, N);
    pivoted.solve(c);
    for (int i = 0; i < N; ++i) {
      EXPECT_NEAR(b[i], x(i), 1e-9);
      EXPECT_NEAR(c[i], x(i), 1e-9);
    }
  }
}

TEST(Cholesky, SolvesNormalEquations) {
  expect_solutions<1>();
  expect_solutions<2>();
  expect_solutions<3>();
  expect_solutions<6>();
  expect_solutions<12>();
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  SymN<double, 2> m;
  m.at(0, 0) = 1;
  m.at(1, 0) = 2;
  m.at(1, 1) = 1;
  EXPECT_FALSE(cholesky(m).ok);
  m.at(1, 1) = NAN;
  EXPECT_FALSE(cholesky(m).ok);
  EXPECT_FALSE((cholesky(SymN<float, 6>{}).ok));
}

TEST(Ldlt, FindsTheRankAndSolvesWhatIsDetermined) {
  const Random random{testing::seed_of_test(), 0};
  std::uint64_t draw = 0;
  for (int rank = 0; rank <= 6; ++rank) {
    const auto m = random_normal_equations<6>(random, draw, rank);
    const auto factors = ldlt(m, 1e-10);
    EXPECT_EQ(factors.rank, rank);
    // A right-hand side in the range of M is met exactly.
    Eigen::Matrix<double, 6, 1> x;
    for (int i = 0; i < 6; ++i) x(i) = random.normal(draw++);
    const Eigen::Matrix<double, 6, 1> right = to_eigen(m) * x;
    double b[6];
    for (int i = 0; i < 6; ++i) b[i] = right(i);
    factors.solve(b);
    const Eigen::Map<const Eigen::Matrix<double, 6, 1>> solution(b);
    EXPECT_LE((to_eigen(m) * solution - right).norm(), 1e-8 * (1 + right.norm()));
  }
}

}  // namespace
}  // namespace sextant
