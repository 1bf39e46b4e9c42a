// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/picture/cloud_picture.h"

#include <algorithm>
#include <cmath>

#include "sextant/geometry/cloud.h"

namespace sextant::app {

namespace {

constexpr float kLongerSide_px = 800;

/// Right, down and away in the picture, from the axes of the cloud.
Vec3f turned(const Vec3f& p, int least_axis) {
  if (least_axis == 0) return {p.z, p.y, p.x};
  return least_axis == 1 ? Vec3f{p.x, -p.z, p.y} : p;
}

int axis_of_least(const Vec3f& extent) {
  if (extent.z <= extent.x && extent.z <= extent.y) return 2;
  return extent.y <= extent.x ? 1 : 0;
}

/// The range of a coordinate but for some points that lie far off all others.
void leave_out_far_ones(View<const Vec3f> points, float Vec3f::*axis, Bounds& box) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < points.size; ++i) {
    if (is_finite(points[i])) values.push_back(points[i].*axis);
  }
  const std::size_t cut = values.size() / 200;
  const auto at = [&](std::size_t rank) {
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
    std::nth_element(values.begin(), place, values.end());
    return *place;
  };
  const float low = at(cut), high = at(values.size() - 1 - cut);
  const float margin = 0.5f * (high - low);
  box.low.*axis = std::max(box.low.*axis, low - margin);
  box.high.*axis = std::min(box.high.*axis, high + margin);
}

}  // namespace

Image<Rgb8> cloud_picture(View<const Vec3f> points, View<const Rgb8> colors) {
  const Context cpu = Context::cpu();
  Bounds box = bounds(cpu, points);
  if (box.empty()) return Image<Rgb8>(copy(cpu, std::vector<Rgb8>(1)), 1, 1);
  for (float Vec3f::*axis : {&Vec3f::x, &Vec3f::y, &Vec3f::z}) {
    leave_out_far_ones(points, axis, box);
  }
  const int least = axis_of_least(box.high - box.low);
  const Vec3f a = turned(box.low, least), b = turned(box.high, least);
  const Vec2f low{std::min(a.x, b.x), std::min(a.y, b.y)};
  const Vec2f extent{std::abs(b.x - a.x), std::abs(b.y - a.y)};
  const float longer = std::max({extent.x, extent.y, 1e-30f});
  const float px_per_m = kLongerSide_px / longer;
  const float spacing_m =
      std::sqrt(extent.x * extent.y / static_cast<float>(std::max<std::int64_t>(points.size, 1)));
  const int size = std::clamp(static_cast<int>(std::ceil(spacing_m * px_per_m)), 1, 9);
  const int width = static_cast<int>(extent.x * px_per_m) + size;
  const int height = static_cast<int>(extent.y * px_per_m) + size;
  Image<Rgb8> picture(cpu, width, height);
  std::fill(picture.pixels().host().begin(), picture.pixels().host().end(), Rgb8{});
  std::vector<float> away(static_cast<std::size_t>(width) * height, INFINITY);
  for (std::int64_t i = 0; i < points.size; ++i) {
    if (!is_finite(points[i])) continue;
    const Vec3f p = turned(points[i], least);
    const float right = (p.x - low.x) * px_per_m, down = (p.y - low.y) * px_per_m;
    if (!(right > -1 && right < 2 * kLongerSide_px && down > -1 && down < 2 * kLongerSide_px)) {
      continue;
    }
    const int u0 = static_cast<int>(right);
    const int v0 = static_cast<int>(down);
    for (int v = std::max(v0, 0); v < std::min(v0 + size, height); ++v) {
      for (int u = std::max(u0, 0); u < std::min(u0 + size, width); ++u) {
        float& nearest = away[static_cast<std::size_t>(v) * width + u];
        if (!(p.z < nearest)) continue;
        nearest = p.z;
        picture(u, v) = colors[i];
      }
    }
  }
  return picture;
}

}  // namespace sextant::app
