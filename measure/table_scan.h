// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/synth/analytic_frame.h"

namespace sextant::measure {

/// A table with a ball, a can, a ring and a box before a wall, as `camera` sees them without noise;
/// on the host.
inline AnalyticFrame table_scan(const Camera& camera) {
  const auto at = [](double x, double y, double z, double tilt) {
    return Rigid3d{exp_rotation(Vec3d{tilt, 0, 0}), {x, y, z}};
  };
  const AnalyticShape shapes[] = {AnalyticShape::plane(at(0, 0.35, 1.3, -1.0)),
                                  AnalyticShape::plane(at(0, 0, 2.2, 0.1)),
                                  AnalyticShape::sphere(0.15, at(0, 0.17, 1.3, 0)),
                                  AnalyticShape::cylinder(0.08, 0.3, at(0.35, 0.2, 1.25, -1.0)),
                                  AnalyticShape::torus(0.12, 0.04, at(-0.35, 0.25, 1.25, -0.5)),
                                  AnalyticShape::box({0.2, 0.2, 0.2}, at(-0.1, -0.1, 1.75, -0.7))};
  return render_analytic(Context::cpu(), camera, shapes);
}

}  // namespace sextant::measure
