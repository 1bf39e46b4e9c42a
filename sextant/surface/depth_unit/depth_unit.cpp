// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/depth_unit.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/surface/noise/frame_noise.h"

namespace sextant {

namespace {

// Between the frames that were read rightly and those with a unit ten times too large or too small
// lie factors of 2 and 1.5; these stand in the middle of the gaps.
constexpr float kLeastSigma_per_m = 0.0011f;
constexpr float kMostSigma_per_m = 0.0104f;
constexpr float kNear_m = 0.3f, kFar_m = 3;
/// Depth without noise deviates by 0.29 steps (1/√12) of rounding; the estimate has bins of 1.25.
constexpr double kRounding = 0.5;

/// The upper median of the depths; NaN without any.
float median_of(ImageView<const float> depth_m) {
  std::vector<float> depths;
  for (int v = 0; v < depth_m.height; ++v) {
    std::copy_if(depth_m.row(v), depth_m.row(v) + depth_m.width, std::back_inserter(depths),
                 [](float z_m) { return z_m > 0 && z_m < INFINITY; });
  }
  if (depths.empty()) return NAN;
  const auto middle = depths.begin() + static_cast<std::ptrdiff_t>(depths.size() / 2);
  std::nth_element(depths.begin(), middle, depths.end());
  return *middle;
}

/// Noise is in inverse depth over pixels and asks for no camera.
float sigma_at(const Context& context, ImageView<const float> depth_m, float at_m) {
  Image<Vec3f> points(context, depth_m.width, depth_m.height);
  for (int v = 0; v < depth_m.height; ++v) {
    std::transform(depth_m.row(v), depth_m.row(v) + depth_m.width, points.view().row(v),
                   [](float z_m) {
                     const bool valid = z_m > 0 && z_m < INFINITY;
                     return valid ? Vec3f{0, 0, z_m} : Vec3f{NAN, NAN, NAN};
                   });
  }
  Workspace workspace;
  const Workspace::Scope scope(workspace);
  const detail::noise::FrameNoise* noise =
      detail::noise::estimate_frame_noise(context, points, {}, workspace);
  return noise->sigma_per_m[detail::noise::depth_bin(at_m)];
}

}  // namespace

DepthUnitDoubt doubt_depth_unit(const Context& context, ImageView<const float> depth_m,
                                double step_m) {
  require(context.device().kind == DeviceKind::kCpu, "context: the depth map must lie on the host");
  require(step_m > 0, "step_m: ", step_m, " is not positive");
  DepthUnitDoubt doubt;
  doubt.median_m = median_of(depth_m);
  if (std::isnan(doubt.median_m)) return doubt;
  const bool far = doubt.median_m > kFar_m;
  if (!far && doubt.median_m > kNear_m) return doubt;
  doubt.sigma_per_m = sigma_at(context, depth_m, doubt.median_m);
  const double sigma_m = double{doubt.sigma_per_m} * doubt.median_m * doubt.median_m;
  if (sigma_m <= kRounding * step_m) return doubt;
  if (far && doubt.sigma_per_m < kLeastSigma_per_m) doubt.factor = 10;
  if (!far && doubt.sigma_per_m > kMostSigma_per_m) doubt.factor = 0.1;
  return doubt;
}

}  // namespace sextant
