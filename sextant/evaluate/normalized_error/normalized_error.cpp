// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/normalized_error.h"

#include "sextant/core/eigen_n.h"
#include "sextant/core/error.h"

namespace sextant {

Twist3<double> pose_motion(const Rigid3d& frame_from_object, const Rigid3d& truth,
                           const Vec3d& centre_m) {
  return {log_rotation(frame_from_object.rotation * transpose(truth.rotation)),
          frame_from_object * centre_m - truth * centre_m};
}

NormalizedError normalized_error(const Twist3<double>& motion, std::span<const double> covariance,
                                 double length_m, double open_m) {
  require(covariance.size() == 36, "covariance: has ", covariance.size(), " numbers, not 36");
  require(length_m > 0 && open_m > 0, "length_m, open_m: ", length_m, " and ", open_m,
          " are not both positive");
  const Vec3d turn = motion.omega_rad * length_m;
  const double error[6] = {turn.x, turn.y, turn.z, motion.v_m.x, motion.v_m.y, motion.v_m.z};
  SymN<double, 6> scaled;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      const double unit = (i < 3 ? length_m : 1.0) * (j < 3 ? length_m : 1.0);
      scaled.at(i, j) =
          covariance[6 * static_cast<std::size_t>(i) + static_cast<std::size_t>(j)] * unit;
    }
  }
  const EigenN<double, 6> own = eigen_jacobi(scaled);
  NormalizedError result;
  for (int k = 0; k < 6; ++k) {
    require(own.values[k] > 0, "covariance: is not positive definite; an eigenvalue is ",
            own.values[k]);
    if (own.values[k] >= open_m * open_m) continue;
    double along = 0;
    for (int i = 0; i < 6; ++i) along += own.vectors[k][i] * error[i];
    result.squared += along * along / own.values[k];
    ++result.told;
  }
  return result;
}

}  // namespace sextant
