// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant::app {

/// Angles between found and true normals as lines, in degrees; normals that were not found are left
/// out.
inline std::vector<double> normal_errors_deg(const std::vector<Vec3f>& found,
                                             const std::vector<Vec3f>& truth) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!is_finite(found[i])) continue;
    const Vec3d n = cast<double>(found[i]), t = cast<double>(truth[i]);
    errors.push_back(std::atan2(norm(cross(n, t)), std::abs(dot(n, t))) * 180 / std::numbers::pi);
  }
  return errors;
}

inline double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace sextant::app
