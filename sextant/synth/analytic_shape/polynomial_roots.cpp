// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/analytic_shape/polynomial_roots.h"

#include <cmath>

namespace sextant::detail::analytic_shape {

namespace {

double evaluate(const double* c, int degree, double t) {
  double value = c[degree];
  for (int i = degree - 1; i >= 0; --i) value = value * t + c[i];
  return value;
}

/// The root in [low, high], at whose ends the signs differ: Newton, and halving where it would
/// leave the bracket or shrinks it too slowly.
double bracketed_root(const double* c, const double* slope, int degree, double low, double high) {
  const bool rising = evaluate(c, degree, low) < 0;
  double t = 0.5 * (low + high);
  double last_width = high - low;
  for (int iteration = 0; iteration < 200; ++iteration) {
    const double value = evaluate(c, degree, t);
    if (value == 0) return t;
    ((value < 0) == rising ? low : high) = t;
    const double width = high - low;
    const double step = value / evaluate(slope, degree - 1, t);
    double next = t - step;
    const bool inside = next > low && next < high;
    if (!inside || (iteration % 3 == 2 && width > 0.5 * last_width)) next = 0.5 * (low + high);
    if (iteration % 3 == 2) last_width = width;
    if (next == t || next <= low || next >= high) return t;
    t = next;
  }
  return t;
}

}  // namespace

int polynomial_roots(const double* c, int degree, double low, double high, double* roots) {
  while (degree > 0 && c[degree] == 0) --degree;
  if (degree == 0 || !(low <= high)) return 0;
  if (degree == 1) {
    const double root = -c[0] / c[1];
    if (!(root >= low && root <= high)) return 0;
    roots[0] = root;
    return 1;
  }
  double slope[kMaxPolynomialDegree];
  for (int i = 1; i <= degree; ++i) slope[i - 1] = i * c[i];
  double ends[kMaxPolynomialDegree + 1];
  ends[0] = low;
  const int turns = polynomial_roots(slope, degree - 1, low, high, ends + 1);
  ends[turns + 1] = high;
  int count = 0;
  for (int i = 0; i <= turns; ++i) {
    const double at_low = evaluate(c, degree, ends[i]);
    const double at_high = evaluate(c, degree, ends[i + 1]);
    if (at_low == 0) {
      if (count == 0 || roots[count - 1] != ends[i]) roots[count++] = ends[i];
    } else if ((at_low < 0) != (at_high < 0) && at_high != 0) {
      roots[count++] = bracketed_root(c, slope, degree, ends[i], ends[i + 1]);
    } else if (at_high == 0 && i == turns) {
      roots[count++] = ends[i + 1];
    }
  }
  return count;
}

}  // namespace sextant::detail::analytic_shape
