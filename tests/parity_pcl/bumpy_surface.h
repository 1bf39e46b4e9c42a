// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>

#include "sextant/core/random.h"
#include "sextant/core/vec.h"

namespace sextant::testing {

/// A random point of a closed, bumpy surface of about the size of a hand, with some noise.
struct BumpyPoint {
  Random random;    ///< draws 0 to 4 are taken
  Vec3d direction;  ///< from the centre
  Vec3f position;

  BumpyPoint(std::uint64_t seed, int number, double noise_m)
      : random{seed, static_cast<std::uint64_t>(number)} {
    const double z = 2.0 * static_cast<double>(random.uniform(0)) - 1.0;
    const double turn = 2.0 * std::numbers::pi * static_cast<double>(random.uniform(1));
    const double s = std::sqrt(1.0 - z * z);
    direction = {s * std::cos(turn), s * std::sin(turn), z};
    const Vec3d& u = direction;
    const double radius = 0.06 + 0.008 * std::sin(7.0 * u.x + 1.0) * std::cos(9.0 * u.y) +
                          0.005 * std::sin(11.0 * u.z + 4.0 * u.x) + noise_m * random.normal(2);
    position = cast<float>(u * radius + Vec3d{0.1, -0.2, 0.9});
  }
};

}  // namespace sextant::testing
