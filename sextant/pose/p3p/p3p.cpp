// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/p3p/math.h"

namespace sextant {

P3pSolutions solve_p3p(const Vec3d (&points_m)[3], const Vec3d (&rays)[3]) {
  return detail::p3p::solve(points_m, rays);
}

}  // namespace sextant
