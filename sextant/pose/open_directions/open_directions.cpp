// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/open_directions.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/eigen_n.h"
#include "sextant/core/error.h"

namespace sextant {

std::vector<std::array<double, 6>> open_directions(std::span<const double, 36> covariance,
                                                   double length_m, double open_m) {
  require(length_m > 0 && open_m > 0, "length_m, open_m: ", length_m, " and ", open_m,
          " are not both positive");
  const bool finite =
      std::all_of(covariance.begin(), covariance.end(), [](double c) { return std::isfinite(c); });
  require(finite, "covariance: has a number that is not finite");
  const auto unit = [&](int i) { return i < 3 ? length_m : 1.0; };
  SymN<double, 6> scaled;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      scaled.at(i, j) = covariance[6 * static_cast<std::size_t>(i) + static_cast<std::size_t>(j)] *
                        unit(i) * unit(j);
    }
  }
  const EigenN<double, 6> own = eigen_jacobi(scaled);  // ascending
  std::vector<std::array<double, 6>> open;
  for (int k = 5; k >= 0 && own.values[k] >= open_m * open_m; --k) {
    const double size = std::sqrt(own.values[k]);
    std::array<double, 6>& motion = open.emplace_back();
    for (int i = 0; i < 6; ++i) {
      motion[static_cast<std::size_t>(i)] = size * own.vectors[k][i] / unit(i);
    }
    const double largest = *std::max_element(
        motion.begin(), motion.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (double& number : motion) number = largest < 0 ? -number : number;
  }
  return open;
}

}  // namespace sextant
