// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/locate_point.h"

#include <algorithm>

#include "sextant/core/cholesky.h"
#include "sextant/core/error.h"

namespace sextant {

namespace {

constexpr std::int64_t kMostPairs = 300;
constexpr int kFitSteps = 20;

struct Ray {
  Vec3d from_m, along;  ///< in the world, of unit length
};

/// The rays and errors of the sightings of one point.
class Sightings {
 public:
  Sightings(std::span<const PinholeView> views, std::span<const PointSighting> sightings)
      : views_(views), sightings_(sightings) {
    for (const PointSighting& seen : sightings) {
      require(seen.view >= 0 && static_cast<std::size_t>(seen.view) < views.size(),
              "locate_point: a sighting is of view ", seen.view, ", but there are ", views.size());
      const PinholeView& view = views[static_cast<std::size_t>(seen.view)];
      const Rigid3d world_from_camera = inverse(view.camera_from_world);
      rays_.push_back({world_from_camera.translation,
                       normalized(world_from_camera.rotation * ray_of(view, seen.at_px))});
    }
  }

  std::size_t size() const { return rays_.size(); }
  const Ray& ray(std::size_t i) const { return rays_[i]; }
  std::int32_t view(std::size_t i) const { return sightings_[i].view; }
  double squared_px(std::size_t i, const Vec3d& at_m) const {
    const PinholeView& from = views_[static_cast<std::size_t>(view(i))];
    return squared_error_px(from, from.camera_from_world, at_m, sightings_[i].at_px);
  }

  /// Those within the distance, of each view the nearest, ascending.
  std::vector<std::int32_t> agreeing(const Vec3d& at_m, double outlier_px) const {
    std::vector<std::int32_t> near;
    for (std::size_t i = 0; i < size(); ++i) {
      const double squared = squared_px(i, at_m);
      if (!(squared <= outlier_px * outlier_px)) continue;
      const auto same = std::find_if(near.begin(), near.end(), [&](std::int32_t k) {
        return view(static_cast<std::size_t>(k)) == view(i);
      });
      if (same == near.end()) {
        near.push_back(static_cast<std::int32_t>(i));
      } else if (squared < squared_px(static_cast<std::size_t>(*same), at_m)) {
        *same = static_cast<std::int32_t>(i);
      }
    }
    std::sort(near.begin(), near.end());
    return near;
  }

  /// Gauss and Newton's steps on the distances in the photographs.
  Vec3d fitted(Vec3d at_m, const std::vector<std::int32_t>& which) const {
    for (int step = 0; step < kFitSteps; ++step) {
      SymN<double, 3> hessian;
      double gradient[3] = {};
      for (const std::int32_t k : which) {
        const PinholeView& view = views_[static_cast<std::size_t>(sightings_[k].view)];
        const Vec3d p = view.camera_from_world * at_m;
        if (!(p.z >= kNearestDepth_m)) return at_m;
        const Mat3d& turn = view.camera_from_world.rotation;
        const double x = p.x / p.z, y = p.y / p.z;
        add((turn.row[0] - turn.row[2] * x) * (view.fx_px / p.z),
            view.fx_px * x + view.cx_px - sightings_[k].at_px.x, hessian, gradient);
        add((turn.row[1] - turn.row[2] * y) * (view.fy_px / p.z),
            view.fy_px * y + view.cy_px - sightings_[k].at_px.y, hessian, gradient);
      }
      const Cholesky<double, 3> factors = cholesky(hessian, 1e-14);
      if (!factors.ok) return at_m;
      factors.solve(gradient);
      const Vec3d move{gradient[0], gradient[1], gradient[2]};
      at_m = at_m - move;
      if (norm(move) <= 1e-10 * norm(at_m)) break;
    }
    return at_m;
  }

 private:
  static void add(const Vec3d& slope, double value, SymN<double, 3>& hessian,
                  double (&gradient)[3]) {
    hessian.add_outer({slope.x, slope.y, slope.z}, 1.0);
    gradient[0] += slope.x * value;
    gradient[1] += slope.y * value;
    gradient[2] += slope.z * value;
  }

  std::span<const PinholeView> views_;
  std::span<const PointSighting> sightings_;
  std::vector<Ray> rays_;
};

/// The middle of the shortest line between two rays; not finite where they are parallel.
Vec3d middle(const Ray& a, const Ray& b) {
  const double cosine = dot(a.along, b.along);
  const double sine_sq = norm_sq(cross(a.along, b.along));
  const Vec3d between = b.from_m - a.from_m;
  const double s = (dot(between, a.along) - cosine * dot(between, b.along)) / sine_sq;
  const double t = (cosine * dot(between, a.along) - dot(between, b.along)) / sine_sq;
  return (a.from_m + a.along * s + b.from_m + b.along * t) * 0.5;
}

/// The start that most sightings are near to; of several the one with the least sum of squares.
bool best_start(const Sightings& sightings, const LocatePointOptions& options, Vec3d& at_m) {
  const auto count = static_cast<std::int64_t>(sightings.size());
  const std::int64_t pairs = count * (count - 1) / 2;
  const std::int64_t stride = (pairs + kMostPairs - 1) / kMostPairs;
  const double limit = options.outlier_px * options.outlier_px;
  std::size_t most = 0;
  double least = INFINITY;
  std::int64_t number = 0;
  for (std::size_t i = 0; i < sightings.size(); ++i) {
    for (std::size_t k = i + 1; k < sightings.size(); ++k, ++number) {
      if (number % stride != 0 || sightings.view(i) == sightings.view(k)) continue;
      const Vec3d place = middle(sightings.ray(i), sightings.ray(k));
      if (!is_finite(place)) continue;
      std::size_t near = 0;
      double squares = 0;
      for (std::size_t j = 0; j < sightings.size(); ++j) {
        const double squared = sightings.squared_px(j, place);
        if (!(squared <= limit)) continue;
        ++near;
        squares += squared;
      }
      if (near < most || (near == most && squares >= least)) continue;
      most = near;
      least = squares;
      at_m = place;
    }
  }
  return most >= 2;
}

}  // namespace

LocatedPoint locate_point(std::span<const PinholeView> views,
                          std::span<const PointSighting> sightings,
                          const LocatePointOptions& options) {
  check_options(options);
  LocatedPoint point;
  const Sightings all(views, sightings);
  if (!best_start(all, options, point.at_m)) return point;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::int32_t> agreeing = all.agreeing(point.at_m, options.outlier_px);
    if (static_cast<int>(agreeing.size()) < options.least_views) return point;
    const bool same = agreeing == point.sightings;
    point.sightings = std::move(agreeing);
    if (same) break;
    point.at_m = all.fitted(point.at_m, point.sightings);
  }
  double sum = 0, cosine = 1;
  for (const std::int32_t i : point.sightings) {
    sum += std::sqrt(all.squared_px(static_cast<std::size_t>(i), point.at_m));
    for (const std::int32_t k : point.sightings) {
      const auto towards = [&](std::int32_t j) {
        return normalized(point.at_m - all.ray(static_cast<std::size_t>(j)).from_m);
      };
      cosine = min_of(cosine, dot(towards(i), towards(k)));
    }
  }
  point.mean_px = sum / static_cast<double>(point.sightings.size());
  point.angle_rad = std::acos(clamp(cosine, -1.0, 1.0));
  point.found = point.mean_px <= options.most_mean_px &&
                point.angle_rad >= options.least_angle_rad && is_finite(point.at_m);
  return point;
}

}  // namespace sextant
