// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sextant::detail::analytic_shape {

inline constexpr int kMaxPolynomialDegree = 4;

/// The real roots of c[0] + c[1] t + … + c[degree] t^degree in [low, high], ascending, each as
/// exact as the polynomial can be evaluated in double; returns their number, at most `degree`.
///
/// Between the roots of its derivative, found the same way, a polynomial is monotone: every change
/// of sign is enclosed, whatever the coefficients. A root where the curve touches zero without
/// crossing it may be left out.
int polynomial_roots(const double* c, int degree, double low, double high, double* roots);

}  // namespace sextant::detail::analytic_shape
