// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/curvature/math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

using namespace detail::curvature;

/// The row of J and the error of one sample with weight 1.
struct Row {
  double j[6];
  double e;
};
Row row_of(const QuadricFit<double>& fit, const Vec3d& offset, bool remove_bias) {
  CurvatureOptions options;
  options.weights = CurvatureWeights::kNone;
  options.remove_bias = remove_bias;
  const QuadricRules rules(options);
  QuadricSums<double> sums;
  const QuadricSample<double> sample = make_sample<false, false>(
      fit, rules, first_weight(rules, 1.0), offset, norm_sq(offset), true, sums);
  Row row{{1.0}, sample.e};
  for (int i = 1; i < 6; ++i) row.j[i] = sample.j[i];
  return row;
}

TEST(CurvatureMath, JacobianIsTheDerivative) {
  const Random random{testing::seed_of_test(), 0};
  std::uint64_t draw = 0;
  const auto number = [&](double size) { return size * (2.0 * random.uniform(draw++) - 1.0); };
  for (int trial = 0; trial < 50; ++trial) {
    const bool remove_bias = trial % 2 == 1;
    QuadricFit<double> fit =
        QuadricFit<double>::begin(normalized(Vec3d{number(0.5), number(0.5), 1}), 1.0);
    // The slope of the quadric is taken to be that of a sphere; of others it is near.
    fit.a = number(0.4);
    fit.b = remove_bias ? 0.0 : number(0.2);
    fit.c = remove_bias ? fit.a : number(0.4);
    fit.lift = number(0.2);
    const Vec3d offset{number(0.7), number(0.7), number(0.3)};
    const Row row = row_of(fit, offset, remove_bias);
    constexpr double kStep = 1e-6;
    for (int unknown = 0; unknown < 6; ++unknown) {
      double e[2];
      for (const int side : {0, 1}) {
        QuadricStep<double> step{};
        step.x[unknown] = side == 0 ? -kStep : kStep;
        QuadricFit<double> moved = fit;
        apply_step(step, moved);
        e[side] = row_of(moved, offset, remove_bias).e;
      }
      EXPECT_NEAR(row.j[unknown], (e[1] - e[0]) / (2 * kStep), 1e-7)
          << "unknown " << unknown << ", trial " << trial;
    }
  }
}

TEST(CurvatureMath, AStepSolvesTheNormalEquations) {
  const Random random{testing::seed_of_test(), 0};
  std::uint64_t draw = 0;
  QuadricSums<double> sums;
  double j[20][6];
  double e[20];
  for (int i = 0; i < 20; ++i) {
    e[i] = random.uniform(draw++) - 0.5;
    for (int k = 0; k < 6; ++k) j[i][k] = random.uniform(draw++) - 0.5;
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c <= r; ++c) sums.normal[r * (r + 1) / 2 + c] += j[i][r] * j[i][c];
      sums.right[r] += j[i][r] * e[i];
    }
    sums.square += e[i] * e[i];
  }
  const QuadricStep<double> step = solve_step(sums);
  double left[6] = {};
  double square = 0;
  for (int i = 0; i < 20; ++i) {
    double rest = e[i];
    for (int k = 0; k < 6; ++k) rest += j[i][k] * step.x[k];
    for (int k = 0; k < 6; ++k) left[k] += j[i][k] * rest;
    square += rest * rest;
  }
  // The damping is a millionth of the diagonal.
  for (const double value : left) EXPECT_NEAR(value, 0.0, 1e-5);
  EXPECT_NEAR(step.square, square, 1e-5);
  EXPECT_GT(step.least_pivot, 0.01);
}

TEST(CurvatureMath, KnowsTheVarianceOfItsCurvatures) {
  // On a full disc k is known alike in every direction: √72 / (h² √n) of n samples. By the Zernike
  // polynomials of mean square 1, k in a direction is 4 √3 times that of the bowl and 2 √6 times
  // that of the saddle, each of which has the variance 1 / n: 48 + 24.
  CurvatureOptions options;
  options.weights = CurvatureWeights::kNone;
  const QuadricRules rules(options);
  const QuadricFit<double> fit = QuadricFit<double>::begin({0, 0, 1}, 1.0);
  QuadricSums<double> sums;
  double samples = 0;
  for (int i = -100; i <= 100; ++i) {
    for (int j = -100; j <= 100; ++j) {
      const Vec3d offset{i / 100.0, j / 100.0, 0};
      if (norm_sq(offset) > 1) continue;
      add_sample<false, true>(fit, rules, first_weight(rules, 1.0), offset, norm_sq(offset), true,
                              sums);
      samples += 1;
    }
  }
  const double deviation = 2 * std::sqrt(solve_step(sums).bend_variance);
  EXPECT_NEAR(deviation * std::sqrt(samples), std::sqrt(72.0), 0.02 * std::sqrt(72.0));
}

TEST(CurvatureMath, VarianceOfAHalfPatchIsThatOfItsWorstDirection) {
  // The inverse of the normal equations, column by column: their solution for a unit right side.
  const Random random{testing::seed_of_test(), 0};
  QuadricSums<double> sums;
  for (int i = 0; i < 40; ++i) {
    QuadricSample<double> sample;
    sample.weight = 1;
    const double x = double{random.uniform(2 * i)}, y = 2 * double{random.uniform(2 * i + 1)} - 1;
    const double terms[6] = {1, -y, x, x * x, 2 * x * y, y * y};
    for (int k = 0; k < 6; ++k) sample.j[k] = terms[k];
    add_sample(sample, sums);
  }
  double covariance[3][3];
  for (int column = 0; column < 3; ++column) {
    for (double& value : sums.right) value = 0;
    sums.right[3 + column] = -1;
    const QuadricStep<double> step = solve_step(sums);
    for (int row = 0; row < 3; ++row) covariance[row][column] = step.x[3 + row];
  }
  double worst = 0;
  for (const double angle : {0.0, 0.25, 0.5, 0.75}) {
    const double c = std::cos(angle * std::numbers::pi), s = std::sin(angle * std::numbers::pi);
    const double of[3] = {c * c, 2 * c * s, s * s};
    double variance = 0;
    for (int i = 0; i < 9; ++i) variance += of[i / 3] * of[i % 3] * covariance[i / 3][i % 3];
    worst = std::max(worst, variance);
  }
  EXPECT_NEAR(solve_step(sums).bend_variance / worst, 1.0, 1e-6);
}

}  // namespace
}  // namespace sextant
