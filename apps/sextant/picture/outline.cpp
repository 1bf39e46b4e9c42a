// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/picture/outline.h"

#include <algorithm>
#include <cmath>

#include "sextant/render/rasterize.h"

namespace sextant::app {

namespace {

constexpr float kHides_m = 0.01f;  // by which something is nearer that hides an object

Rgb8 mixed(const Rgb8& a, const Rgb8& b, float share) {
  const auto mix = [&](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>((1 - share) * static_cast<float>(x) +
                                     share * static_cast<float>(y));
  };
  return {mix(a.x, b.x), mix(a.y, b.y), mix(a.z, b.z)};
}

}  // namespace

Image<float> depth_of_object(const RenderScene& meshes, int mesh, const Camera& camera,
                             const Rigid3d& camera_from_object) {
  const Instance instance{mesh, 0, 0, cast<float>(camera_from_object)};
  Rendering seen = render(Context::cpu(), meshes, camera, {&instance, 1});
  return Image<float>(std::move(seen.depth_m), seen.width, seen.height);
}

void draw_outline(ImageView<const float> object_depth_m, const Rgb8& color, float share,
                  Image<Rgb8>& picture, ImageView<const float> measured_m) {
  const auto inside = [&](int u, int v) {
    return object_depth_m.contains(u, v) && object_depth_m(u, v) > 0;
  };
  const auto hidden = [&](int u, int v) {
    return measured_m.contains(u, v) && measured_m(u, v) < object_depth_m(u, v) - kHides_m;
  };
  for (int v = 0; v < object_depth_m.height; ++v) {
    for (int u = 0; u < object_depth_m.width; ++u) {
      if (!inside(u, v)) continue;
      const bool rim =
          !inside(u - 2, v) || !inside(u + 2, v) || !inside(u, v - 2) || !inside(u, v + 2);
      Rgb8& pixel = picture(u, v);
      if (rim) {
        pixel = color;
      } else if (!hidden(u, v)) {
        pixel = mixed(pixel, color, share);
      }
    }
  }
}

void draw_line(const Vec2d& from_px, const Vec2d& to_px, const Rgb8& color, int width,
               Image<Rgb8>& picture) {
  constexpr double kFar_px = 1e5;  // a line that goes so far out of the picture is none
  const Vec2d along = to_px - from_px;
  const double length = std::max(std::abs(along.x), std::abs(along.y));
  if (!(length < kFar_px && std::abs(from_px.x) < kFar_px && std::abs(from_px.y) < kFar_px)) return;
  const int steps = std::max(1, static_cast<int>(std::ceil(length)));
  for (int i = 0; i <= steps; ++i) {
    const Vec2d at = from_px + along * (static_cast<double>(i) / steps);
    const int left = static_cast<int>(std::lround(at.x)) - width / 2;
    const int top = static_cast<int>(std::lround(at.y)) - width / 2;
    for (int v = std::max(top, 0); v < std::min(top + width, picture.height()); ++v) {
      for (int u = std::max(left, 0); u < std::min(left + width, picture.width()); ++u) {
        picture(u, v) = color;
      }
    }
  }
}

void draw_axes(const Camera& camera, const Rigid3d& camera_from_object, const Vec3d& point_m,
               double length_m, int width, Image<Rgb8>& picture) {
  constexpr Rgb8 kColors[] = {{255, 60, 60}, {60, 220, 60}, {80, 120, 255}};
  const Vec3d ends[] = {{length_m, 0, 0}, {0, length_m, 0}, {0, 0, length_m}};
  const Vec2d start = project(camera, camera_from_object * point_m);
  // The farthest first, so that what points towards the camera lies above.
  int order[] = {0, 1, 2};
  std::stable_sort(std::begin(order), std::end(order), [&](int a, int b) {
    return (camera_from_object.rotation * ends[a]).z > (camera_from_object.rotation * ends[b]).z;
  });
  for (const int i : order) {
    const Vec2d end = project(camera, camera_from_object * (point_m + ends[i]));
    draw_line(start, end, kColors[i], width, picture);
  }
}

Image<Rgb8> grey_of(const Image<float>& depth_m) {
  std::vector<float> sorted;
  for (const float z : depth_m.pixels().host()) {
    if (z > 0) sorted.push_back(z);
  }
  std::sort(sorted.begin(), sorted.end());
  const float near = sorted.empty() ? 0.5f : sorted[sorted.size() / 50];
  const float far = sorted.empty() ? 1.0f : sorted[sorted.size() - 1 - sorted.size() / 50];
  Image<Rgb8> picture(Context::cpu(), depth_m.width(), depth_m.height());
  for (std::int64_t i = 0; i < depth_m.pixels().size(); ++i) {
    const float z = depth_m.pixels().data()[i];
    if (!(z > 0)) {
      picture.pixels().data()[i] = {10, 10, 40};
      continue;
    }
    const float share = std::clamp((far - z) / std::max(far - near, 1e-3f), 0.0f, 1.0f);
    const auto level = static_cast<std::uint8_t>(40 + 200 * share);
    picture.pixels().data()[i] = {level, level, level};
  }
  return picture;
}

}  // namespace sextant::app
