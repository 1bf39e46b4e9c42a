// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/eigen_n.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

template <int N>
SymN<double, N> random_matrix(std::uint64_t item, int rank) {
  const Random random{testing::seed_of_test(), item};
  SymN<double, N> m;
  for (int r = 0; r < rank; ++r) {
    double row[N];
    for (int i = 0; i < N; ++i) row[i] = random.normal(static_cast<std::uint64_t>(r * N + i));
    m.add_outer(row, 1.0);
  }
  return m;
}

template <int N>
void expect_solved(const SymN<double, N>& m, const EigenN<double, N>& e) {
  double scale = 0;
  for (int i = 0; i < N; ++i) scale = std::max(scale, std::abs(m.at(i, i)));
  for (int k = 0; k < N; ++k) {
    for (int i = 0; i < N; ++i) {
      double product = 0;
      for (int j = 0; j < N; ++j) product += m.at(i, j) * e.vectors[k][j];
      EXPECT_NEAR(product, e.values[k] * e.vectors[k][i], 1e-13 * scale);
    }
    for (int l = 0; l < N; ++l) {
      double product = 0;
      for (int j = 0; j < N; ++j) product += e.vectors[l][j] * e.vectors[k][j];
      EXPECT_NEAR(product, l == k ? 1.0 : 0.0, 1e-14);
    }
    if (k > 0) {
      EXPECT_LE(e.values[k - 1], e.values[k]);
    }
  }
}

TEST(EigenN, SolvesRandomAndDeficientMatrices) {
  for (std::uint64_t item = 0; item < 50; ++item) {
    for (int rank : {0, 1, 3, 6, 9}) {
      const SymN<double, 6> six = random_matrix<6>(item, rank);
      const EigenN<double, 6> e = eigen_jacobi(six);
      expect_solved(six, e);
      // 16 roundings of entries of some 30 leave far less than this of what must be zero.
      for (int k = 0; k < 6 - rank; ++k) EXPECT_NEAR(e.values[k], 0.0, 1e-12);
      if (rank > 0) {
        EXPECT_GT(e.values[5], 1e-3);
      }
      const SymN<double, 4> four = random_matrix<4>(item, rank);
      expect_solved(four, eigen_jacobi(four));
    }
  }
}

TEST(EigenN, KeepsEqualEigenvaluesAndRefusesNan) {
  SymN<double, 4> m;
  for (int i = 0; i < 4; ++i) m.at(i, i) = 7;
  const EigenN<double, 4> e = eigen_jacobi(m);
  for (double value : e.values) EXPECT_EQ(value, 7);
  expect_solved(m, e);
  m.at(2, 1) = NAN;
  EXPECT_TRUE(std::isnan(eigen_jacobi(m).values[0]));
}

}  // namespace
}  // namespace sextant
