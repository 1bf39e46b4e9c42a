// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sextant {

/// Sums over pairs (x, y), for the straight line through them and for how they go together.
struct LineSums {
  double count = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

  void add(double at, double value) {
    count += 1;
    x += at;
    y += value;
    xx += at * at;
    yy += value * value;
    xy += at * value;
  }
  /// Sums of squares, and of products, about the means.
  double spread_x() const { return xx - x * x / count; }
  double spread_y() const { return yy - y * y / count; }
  double spread_xy() const { return xy - x * y / count; }
  /// Of the line y = slope x + intercept with the least squares; not finite where all x are equal.
  double slope() const { return spread_xy() / spread_x(); }
  double intercept() const { return (y - slope() * x) / count; }
};

}  // namespace sextant
