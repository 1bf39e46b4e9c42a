// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/backprojection.h"

#include <vector>

#include "sextant/pose/backprojection/math.h"
#include "sextant/pose/photo_fit/observations.h"

namespace sextant {

PhotoFit fit_backprojection(std::span<const PinholeView> views,
                            std::span<const PhotoObservation> observations,
                            const Rigid3d& world_from_object, const PhotoFitOptions& options) {
  namespace math = detail::backprojection;
  detail::photo_fit::check_cameras(views, observations, "fit_backprojection");
  std::vector<math::Ray> rays;
  rays.reserve(observations.size());
  for (const PhotoObservation& o : observations) {
    rays.push_back(math::world_ray(views[static_cast<std::size_t>(o.camera)], o.at_px));
  }
  const auto equations = [&](const Rigid3d& pose, const Vec3d& pivot_m) {
    PoseEquations<double> sum;
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const math::Residuals r = math::residuals(rays[i], pose, pivot_m, observations[i].point_m);
      for (int k = 0; k < 3; ++k) sum.add(r.row[k], r.value[k], 1);
    }
    return sum;
  };
  const auto minimum =
      detail::photo_fit::minimize(world_from_object, detail::photo_fit::centre_of(observations),
                                  observations.empty() ? 0 : options.iterations, equations);
  return {minimum.pose, minimum.squares, minimum.iterations,
          detail::photo_fit::all_in_front(views, observations, minimum.pose)};
}

}  // namespace sextant
