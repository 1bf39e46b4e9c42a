// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/bundle/equations.h"

namespace sextant::detail::bundle {

namespace {

/// The residual of a point behind the camera: far more than any in a photograph.
constexpr double kBehind_px = 1e6;

/// A residual that says how far an unknown may be from its start: value and derivative.
struct Prior {
  std::size_t unknown;
  double value, slope;
};

/// Calls `visit` for the priors of the problem.
template <class Visit>
void for_each_prior(const Bundle& bundle, const Bundle& start, const Unknowns& unknowns,
                    const BundleOptions& options, const Visit& visit) {
  if (options.poses && (options.pose_m > 0 || options.pose_rad > 0)) {
    for (std::size_t v = 0; v < bundle.views.size(); ++v) {
      const Twist3<double> off =
          log(bundle.views[v].camera_from_world * inverse(start.views[v].camera_from_world));
      const double value[6] = {off.omega_rad.x, off.omega_rad.y, off.omega_rad.z,
                               off.v_m.x,       off.v_m.y,       off.v_m.z};
      for (std::size_t i = 0; i < 6; ++i) {
        const double deviation = i < 3 ? options.pose_rad : options.pose_m;
        if (!(deviation > 0)) continue;
        visit(Prior{unknowns.view(static_cast<std::int32_t>(v)) + i, value[i] / deviation,
                    1 / deviation});
      }
    }
  }
  if (!options.centre || !(options.centre_px > 0)) return;
  for (std::size_t c = 0; c < bundle.cameras.size(); ++c) {
    const std::size_t first = unknowns.camera(static_cast<std::int32_t>(c));
    for (std::size_t i = 0; i < unknowns.of_camera().size(); ++i) {
      const int which = unknowns.of_camera()[i];
      if (which != 1 && which != 2) continue;
      const double off = which == 1 ? bundle.cameras[c].cx_px - start.cameras[c].cx_px
                                    : bundle.cameras[c].cy_px - start.cameras[c].cy_px;
      visit(Prior{first + i, off / options.centre_px, 1 / options.centre_px});
    }
  }
}

SymN<double, 3> damped(const SymN<double, 3>& hessian, double damping) {
  SymN<double, 3> result = hessian;
  for (int i = 0; i < 3; ++i) result.at(i, i) += damping * max_of(hessian.at(i, i), 1e-30);
  return result;
}

Vec3d solved(const Cholesky<double, 3>& factors, const Vec3d& right) {
  double b[3] = {right.x, right.y, right.z};
  factors.solve(b);
  return {b[0], b[1], b[2]};
}

/// The derivative of the gradient by an unknown and the point: a row of W.
Vec3d mixed(const Row& row, int i) {
  return (row.by_point[0] * row.slope[0][i] + row.by_point[1] * row.slope[1][i]) * row.weight;
}

}  // namespace

Unknowns::Unknowns(const Bundle& bundle, const BundleOptions& options) : poses_(options.poses) {
  const bool wanted[kCameraUnknowns] = {options.focal, options.centre, options.centre,
                                        options.distortion};
  for (int i = 0; i < kCameraUnknowns; ++i) {
    if (wanted[i]) of_camera_.push_back(i);
  }
  first_view_ = of_camera_.size() * bundle.cameras.size();
  views_ = bundle.views.size();
}

double cost_of(const Bundle& bundle, const Bundle& start, const BundleOptions& options) {
  double cost = 0;
  for (const double error : bundle_errors_px(bundle)) {
    cost += huber(error < kBehind_px ? error * error : kBehind_px * kBehind_px, options.outlier_px)
                .cost;
  }
  for_each_prior(bundle, start, Unknowns(bundle, options), options,
                 [&](const Prior& prior) { cost += prior.value * prior.value; });
  return cost;
}

Equations::Equations(const Bundle& bundle, const Bundle& start, const Unknowns& unknowns,
                     const BundleOptions& options)
    : count_(unknowns.count()),
      cost_(cost_of(bundle, start, options)),
      of_point_(bundle.points.size()),
      point_hessian_(bundle.points.size()),
      point_gradient_(bundle.points.size()),
      hessian_(count_) {
  for (const BundleObservation& seen : bundle.observations) {
    add_observation(bundle, seen, unknowns, options);
  }
  for_each_prior(bundle, start, unknowns, options, [&](const Prior& prior) {
    hessian_.add(prior.unknown, prior.unknown, prior.slope * prior.slope);
    hessian_.add_right(prior.unknown, prior.slope * prior.value);
  });
}

void Equations::add_observation(const Bundle& bundle, const BundleObservation& seen,
                                const Unknowns& unknowns, const BundleOptions& options) {
  const BundleView& view = bundle.views[static_cast<std::size_t>(seen.view)];
  const BundlePoint& point = bundle.points[static_cast<std::size_t>(seen.point)];
  const Camera& camera = bundle.cameras[static_cast<std::size_t>(view.camera)];
  const Vec3d place = view.camera_from_world * point.at_m;
  const Projection projected = project_with_slopes(camera, place);
  if (!projected.in_front) return;
  Row row;
  const Vec2d off = projected.at_px - seen.at_px;
  row.residual[0] = off.x;
  row.residual[1] = off.y;
  row.weight = huber(dot(off, off), options.outlier_px).weight;
  const auto& of_camera = unknowns.of_camera();
  for (std::size_t i = 0; i < of_camera.size(); ++i, ++row.count) {
    row.unknown[row.count] = unknowns.camera(view.camera) + i;
    for (int k = 0; k < 2; ++k) row.slope[k][row.count] = projected.by_camera[k][of_camera[i]];
  }
  if (unknowns.poses()) {
    for (std::size_t i = 0; i < 6; ++i) row.unknown[row.count + i] = unknowns.view(seen.view) + i;
    for (int k = 0; k < 2; ++k) {
      const Vec3d turn = cross(place, projected.by_place[k]), shift = projected.by_place[k];
      const double slopes[6] = {turn.x, turn.y, turn.z, shift.x, shift.y, shift.z};
      for (int i = 0; i < 6; ++i) row.slope[k][row.count + i] = slopes[i];
    }
    row.count += 6;
  }
  for (int k = 0; k < 2; ++k) {
    row.by_point[k] = transpose(view.camera_from_world.rotation) * projected.by_place[k];
    for (int i = 0; i < row.count; ++i) {
      const double weighted = row.weight * row.slope[k][i];
      hessian_.add_right(row.unknown[i], weighted * row.residual[k]);
      for (int j = 0; j < row.count; ++j) {
        if (row.unknown[j] > row.unknown[i]) continue;
        hessian_.add(row.unknown[i], row.unknown[j], weighted * row.slope[k][j]);
      }
    }
  }
  if (point.known) return;
  const auto p = static_cast<std::size_t>(seen.point);
  for (int k = 0; k < 2; ++k) {
    const Vec3d& g = row.by_point[k];
    point_hessian_[p].add_outer({g.x, g.y, g.z}, row.weight);
    point_gradient_[p] += g * (row.weight * row.residual[k]);
  }
  of_point_[p].push_back(static_cast<std::int32_t>(rows_.size()));
  rows_.push_back(row);
}

bool Equations::eliminate(double damping, DenseSystem& system) const {
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t j = 0; j <= i; ++j) system.add(i, j, hessian_.at(i, j));
    system.add(i, i, damping * max_of(hessian_.at(i, i), 1e-30));
    system.add_right(i, -hessian_.right(i));
  }
  for (std::size_t p = 0; p < of_point_.size(); ++p) {
    if (of_point_[p].empty()) continue;
    const Cholesky<double, 3> factors = cholesky(damped(point_hessian_[p], damping), 1e-14);
    if (!factors.ok) continue;  // seen along one ray only: it stays
    const Vec3d gradient = solved(factors, point_gradient_[p]);
    for (const std::int32_t a : of_point_[p]) {
      const Row& one = rows_[static_cast<std::size_t>(a)];
      for (int i = 0; i < one.count; ++i) {
        const Vec3d left = mixed(one, i);
        system.add_right(one.unknown[i], dot(left, gradient));
        const Vec3d weighted = solved(factors, left);
        for (const std::int32_t b : of_point_[p]) {
          const Row& other = rows_[static_cast<std::size_t>(b)];
          for (int j = 0; j < other.count; ++j) {
            if (other.unknown[j] > one.unknown[i]) continue;
            system.add(one.unknown[i], other.unknown[j], -dot(weighted, mixed(other, j)));
          }
        }
      }
    }
  }
  return system.factorize();
}

bool Equations::reduced(DenseSystem& system) const { return eliminate(0, system); }

bool Equations::solve(double damping, std::vector<double>& step, std::vector<Vec3d>& points) const {
  DenseSystem system(count_);
  if (!eliminate(damping, system)) return false;
  step.resize(count_);
  for (std::size_t i = 0; i < count_; ++i) step[i] = system.right(i);
  system.solve(step);
  points.assign(of_point_.size(), Vec3d{});
  for (std::size_t p = 0; p < of_point_.size(); ++p) {
    if (of_point_[p].empty()) continue;
    const Cholesky<double, 3> factors = cholesky(damped(point_hessian_[p], damping), 1e-14);
    if (!factors.ok) continue;
    Vec3d right = -point_gradient_[p];
    for (const std::int32_t a : of_point_[p]) {
      const Row& row = rows_[static_cast<std::size_t>(a)];
      for (int i = 0; i < row.count; ++i) right += mixed(row, i) * -step[row.unknown[i]];
    }
    points[p] = solved(factors, right);
  }
  return true;
}

double Equations::promised(double damping, const std::vector<double>& step,
                           const std::vector<Vec3d>& points) const {
  double sum = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    sum += step[i] * (damping * max_of(hessian_.at(i, i), 1e-30) * step[i] - hessian_.right(i));
  }
  for (std::size_t p = 0; p < points.size(); ++p) {
    const SymN<double, 3>& h = point_hessian_[p];
    const Vec3d& s = points[p];
    const Vec3d braked{damping * max_of(h.at(0, 0), 1e-30) * s.x,
                       damping * max_of(h.at(1, 1), 1e-30) * s.y,
                       damping * max_of(h.at(2, 2), 1e-30) * s.z};
    sum += dot(s, braked - point_gradient_[p]);
  }
  return sum;
}

}  // namespace sextant::detail::bundle
