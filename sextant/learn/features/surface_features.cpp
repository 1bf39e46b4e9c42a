// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/features/surface_features.h"

#include <algorithm>
#include <cmath>

#include "sextant/descriptor/even_shot.h"

namespace sextant::detail::learn {

ShotScale shot_scale(double diameter_m, float given_radius_m) {
  constexpr double kRadius_m = 0.024, kLargest_m = 0.4;
  const double doublings = std::max(0.0, std::ceil(std::log2(diameter_m / kLargest_m) - 1e-9));
  const double radius_m =
      given_radius_m > 0 ? static_cast<double>(given_radius_m) : kRadius_m * std::exp2(doublings);
  // Some thousand keypoints are enough for any object.
  return {static_cast<float>(radius_m),
          static_cast<float>(std::max(radius_m / 3, diameter_m / 20))};
}

LearnedShot learn_shot(const Context& context, const PointSamples& surface,
                       const ShotScale& scale) {
  EvenShot shot = even_shot(context, surface.points, surface.normals,
                            {.radius_m = scale.radius_m, .leaf_m = scale.leaf_m});
  LearnedShot learned;
  learned.radius_m = scale.radius_m;
  learned.length = shot.length;
  learned.points = std::move(shot.points);
  learned.frames = std::move(shot.frames);
  learned.values = std::move(shot.values);
  return learned;
}

LearnedSamples learn_samples(const Context& context, const PointSamples& surface, double diameter_m,
                             float leaf_share) {
  LearnedSamples samples;
  samples.leaf_m = leaf_share * static_cast<float>(diameter_m);
  PointSamples thinned =
      sample_points(context, surface.points, surface.normals, {.leaf_m = samples.leaf_m});
  samples.points = std::move(thinned.points);
  samples.normals = std::move(thinned.normals);
  return samples;
}

}  // namespace sextant::detail::learn
