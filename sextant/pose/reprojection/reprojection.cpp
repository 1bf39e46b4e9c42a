// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/reprojection.h"

#include "sextant/pose/photo_fit/observations.h"
#include "sextant/pose/reprojection/math.h"

namespace sextant {
namespace {

using detail::reprojection::Residuals;

/// Large against all distances within a photograph.
constexpr double kBehind_px = 1000;

}  // namespace

PhotoFit fit_reprojection(std::span<const PinholeView> views,
                          std::span<const PhotoObservation> observations,
                          const Rigid3d& world_from_object, const PhotoFitOptions& options) {
  detail::photo_fit::check_cameras(views, observations, "fit_reprojection");
  const auto equations = [&](const Rigid3d& pose, const Vec3d& pivot_m) {
    PoseEquations<double> sum;
    for (const PhotoObservation& o : observations) {
      const PinholeView& view = views[static_cast<std::size_t>(o.camera)];
      const Residuals r =
          options.squared_residuals
              ? detail::reprojection::squared_residuals(view, pose, pivot_m, o.point_m, o.at_px)
              : detail::reprojection::residuals(view, pose, pivot_m, o.point_m, o.at_px,
                                                kBehind_px);
      for (int i = 0; i < 2; ++i) sum.add(r.row[i], r.value[i], 1);
    }
    return sum;
  };
  const auto minimum =
      detail::photo_fit::minimize(world_from_object, detail::photo_fit::centre_of(observations),
                                  observations.empty() ? 0 : options.iterations, equations);
  return {minimum.pose, minimum.squares, minimum.iterations,
          detail::photo_fit::all_in_front(views, observations, minimum.pose)};
}

std::array<double, 36> photo_covariance(std::span<const PinholeView> views,
                                        std::span<const PhotoObservation> observations,
                                        const Rigid3d& world_from_object, const Vec3d& centre_m,
                                        const PhotoCovarianceOptions& options) {
  detail::photo_fit::check_cameras(views, observations, "photo_covariance");
  const Vec3d pivot_m = world_from_object * centre_m;
  PoseEquations<double> sum;
  for (const PhotoObservation& o : observations) {
    const PinholeView& view = views[static_cast<std::size_t>(o.camera)];
    const Vec3d p = view.camera_from_world * (world_from_object * o.point_m);
    if (!(p.z >= kNearestDepth_m)) continue;
    const Residuals r = detail::reprojection::residuals(view, world_from_object, pivot_m, o.point_m,
                                                        o.at_px, kBehind_px);
    for (int i = 0; i < 2; ++i) sum.add(r.row[i], r.value[i], 1);
  }
  double noise_sq = options.noise_px * options.noise_px;
  if (!(noise_sq > 0)) {
    // Six of the residuals' freedoms went into the pose.
    const double prior = 2 * options.prior_observations;
    const double freedoms = max_of(sum.count - 6, 0.0) + prior;
    noise_sq = (sum.squares + prior * options.prior_noise_px * options.prior_noise_px) / freedoms;
  }
  SymN<double, 6> information = sum.hessian;
  for (double& entry : information.packed) entry /= noise_sq;
  for (int i = 0; i < 6; ++i) {
    const double open = i < 3 ? options.open_rad : options.open_m;
    information.at(i, i) += 1 / (open * open);
  }
  std::array<double, 36> covariance{};
  const Cholesky<double, 6> factors = cholesky(information);
  for (int i = 0; i < 6; ++i) {
    double column[6] = {};
    column[i] = 1;
    if (factors.ok) {
      factors.solve(column);
    } else {
      for (double& entry : column) entry = NAN;
    }
    for (int j = 0; j < 6; ++j) covariance[static_cast<std::size_t>(6 * j + i)] = column[j];
  }
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < i; ++j) covariance[6 * j + i] = covariance[6 * i + j];
  }
  return covariance;
}

}  // namespace sextant
