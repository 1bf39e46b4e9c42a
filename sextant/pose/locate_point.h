// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/pose/photo_observation.h"

namespace sextant {

/// In which direction a view saw a point.
struct PointSighting {
  std::int32_t view = 0;
  Vec2d at_px;  ///< in a photograph without lens distortion
};

struct LocatePointOptions {
  double outlier_px = 4;          ///< sightings farther off are left out
  double most_mean_px = 2.5;      ///< largest mean distance of the others
  int least_views = 3;            ///< that must agree
  double least_angle_rad = 0.05;  ///< between some two of the rays that agree

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("outlier_px", self.outlier_px, "sightings farther off are left out", Range{1e-3, 1e6});
    visit("most_mean_px", self.most_mean_px, "largest mean distance in the photographs",
          Range{1e-3, 1e6});
    visit("least_views", self.least_views, "photographs that must show a point", Range{2, 1e6});
    visit("least_angle_rad", self.least_angle_rad, "least angle between two rays to a point",
          Range{0, 3.15});
  }
};

struct LocatedPoint {
  bool found = false;
  Vec3d at_m;                           ///< in the frame of the views' world
  double mean_px = 0;                   ///< distance of the sightings that agree
  double angle_rad = 0;                 ///< largest between two of their rays
  std::vector<std::int32_t> sightings;  ///< that agree, ascending; of each view one at most
};

/// Finds the place that most sightings agree with: each two of them give the middle between their
/// rays, the place that most others are near to is fitted to those by least squares in the
/// photographs, and what is far off is left out. Of many sightings, 300 pairs are looked at, evenly
/// over all. It is in front of all cameras that agree, or not found.
LocatedPoint locate_point(std::span<const PinholeView> views,
                          std::span<const PointSighting> sightings,
                          const LocatePointOptions& options = {});

}  // namespace sextant
