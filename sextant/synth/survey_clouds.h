// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/vec.h"

// Clouds as a scanning robot brings them home, in any order: what voting is measured on.

namespace sextant {

/// Points of a surface and its unit normals there.
struct SurveyCloud {
  std::vector<Vec3f> points;
  std::vector<Vec3f> normals;
};

/// z = 1 - 0.02 x² - 0.02 y² on [-5, 5]², evenly drawn, with normal noise in z (Fig. 2 of the
/// voting paper).
SurveyCloud paraboloid_survey(int count, double noise_m, std::uint64_t seed);

/// Flights of stairs between landings that run to and fro: steps of 0.3 × 0.17 m, 1.6 m wide.
SurveyCloud stairs_survey(int count, double noise_m, std::uint64_t seed);

/// Four rooms of 4 × 4 × 2.5 m with doorways and a table in each.
SurveyCloud apartment_survey(int count, double noise_m, std::uint64_t seed);

/// Rolling ground seen from its middle: as many points between 1 and 2 m as between 9 and 10 m.
SurveyCloud plain_survey(int count, double noise_m, std::uint64_t seed);

/// Scales the cloud about the origin until its points have `mean` others nearer than radius_m on
/// average, to half a percent. Runs on the host's threads, some ten neighbour counts.
void scale_to_neighbours(const Context& context, float radius_m, double mean,
                         std::vector<Vec3f>& points);

}  // namespace sextant
