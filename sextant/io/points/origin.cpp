// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/origin.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sextant::detail::points {

namespace {

constexpr std::size_t kMostSamples = 8192;
/// How much of the spacing rounding may take.
constexpr double kMostOfSpacing = 0.01;
/// The same where there is no spacing.
constexpr double kMostShift_m = 0.001;
/// Half the distance of neighbouring floats, relative to them.
constexpr double kFloatRounding = 0x1p-24;

/// The middle of the points on one axis, and how far the middle half of them reaches.
struct Middle {
  double median = 0;
  double spread = 0;
};

Middle middle_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t last = values.size() - 1;
  return {values[last / 2], values[last - last / 4] - values[last / 4]};
}

/// An even share of the points, without holes and without places where a sensor saw nothing.
std::vector<Vec3d> samples_of(std::span<const Vec3d> points) {
  std::vector<Vec3d> samples;
  const std::size_t step = points.size() / kMostSamples + 1;
  for (std::size_t i = 0; i < points.size(); i += step) {
    if (is_finite(points[i]) && !(points[i] == Vec3d{})) samples.push_back(points[i]);
  }
  return samples;
}

}  // namespace

Vec3d origin_for(std::span<const Vec3d> points_m) {
  const std::vector<Vec3d> samples = samples_of(points_m);
  if (samples.empty()) return {};
  Middle middles[3];
  double Vec3d::*const axes[] = {&Vec3d::x, &Vec3d::y, &Vec3d::z};
  double size_sq = 0;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double> values;
    for (const Vec3d& sample : samples) values.push_back(sample.*axes[axis]);
    middles[axis] = middle_of(values);
    size_sq += middles[axis].spread * middles[axis].spread;
  }
  const double spacing_m = std::sqrt(size_sq / static_cast<double>(points_m.size()));
  const double allowed_m = spacing_m > 0 ? kMostOfSpacing * spacing_m : kMostShift_m;
  const bool floats_will_do = std::all_of(std::begin(middles), std::end(middles), [&](auto& m) {
    return std::abs(m.median) * kFloatRounding <= allowed_m;
  });
  if (floats_will_do) return {};
  Vec3d origin_m;
  for (int axis = 0; axis < 3; ++axis) {
    // Round numbers where the points reach far enough for them.
    const double step = std::pow(10.0, std::floor(std::log10(std::sqrt(size_sq) + 1e-300)));
    const double median = middles[axis].median;
    const double rounded = step >= 1 ? std::round(median / step) * step : median;
    const float origin = static_cast<float>(rounded);
    if (std::isfinite(origin)) origin_m.*axes[axis] = static_cast<double>(origin);
  }
  return origin_m;
}

void set_points(Cloud& cloud, std::span<const Vec3d> points_m) {
  const Rigid3d sensor = sensor_in_file(cloud);
  cloud.origin_m = origin_for(points_m);
  set_sensor_in_file(cloud, sensor);
  cloud.points = Buffer<Vec3f>(Context::cpu(1), static_cast<std::int64_t>(points_m.size()));
  std::transform(points_m.begin(), points_m.end(), cloud.points.host().begin(),
                 [&](const Vec3d& p) { return cast<float>(p - cloud.origin_m); });
}

Rigid3d sensor_in_file(const Cloud& cloud) {
  return {cloud.world_from_sensor.rotation, cloud.world_from_sensor.translation + cloud.origin_m};
}

void set_sensor_in_file(Cloud& cloud, const Rigid3d& world_from_sensor) {
  cloud.world_from_sensor = {world_from_sensor.rotation,
                             world_from_sensor.translation - cloud.origin_m};
}

}  // namespace sextant::detail::points
