// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cholesky.h"
#include "sextant/core/vec.h"

// Patches of an image are described in inverse depth d = 1/z over the direction (x, y) = (X/z, Y/z)
// in pixels: there a plane is exactly linear, d = a + b x + c y, whatever its slant, and the noise
// of a triangulating sensor is the same everywhere. Smoothly bent surfaces get a quadratic.

namespace sextant::detail::segment {

/// The place of x^i y^j among the monomials 1, x, y, xx, xy, yy, xxx, …
SEXTANT_HD constexpr int monomial(int i, int j) { return (i + j) * (i + j + 1) / 2 + j; }

inline constexpr int kPlaneTerms = 3;
inline constexpr int kQuadraticTerms = 6;

/// Σ over the pixels of a patch about `x`, `y`, `d`: what a least-squares fit of a quadratic needs.
struct PatchSums {
  double x = 0, y = 0, d = 0;  ///< the origin of the sums
  double powers[15] = {};      ///< of x^i y^j, i + j <= 4; the first is the number of pixels
  double inverse[kQuadraticTerms] = {};  ///< of d x^i y^j, i + j <= 2
  double inverse_sq = 0;                 ///< of d²

  SEXTANT_HD double count() const { return powers[0]; }
  SEXTANT_HD double mean_d() const { return d + inverse[0] / powers[0]; }
};

/// What is linear in a patch's sums about another origin: Taylor shifts of the power sums.
template <int kMost>
SEXTANT_HD void shift_powers(double* sums, double by_x, double by_y) {
  for (int j = 0; j < kMost; ++j) {
    for (int pass = 1; pass <= kMost - j; ++pass) {
      for (int i = kMost - j; i >= pass; --i) {
        sums[monomial(i, j)] += by_x * sums[monomial(i - 1, j)];
      }
    }
  }
  for (int i = 0; i < kMost; ++i) {
    for (int pass = 1; pass <= kMost - i; ++pass) {
      for (int j = kMost - i; j >= pass; --j) {
        sums[monomial(i, j)] += by_y * sums[monomial(i, j - 1)];
      }
    }
  }
}

/// Exponents go up to this in a model of so many terms, and up to twice this in its equations.
template <int kTerms>
inline constexpr int kOrder = kTerms == kPlaneTerms ? 1 : 2;
template <int kTerms>
inline constexpr int kPowers = kTerms == kPlaneTerms ? 6 : 15;

/// The same pixels' sums about another origin.
SEXTANT_HD inline PatchSums shifted(PatchSums sums, double x, double y, double d) {
  const double by_d = sums.d - d;
  shift_powers<2 * kOrder<kQuadraticTerms>>(sums.powers, sums.x - x, sums.y - y);
  shift_powers<kOrder<kQuadraticTerms>>(sums.inverse, sums.x - x, sums.y - y);
  sums.inverse_sq += by_d * (2 * sums.inverse[0] + by_d * sums.powers[0]);
  for (int k = 0; k < kQuadraticTerms; ++k) sums.inverse[k] += by_d * sums.powers[k];
  sums.x = x;
  sums.y = y;
  sums.d = d;
  return sums;
}

/// Those sums of a patch that a model of kTerms needs.
template <int kTerms>
struct ModelSums {
  double powers[kPowers<kTerms>];
  double inverse[kTerms];
  double inverse_sq;

  SEXTANT_HD explicit ModelSums(const PatchSums& sums) : inverse_sq(sums.inverse_sq) {
    for (int k = 0; k < kPowers<kTerms>; ++k) powers[k] = sums.powers[k];
    for (int k = 0; k < kTerms; ++k) inverse[k] = sums.inverse[k];
  }
  SEXTANT_HD double count() const { return powers[0]; }

  /// Moves the origin from one that lies (by_x, by_y, by_d) further on.
  SEXTANT_HD void move(double by_x, double by_y, double by_d) {
    shift_powers<2 * kOrder<kTerms>>(powers, by_x, by_y);
    shift_powers<kOrder<kTerms>>(inverse, by_x, by_y);
    inverse_sq += by_d * (2 * inverse[0] + by_d * powers[0]);
    for (int k = 0; k < kTerms; ++k) inverse[k] += by_d * powers[k];
  }
  SEXTANT_HD void add(const ModelSums& other) {
    for (int k = 0; k < kPowers<kTerms>; ++k) powers[k] += other.powers[k];
    for (int k = 0; k < kTerms; ++k) inverse[k] += other.inverse[k];
    inverse_sq += other.inverse_sq;
  }
};

/// Sums about the mean: fits of far-reaching patches lose the fewest digits there.
SEXTANT_HD inline PatchSums centred(const PatchSums& sums) {
  const double n = sums.count();
  return shifted(sums, sums.x + sums.powers[1] / n, sums.y + sums.powers[2] / n, sums.mean_d());
}

/// Adds the sums of other pixels about the same origin.
SEXTANT_HD inline void add_sums(PatchSums& to, const PatchSums& other) {
  for (int k = 0; k < kPowers<kQuadraticTerms>; ++k) to.powers[k] += other.powers[k];
  for (int k = 0; k < kQuadraticTerms; ++k) to.inverse[k] += other.inverse[k];
  to.inverse_sq += other.inverse_sq;
}

/// d - d₀ = Σ coefficient · monomial about the origin of the sums it was fitted to.
struct PatchModel {
  double terms[kQuadraticTerms] = {};
  bool ok = false;
};

/// The place in `powers` of the product of two monomials of a model.
SEXTANT_HD constexpr int product(int i, int j) {
  const int x[kQuadraticTerms] = {0, 1, 0, 2, 1, 0};
  const int y[kQuadraticTerms] = {0, 0, 1, 0, 1, 2};
  return monomial(x[i] + x[j], y[i] + y[j]);
}

/// The plane in closed form, about the mean; it is asked for most often.
template <class Sums>
SEXTANT_HD PatchModel fitted_plane(const Sums& sums) {
  const double per_n = 1.0 / sums.count();
  const double* s = sums.powers;
  const double mx = s[1] * per_n, my = s[2] * per_n;
  const double xx = s[3] - s[1] * mx, xy = s[4] - s[1] * my, yy = s[5] - s[2] * my;
  const double xd = sums.inverse[1] - sums.inverse[0] * mx;
  const double yd = sums.inverse[2] - sums.inverse[0] * my;
  const double det = xx * yy - xy * xy;
  PatchModel model;
  model.ok = xx > 0 && det > 1e-10 * xx * yy;
  if (!model.ok) return model;
  const double per_det = 1.0 / det;
  model.terms[1] = (xd * yy - yd * xy) * per_det;
  model.terms[2] = (yd * xx - xd * xy) * per_det;
  model.terms[0] = sums.inverse[0] * per_n - model.terms[1] * mx - model.terms[2] * my;
  return model;
}

template <int kTerms, class Sums>
SEXTANT_HD PatchModel fitted(const Sums& sums) {
  if constexpr (kTerms == kPlaneTerms) return fitted_plane(sums);
  SymN<double, kTerms> matrix;
  double right[kTerms];
  for (int i = 0; i < kTerms; ++i) {
    for (int j = 0; j <= i; ++j) matrix.at(i, j) = sums.powers[product(i, j)];
    right[i] = sums.inverse[i];
  }
  PatchModel model;
  const Cholesky<double, kTerms> factors = cholesky(matrix, 1e-10);
  model.ok = factors.ok;
  if (!model.ok) return model;
  factors.solve(right);
  for (int i = 0; i < kTerms; ++i) model.terms[i] = right[i];
  return model;
}

/// The mean square of what a model about the same origin leaves of a patch.
template <int kTerms, class Sums>
SEXTANT_HD double mean_square(const Sums& sums, const PatchModel& model) {
  double square = sums.inverse_sq;
  for (int i = 0; i < kTerms; ++i) {
    double row = 0;
    for (int j = 0; j < kTerms; ++j) row += model.terms[j] * sums.powers[product(i, j)];
    square += model.terms[i] * (row - 2 * sums.inverse[i]);
  }
  return max_of(square, 0.0) / sums.count();
}

}  // namespace sextant::detail::segment
