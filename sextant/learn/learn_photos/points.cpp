// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_photos/points.h"

#include <algorithm>
#include <numeric>

#include "sextant/core/for_each.h"
#include "sextant/pose/bundle.h"

namespace sextant::detail::learn_photos {

namespace {

/// Points nearer to each other than this in the photographs are one.
constexpr double kSamePoint_px = 1.5;

/// Sightings are let this much farther off than the mean of a point may be.
constexpr double kOutlierShare = 1.6;

/// Features that are seen from farther apart look different: a track that reaches farther must be
/// matched in a ring somewhere, so that a single wrong match in a chain does not make a point.
constexpr double kFarApart_rad = 0.9;

/// The same in medians of the distances of all, and how narrow that may become.
constexpr double kOutlierMedians = 4, kMeanMedians = 2.5, kLeastOutlier_px = 0.5;

/// A point whose fourth neighbour is this many times farther than that of half of all points is
/// no part of the object.
constexpr double kStrayShare = 5;
constexpr std::size_t kStrayNeighbour = 4;

/// How many metres one pixel is at a point, in the photographs that show it.
double pixel_m(const Photos& photos, const Point& point) {
  double sum = 0;
  for (const Track::Member& seen : point.seen) {
    const auto p = static_cast<std::size_t>(seen.photo);
    sum += (photos.camera_from_object[p] * point.at_m).z / photos.cameras[p].fx_px;
  }
  return sum / static_cast<double>(point.seen.size());
}

/// Whether a point lies in the box with what its features look at. A large blob near the bottom may
/// be what is left white between the object and the print around it.
bool lies_inside(const Bounds& box, const Photos& photos, const Point& point) {
  double sum_m = 0;
  for (const Track::Member& seen : point.seen) {
    const auto p = static_cast<std::size_t>(seen.photo);
    const double depth_m = (photos.camera_from_object[p] * point.at_m).z;
    sum_m += double{photos.features[p].sigma_px[seen.feature]} * depth_m / photos.cameras[p].fx_px;
  }
  const auto size_m = static_cast<float>(sum_m / static_cast<double>(point.seen.size()));
  const Vec3f margin{size_m, size_m, size_m};
  return contains({box.low + margin, box.high - margin}, point.at_m);
}

}  // namespace

std::vector<PinholeView> Photos::views() const {
  std::vector<PinholeView> result;
  for (std::size_t p = 0; p < count(); ++p) {
    const Camera& camera = cameras[p];
    result.push_back(
        {camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px, camera_from_object[p]});
  }
  return result;
}

Limits limits_of(const LearnPhotosOptions& options) {
  return {kOutlierShare * options.most_error_px, options.most_error_px};
}

Limits narrowed(const Photos& photos, const std::vector<Point>& points, const Limits& limits) {
  const std::vector<PinholeView> views = photos.views();
  std::vector<double> squares;
  for (const Point& point : points) {
    for (const Track::Member& seen : point.seen) {
      const auto p = static_cast<std::size_t>(seen.photo);
      squares.push_back(squared_error_px(views[p], views[p].camera_from_world, point.at_m,
                                         photos.features[p].ideal_px[seen.feature]));
    }
  }
  if (squares.empty()) return limits;
  const auto middle = squares.begin() + static_cast<std::ptrdiff_t>(squares.size() / 2);
  std::nth_element(squares.begin(), middle, squares.end());
  const double median_px = std::sqrt(*middle);
  return {min_of(limits.outlier_px, max_of(kOutlierMedians * median_px, kLeastOutlier_px)),
          min_of(limits.most_mean_px, max_of(kMeanMedians * median_px, kLeastOutlier_px))};
}

std::vector<Point> make_points(const Context& context, const Photos& photos,
                               std::span<const Track> tracks, const std::optional<Bounds>& box,
                               const Limits& limits, const LearnPhotosOptions& options) {
  const std::vector<PinholeView> views = photos.views();
  LocatePointOptions locating;
  locating.most_mean_px = limits.most_mean_px;
  locating.outlier_px = limits.outlier_px;
  locating.least_views = options.least_views;
  locating.least_angle_rad = options.least_angle_rad;
  std::vector<Point> all(tracks.size());
  constexpr std::int64_t kGrain = 64;
  for_each_chunk(
      context, static_cast<std::int64_t>(tracks.size()), kGrain,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<PointSighting> sightings;
        std::vector<Track::Member> members;
        for (auto t = static_cast<std::size_t>(begin); t < static_cast<std::size_t>(end); ++t) {
          sightings.clear();
          members.clear();
          for (const Track::Member& member : tracks[t].members) {
            const auto p = static_cast<std::size_t>(member.photo);
            if (!photos.rejected[p].empty()) continue;
            sightings.push_back({member.photo, photos.features[p].ideal_px[member.feature]});
            members.push_back(member);
          }
          const LocatedPoint point = locate_point(views, sightings, locating);
          if (!point.found) continue;
          if (point.angle_rad > kFarApart_rad &&
              tracks[t].matches < static_cast<int>(tracks[t].members.size())) {
            continue;
          }
          all[t].at_m = point.at_m;
          for (const std::int32_t i : point.sightings) {
            all[t].seen.push_back(members[static_cast<std::size_t>(i)]);
          }
          if (box && !lies_inside(*box, photos, all[t])) all[t].seen.clear();
        }
      });
  std::erase_if(all, [](const Point& point) { return point.seen.empty(); });
  return all;
}

std::vector<Point> join_points(const Photos& photos, std::vector<Point> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return points[a].seen.size() > points[b].seen.size();
  });
  std::vector<std::size_t> along(points.size());  // by x, so that neighbours stand together
  std::iota(along.begin(), along.end(), std::size_t{0});
  std::stable_sort(along.begin(), along.end(), [&](std::size_t a, std::size_t b) {
    return points[a].at_m.x < points[b].at_m.x;
  });
  std::vector<char> taken(points.size(), 0);
  std::vector<Point> joined;
  for (const std::size_t i : order) {
    if (taken[i]) continue;
    taken[i] = 1;
    Point& point = points[i];
    const double radius = kSamePoint_px * pixel_m(photos, point);
    auto near = std::lower_bound(along.begin(), along.end(), point.at_m.x - radius,
                                 [&](std::size_t k, double x) { return points[k].at_m.x < x; });
    for (; near != along.end() && points[*near].at_m.x <= point.at_m.x + radius; ++near) {
      if (taken[*near] || norm(points[*near].at_m - point.at_m) > radius) continue;
      taken[*near] = 1;
      const auto& seen = points[*near].seen;
      point.seen.insert(point.seen.end(), seen.begin(), seen.end());
    }
    std::stable_sort(
        point.seen.begin(), point.seen.end(),
        [](const Track::Member& a, const Track::Member& b) { return a.photo < b.photo; });
    joined.push_back(point);
  }
  return joined;
}

std::vector<Point> without_strays(const Context& context, std::vector<Point> points) {
  if (points.size() <= kStrayNeighbour + 1) return points;
  std::vector<double> far_sq(points.size());
  constexpr std::int64_t kGrain = 64;
  for_each_chunk(
      context, static_cast<std::int64_t>(points.size()), kGrain,
      [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> distances(points.size());
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          for (std::size_t k = 0; k < points.size(); ++k) {
            distances[k] = norm_sq(points[k].at_m - points[i].at_m);
          }
          // The point itself is the first.
          std::nth_element(distances.begin(), distances.begin() + kStrayNeighbour, distances.end());
          far_sq[i] = distances[kStrayNeighbour];
        }
      });
  std::vector<double> sorted = far_sq;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double limit_sq = kStrayShare * kStrayShare * *middle;
  std::vector<Point> kept;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (far_sq[i] <= limit_sq) kept.push_back(std::move(points[i]));
  }
  return kept;
}

double adjust(const LearnPhotosInput& input, const std::vector<Point>& points,
              const LearnPhotosOptions& options, Photos& photos) {
  Bundle bundle;
  const bool one_camera = options.adjust_focal;
  bundle.cameras = one_camera ? std::vector<Camera>{photos.cameras[0]} : photos.cameras;
  std::vector<std::int32_t> view_of(photos.count(), -1);
  for (std::size_t p = 0; p < photos.count(); ++p) {
    if (!photos.rejected[p].empty()) continue;
    view_of[p] = static_cast<std::int32_t>(bundle.views.size());
    bundle.views.push_back(
        {one_camera ? 0 : static_cast<std::int32_t>(p), photos.camera_from_object[p]});
  }
  for (const Vec3d& place : input.places_m) bundle.points.push_back({place, true});
  for (const PhotoReference& reference : input.references) {
    const std::int32_t view = view_of[static_cast<std::size_t>(reference.photo)];
    if (view >= 0) bundle.observations.push_back({view, reference.place, reference.at_px});
  }
  for (const Point& point : points) {
    const auto number = static_cast<std::int32_t>(bundle.points.size());
    bundle.points.push_back({point.at_m, false});
    for (const Track::Member& seen : point.seen) {
      const auto p = static_cast<std::size_t>(seen.photo);
      bundle.observations.push_back(
          {view_of[p], number, photos.features[p].at_px[static_cast<std::size_t>(seen.feature)]});
    }
  }
  BundleOptions how;
  how.focal = how.centre = how.distortion = options.adjust_focal;
  how.centre_px = 0.02 * photos.cameras[0].width;
  if (input.references.empty()) {
    how.pose_m = options.pose_m;
    how.pose_rad = options.pose_rad;
  }
  const BundleResult result = adjust_bundle(bundle, how);
  for (std::size_t p = 0; p < photos.count(); ++p) {
    if (one_camera) {
      photos.cameras[p] = bundle.cameras[0];
    } else {
      photos.cameras[p] = bundle.cameras[p];
    }
    if (view_of[p] < 0) continue;
    photos.camera_from_object[p] =
        bundle.views[static_cast<std::size_t>(view_of[p])].camera_from_world;
    undistort_places(photos.cameras[p], photos.features[p]);
  }
  return one_camera ? result.focal_deviation_px[0] : 0;
}

}  // namespace sextant::detail::learn_photos
