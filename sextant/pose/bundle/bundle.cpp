// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/bundle.h"

#include "sextant/pose/bundle/equations.h"

namespace sextant {

using namespace detail::bundle;

namespace {

void check_bundle(const Bundle& bundle) {
  for (const Camera& camera : bundle.cameras) check_camera(camera);
  for (const BundleView& view : bundle.views) {
    require(view.camera >= 0 && static_cast<std::size_t>(view.camera) < bundle.cameras.size(),
            "bundle: a view is of camera ", view.camera, ", but there are ", bundle.cameras.size());
  }
  for (const BundleObservation& seen : bundle.observations) {
    require(seen.view >= 0 && static_cast<std::size_t>(seen.view) < bundle.views.size(),
            "bundle: an observation is of view ", seen.view, ", but there are ",
            bundle.views.size());
    require(seen.point >= 0 && static_cast<std::size_t>(seen.point) < bundle.points.size(),
            "bundle: an observation is of point ", seen.point, ", but there are ",
            bundle.points.size());
  }
}

Bundle moved_by(const Bundle& bundle, const Unknowns& unknowns, const std::vector<double>& step,
                const std::vector<Vec3d>& points) {
  Bundle to = bundle;
  for (std::size_t c = 0; c < to.cameras.size(); ++c) {
    double all[kCameraUnknowns] = {};
    const std::size_t first = unknowns.camera(static_cast<std::int32_t>(c));
    for (std::size_t i = 0; i < unknowns.of_camera().size(); ++i) {
      all[unknowns.of_camera()[i]] = step[first + i];
    }
    to.cameras[c] = moved(to.cameras[c], all);
  }
  for (std::size_t v = 0; unknowns.poses() && v < to.views.size(); ++v) {
    Rigid3d& pose = to.views[v].camera_from_world;
    pose = moved(pose, step.data() + unknowns.view(static_cast<std::int32_t>(v)));
  }
  for (std::size_t p = 0; p < to.points.size(); ++p) to.points[p].at_m += points[p];
  return to;
}

/// The deviation of each camera's focal length: the noise of the residuals times the root of the
/// inverse's diagonal.
std::vector<double> focal_deviations(const Bundle& bundle, const Equations& equations,
                                     const Unknowns& unknowns) {
  std::vector<double> deviations(bundle.cameras.size(), INFINITY);
  detail::DenseSystem system(unknowns.count());
  if (!equations.reduced(system)) return deviations;
  std::size_t freedoms = unknowns.count();
  for (const BundlePoint& point : bundle.points) freedoms += point.known ? 0 : 3;
  const std::size_t residuals = 2 * bundle.observations.size();
  if (residuals <= freedoms) return deviations;
  const double noise_sq = equations.cost() / static_cast<double>(residuals - freedoms);
  for (std::size_t c = 0; c < deviations.size(); ++c) {
    const std::size_t focal = unknowns.camera(static_cast<std::int32_t>(c));
    std::vector<double> column(unknowns.count(), 0.0);
    column[focal] = 1;
    system.solve(column);
    deviations[c] = std::sqrt(noise_sq * column[focal]) * bundle.cameras[c].fx_px;
  }
  return deviations;
}

}  // namespace

std::vector<double> bundle_errors_px(const Bundle& bundle) {
  check_bundle(bundle);
  std::vector<double> errors;
  errors.reserve(bundle.observations.size());
  for (const BundleObservation& seen : bundle.observations) {
    const BundleView& view = bundle.views[static_cast<std::size_t>(seen.view)];
    const Vec3d place =
        view.camera_from_world * bundle.points[static_cast<std::size_t>(seen.point)].at_m;
    const Projection at =
        project_with_slopes(bundle.cameras[static_cast<std::size_t>(view.camera)], place);
    errors.push_back(at.in_front ? std::hypot(at.at_px.x - seen.at_px.x, at.at_px.y - seen.at_px.y)
                                 : INFINITY);
  }
  return errors;
}

BundleResult adjust_bundle(Bundle& bundle, const BundleOptions& options) {
  check_options(options);
  check_bundle(bundle);
  const Bundle start = bundle;
  const Unknowns unknowns(bundle, options);
  Equations now(bundle, start, unknowns, options);
  BundleResult result;
  result.cost_before = result.cost = now.cost();
  double damping = 1e-4, growth = 2;
  std::vector<double> step;
  std::vector<Vec3d> points;
  while (!result.converged && result.iterations < options.iterations) {
    ++result.iterations;
    bool better = false;
    if (now.solve(damping, step, points)) {
      const double promised = now.promised(damping, step, points);
      if (!(promised > 1e-12 * now.cost())) {
        result.converged = true;
        break;
      }
      Bundle next = moved_by(bundle, unknowns, step, points);
      const double gain = now.cost() - cost_of(next, start, options);
      better = gain > 0;
      if (better) {
        // Nielsen's control of the damping.
        const double agreement = 2 * gain / promised - 1;
        damping *= max_of(1.0 / 3, 1 - agreement * agreement * agreement);
        damping = max_of(damping, 1e-12);
        growth = 2;
        result.converged = gain < 1e-9 * now.cost();
        bundle = std::move(next);
        now = Equations(bundle, start, unknowns, options);
      }
    }
    if (better) continue;
    damping *= growth;
    growth *= 2;
    // No step is better any more: it is a minimum, as far as rounding lets one see.
    result.converged = !(damping < 1e12);
  }
  result.cost = now.cost();
  double squares = 0;
  std::size_t seen = 0;
  for (const double error : bundle_errors_px(bundle)) {
    if (!std::isfinite(error)) continue;
    squares += error * error;
    ++seen;
  }
  result.rms_px = seen > 0 ? std::sqrt(squares / static_cast<double>(seen)) : 0;
  if (options.focal) result.focal_deviation_px = focal_deviations(bundle, now, unknowns);
  return result;
}

}  // namespace sextant
