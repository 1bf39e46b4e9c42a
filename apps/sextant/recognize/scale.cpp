// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sextant::app {

namespace {

constexpr double kFewPixels = 10;    // across: fewer show no shape
constexpr double kPicturesWide = 3;  // an object that is larger shows one of its sides at most
constexpr double kOutliers = 0.05;   // of the depths are left out at either end

}  // namespace

std::string doubt_scale(const SeenFrame& frame, std::span<const LearnedObject> objects) {
  std::vector<float> depths;
  for (const float z_m : frame.depth_m.pixels().host()) {
    if (z_m > 0 && z_m < INFINITY) depths.push_back(z_m);
  }
  if (depths.empty() || objects.empty()) return {};
  const auto quantile = [&](double share) {
    const auto at = depths.begin() +
                    static_cast<std::ptrdiff_t>(share * static_cast<double>(depths.size() - 1));
    std::nth_element(depths.begin(), at, depths.end());
    return double{*at};
  };
  const auto [smallest, largest] = std::minmax_element(
      objects.begin(), objects.end(),
      [](const LearnedObject& a, const LearnedObject& b) { return a.diameter_m < b.diameter_m; });
  const double near_m = quantile(kOutliers), far_m = quantile(1 - kOutliers);
  const double large_px = frame.camera.fx_px * largest->diameter_m / near_m;
  const double small_px = frame.camera.fx_px * smallest->diameter_m / far_m;
  constexpr const char* kAsk = "; is the unit of the file right (--unit-m)?";
  if (large_px < kFewPixels) {
    return fmt::format(
        "begins {:.3g} m away, where {}, the largest object ({:.3g} m), is {:.1f} pixels wide{}",
        near_m, largest->name, largest->diameter_m, large_px, kAsk);
  }
  if (small_px > kPicturesWide * std::max(frame.camera.width, frame.camera.height)) {
    return fmt::format(
        "ends {:.3g} m away, where {}, the smallest object ({:.3g} m), is {:.0f} pixels wide{}",
        far_m, smallest->name, smallest->diameter_m, small_px, kAsk);
  }
  return {};
}

}  // namespace sextant::app
