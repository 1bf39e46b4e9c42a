// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/cloud_segment.h"

#include <algorithm>
#include <bit>
#include <numbers>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/geometry/neighbours/queries.h"
#include "sextant/surface/segment/host.h"

namespace sextant {

using namespace detail::segment;

namespace {

void check_saliency(const Context& context, const PointSaliency& saliency, std::int64_t points) {
  const auto check = [&](View<const float> values, const char* name) {
    if (values.size != 0) require_on(context, values, name);
    require(values.size == saliency.stick.size && (values.size == 0 || values.size == points), name,
            ": ", values.size, " values for ", points,
            " points; give all three saliencies or none");
  };
  check(saliency.stick, "stick");
  check(saliency.plate, "plate");
  check(saliency.ball, "ball");
}

/// What a point has to itself on a surface, from the nearest places of a sample of the points.
/// Copies of a point are one place.
class Spacing {
 public:
  Spacing(const Context& context, View<const Vec3f> points) : points_(to_host(context, points)) {
    std::vector<Vec3f> sample;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (is_sampled(i) && is_finite(points_[i])) sample.push_back(points_[i]);
    }
    if (sample.empty()) return;
    const NeighbourGrid grid =
        build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kNearest));
    const NearestNeighbours nearest = k_nearest(context, grid, copy(context, sample), kNearest);
    const std::vector<std::int32_t> indices = to_host(context, nearest.indices);
    for (std::size_t k = 0; k < sample.size(); ++k) {
      add_point(sample[k], indices.data() + k * kNearest);
    }
  }

  /// NaN where no point has another. Points far off all others leave the sample first, so that they
  /// do not even shift the median.
  float median_m() {
    constexpr float kFarOff = 10.0f;
    const float first_m = median();
    std::erase_if(spacings_m_, [&](float spacing_m) { return spacing_m > kFarOff * first_m; });
    return median();
  }

 private:
  static constexpr int kNearest = 32;

  float median() {
    if (spacings_m_.empty()) return NAN;
    const auto middle = spacings_m_.begin() + static_cast<std::ptrdiff_t>(spacings_m_.size() / 2);
    std::nth_element(spacings_m_.begin(), middle, spacings_m_.end());
    return *middle;
  }

  /// The sample does not shift when there is a point more.
  bool is_sampled(std::size_t i) const {
    constexpr std::size_t kSample = 2048;
    return i % std::bit_ceil(points_.size() / kSample + 1) == 0;
  }
  void add_point(const Vec3f& p, const std::int32_t* nearest) {
    std::vector<Vec3f> places;
    for (int k = 0; k < kNearest && nearest[k] >= 0; ++k) {
      const Vec3f q = points_[static_cast<std::size_t>(nearest[k])];
      if (q != p && std::find(places.begin(), places.end(), q) == places.end()) places.push_back(q);
    }
    if (places.empty()) return;
    const float farthest_sq = norm_sq(places.back() - p);
    spacings_m_.push_back(
        std::sqrt(farthest_sq * std::numbers::pi_v<float> / static_cast<float>(places.size())));
  }

  std::vector<Vec3f> points_;
  std::vector<float> spacings_m_;
};

/// Some 20 neighbours within the radius, which is rounded to an eighth of an octave: a few points
/// more or less change nothing.
float radius_of(const Context& context, View<const Vec3f> points) {
  constexpr float kSpacings = 2.5f;
  const float spacing_m = Spacing(context, points).median_m();
  if (!(spacing_m > 0.0f)) return 1.0f;
  const float eighths = std::round(8.0f * std::log2(kSpacings * spacing_m));
  return clamp(std::exp2(eighths / 8.0f), 1e-9f, 1e6f);
}

}  // namespace

CloudSegmentation segment_cloud(const Context& context, View<const Vec3f> points,
                                View<const Vec3f> normals, const PointSaliency& saliency,
                                const CloudSegmentOptions& options) {
  check_options(options);
  require_on(context, points, "points");
  require_room(context, normals, points.size, "normals");
  CloudSegmentOptions chosen = options;
  if (!(options.radius_m > 0.0f)) chosen.radius_m = radius_of(context, points);
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_radius(chosen.radius_m));
  CloudSegmentation result;
  result.radius_m = chosen.radius_m;
  result.labels = Buffer<std::int32_t>(context, points.size);
  Buffer<SurfaceRegion> regions(context, region_capacity(points.size, options.min_points));
  Buffer<std::int32_t> count(context, 1);
  Workspace workspace;
  segment_cloud_into(context, grid, points, normals, saliency, chosen, result.labels, regions,
                     count, workspace);
  const std::int32_t found = to_host(context, count)[0];
  result.regions = to_host(context, regions.view().subview(0, found));
  return result;
}

void segment_cloud_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> points,
                        View<const Vec3f> normals, const PointSaliency& saliency,
                        const CloudSegmentOptions& options, View<std::int32_t> labels,
                        View<SurfaceRegion> regions, View<std::int32_t> count,
                        Workspace& workspace) {
  check_options(options);
  require_on(context, points, "points");
  detail::neighbours::check_grid(context, grid, points.size);
  require_room(context, normals, points.size, "normals");
  check_saliency(context, saliency, points.size);
  require_room(context, labels, points.size, "labels");
  check_segment_sizes(context, points.size, options.min_points, regions, count);
  require(options.radius_m > 0.0f, "radius_m: 0 takes the radius from the density, which waits; ",
          "give one, or use segment_cloud");
  const CloudSurface surface{
      grid.view(),         points.data,        normals.data, saliency.stick.data,
      saliency.plate.data, saliency.ball.data, options,      std::cos(options.link_angle_rad)};
  const int width = static_cast<int>(labels.size);  // the labels of a cloud are one row
  const SegmentOutput out{{labels.data, width, 1, width, labels.device}, regions, count};
  detail::on_device(
      context, [&] { segment_cuda(context, surface, out, workspace); },
      [&] { segment_surface<HostSteps>(context, surface, out, workspace); });
}

}  // namespace sextant
