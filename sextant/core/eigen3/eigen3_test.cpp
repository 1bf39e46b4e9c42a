// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/eigen3.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <limits>

#include "sextant/core/random.h"
#include "tests/devices.h"

namespace sextant {
namespace {

template <class T>
Sym3<T> from_spectrum(const Mat3<double>& frame, double a, double b, double c) {
  const double value[3] = {a, b, c};
  Sym3<double> m;
  for (int i = 0; i < 3; ++i) m = m + outer(frame.row[i]) * value[i];
  return {T(m.xx), T(m.xy), T(m.xz), T(m.yy), T(m.yz), T(m.zz)};
}

Mat3<double> random_frame(const Random& random, std::uint64_t draw) {
  const Vec3d a = normalized(
      Vec3d{random.normal(4 * draw), random.normal(4 * draw + 1), random.normal(4 * draw + 2)});
  const Vec3d b = detail::any_perpendicular(a);
  return {{a, b, cross(a, b)}};
}

/// Eigenvalues against a double-precision solver, residuals, orthonormality and handedness.
template <class T>
void expect_decomposition(const Sym3<T>& m, const Eigen3<T>& e) {
  Eigen::Matrix3d reference;
  reference << double(m.xx), double(m.xy), double(m.xz), double(m.xy), double(m.yy), double(m.yz),
      double(m.xz), double(m.yz), double(m.zz);
  const Eigen::Vector3d values =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(reference, Eigen::EigenvaluesOnly)
          .eigenvalues();
  const double tolerance = 16 * double(std::numeric_limits<T>::epsilon()) * double(max_abs(m));
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(double(e.values[i]), values[i], tolerance);
    const Vec3d v = cast<double>(e.vectors.row[i]);
    const Eigen::Vector3d ev(v.x, v.y, v.z);
    EXPECT_LE((reference * ev - double(e.values[i]) * ev).norm(), 2 * tolerance);
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(double(dot(e.vectors.row[i], e.vectors.row[j])), i == j ? 1.0 : 0.0,
                  8 * double(std::numeric_limits<T>::epsilon()));
    }
  }
  EXPECT_LE(e.values[0], e.values[1]);
  EXPECT_LE(e.values[1], e.values[2]);
  EXPECT_NEAR(double(determinant(e.vectors)), 1.0, 1e-5);
}

template <class T>
class Eigen3Test : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Eigen3Test, Scalars);

TYPED_TEST(Eigen3Test, SpectraOfEveryKind) {
  const Random random{testing::seed_of_test(), 0};
  // Separated, two and three (nearly) equal, rank one and two, negative and mixed signs.
  const double spectra[][3] = {{1, 2, 3},           {1, 1, 2},        {1, 2, 2},
                               {1, 1, 1},           {0, 0, 1},        {0, 1, 1},
                               {1, 1 + 1e-6, 2},    {1, 2, 2 + 1e-6}, {1, 1 + 1e-7, 1 + 2e-7},
                               {1e-7, 1, 1 + 1e-4}, {-3, -2, -1},     {-1, 0, 1},
                               {1e-12, 1e-6, 1}};
  for (std::uint64_t draw = 0; draw < 300; ++draw) {
    for (const auto& s : spectra) {
      for (const double scale : {1e-12, 1.0, 1e12}) {
        const auto m = from_spectrum<TypeParam>(random_frame(random, draw), s[0] * scale,
                                                s[1] * scale, s[2] * scale);
        expect_decomposition(m, eigen(m));
        if (this->HasFailure()) FAIL() << "spectrum " << s[0] << ' ' << s[1] << ' ' << s[2];
      }
    }
  }
}

TYPED_TEST(Eigen3Test, JacobiAgreesEverywhere) {
  const Random random{testing::seed_of_test(), 0};
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Sym3<TypeParam> m;
    TypeParam* entries[] = {&m.xx, &m.xy, &m.xz, &m.yy, &m.yz, &m.zz};
    for (std::uint64_t k = 0; k < 6; ++k) *entries[k] = TypeParam(random.normal(6 * i + k));
    expect_decomposition(m, eigen_jacobi(m));
    expect_decomposition(m, eigen(m));
  }
}

TYPED_TEST(Eigen3Test, DiagonalZeroAndExtremes) {
  using T = TypeParam;
  const Eigen3<T> zero = eigen(Sym3<T>{});
  EXPECT_EQ(zero.values[2], T(0));
  EXPECT_EQ(determinant(zero.vectors), T(1));
  expect_decomposition(Sym3<T>{3, 0, 0, 1, 0, 2}, eigen(Sym3<T>{3, 0, 0, 1, 0, 2}));
  const T huge = std::numeric_limits<T>::max() / 8;
  const Eigen3<T> large = eigen(Sym3<T>{huge, 0, 0, huge, 0, huge / 2});
  EXPECT_TRUE(std::isfinite(large.values[2]));
  const T tiny = std::numeric_limits<T>::denorm_min();
  const Eigen3<T> small = eigen(Sym3<T>{tiny, 0, 0, 4 * tiny, 0, 2 * tiny});
  EXPECT_NEAR(std::abs(double(small.vectors.row[0].x)), 1.0, 1e-6);
}

TYPED_TEST(Eigen3Test, NanStaysNan) {
  using T = TypeParam;
  for (const T bad : {T(NAN), T(INFINITY), T(-INFINITY)}) {
    const Eigen3<T> e = eigen(Sym3<T>{1, bad, 0, 1, 0, 1});
    EXPECT_TRUE(std::isnan(e.values[0]));
    EXPECT_TRUE(std::isnan(e.vectors.row[2].z));
  }
}

}  // namespace
}  // namespace sextant
