// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views/prepare_view.h"

#include <algorithm>
#include <cmath>

#include "sextant/depth/bilateral.h"
#include "sextant/depth/surface_from_depth.h"
#include "sextant/descriptor/surface_descriptors.h"
#include "sextant/geometry/gather.h"
#include "sextant/learn/learn_views/object_pixels.h"
#include "sextant/surface/surface_operations.h"

namespace sextant::detail::learn_views {

namespace {

/// Rims float, and steep surfaces are measured badly.
constexpr int kRim_px = 2;
constexpr float kLeastCosine = 0.26f;  // 75 degrees
/// Masks often end where the depth is good, not where the object does: what lies outside a mask by
/// more than this share of its diagonal is surely not the object.
constexpr double kMaskSlack = 0.08;

double diagonal_px(const Image<std::uint8_t>& mask) {
  int low_u = mask.width(), low_v = mask.height(), high_u = -1, high_v = -1;
  for (int v = 0; v < mask.height(); ++v) {
    for (int u = 0; u < mask.width(); ++u) {
      if (!mask(u, v)) continue;
      low_u = std::min(low_u, u);
      low_v = std::min(low_v, v);
      high_u = std::max(high_u, u);
      high_v = std::max(high_v, v);
    }
  }
  return high_u < 0 ? 0.0 : std::hypot(high_u - low_u, high_v - low_v);
}

/// Not 0 within `reach` pixels of a pixel whose value (as a truth) is `value`.
Image<std::uint8_t> grown(const Image<std::uint8_t>& from, int reach, bool value) {
  const int width = from.width(), height = from.height();
  Image<std::uint8_t> rows(Context::cpu(), width, height), result(Context::cpu(), width, height);
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      bool hit = false;
      for (int x = std::max(0, u - reach); x <= std::min(width - 1, u + reach) && !hit; ++x) {
        hit = (from(x, v) != 0) == value;
      }
      rows(u, v) = hit ? 1 : 0;
    }
  }
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      bool hit = false;
      for (int y = std::max(0, v - reach); y <= std::min(height - 1, v + reach) && !hit; ++y) {
        hit = rows(u, y) != 0;
      }
      result(u, v) = hit ? 1 : 0;
    }
  }
  return result;
}

/// The same picture with NaN where `keep` is 0.
Image<float> only(const Image<float>& depth_m, const Image<std::uint8_t>& keep) {
  Image<float> result(Context::cpu(), depth_m.width(), depth_m.height());
  for (std::int64_t i = 0; i < depth_m.pixels().size(); ++i) {
    result.pixels().data()[i] = keep.pixels().data()[i] ? depth_m.pixels().data()[i] : NAN;
  }
  return result;
}

}  // namespace

PreparedView prepare_view(const Context& context, const RgbdView& view) {
  PreparedView prepared;
  prepared.camera = view.camera;
  const ObjectPixels found = find_object(context, view);
  prepared.background = found.background;
  const int width = view.depth_m.width(), height = view.depth_m.height();
  prepared.seen_m = Image<float>(copy(context, view.depth_m.pixels()), width, height);
  prepared.outside = Image<std::uint8_t>(context, width, height);
  if (view.mask.empty() && !found.cut_out) {
    for (std::uint8_t& pixel : prepared.outside.pixels().host()) pixel = 0;
  } else {
    const Image<std::uint8_t>& mask = found.cut_out ? found.object : view.mask;
    const int slack_px = 4 + static_cast<int>(kMaskSlack * diagonal_px(mask));
    const Image<std::uint8_t> near = grown(mask, slack_px, true);
    for (std::int64_t i = 0; i < near.pixels().size(); ++i) {
      prepared.outside.pixels().data()[i] = near.pixels().data()[i] ? 0 : 1;
    }
  }

  const Image<float> object_m = only(view.depth_m, found.object);
  const Image<float> smooth_m = bilateral_filter(context, object_m);
  prepared.surface = surface_from_depth(context, smooth_m, view.camera);
  estimate_normals(context, prepared.surface);
  const Image<std::uint8_t> rim = grown(found.object, kRim_px, false);
  Image<std::uint8_t> keep(context, width, height);
  for (std::int64_t i = 0; i < prepared.surface.size(); ++i) {
    Vec3f& p = prepared.surface.points.data()[i];
    Vec3f& n = prepared.surface.normals.data()[i];
    const bool good = is_finite(p) && is_finite(n) && !rim.pixels().data()[i] &&
                      -dot(n, p) > kLeastCosine * norm(p);
    keep.pixels().data()[i] = good ? 1 : 0;
    if (!good) p = n = {NAN, NAN, NAN};
    prepared.points += good ? 1 : 0;
  }
  prepared.surface.forget_grids();
  prepared.depth_m = only(object_m, keep);
  if (prepared.points < kLeastPixels) {
    prepared.points = 0;
    return prepared;
  }
  prepared.diagonal_m = bounds(context, prepared.surface.points).diagonal_m();
  prepared.aligned = AlignSurface(context, prepared.surface);
  return prepared;
}

void describe_view(const Context& context, std::span<const float> radii_m, PreparedView& view) {
  view.described.clear();
  for (float radius_m : radii_m) {
    // Keypoints that are a sixth of the radius apart share most of what they describe.
    const Buffer<std::int32_t> keypoints =
        uniform_keypoints(context, view.surface.points, {.leaf_m = radius_m / 6});
    DescribedPoints described;
    described.points = gather<Vec3f>(context, view.surface.points, keypoints);
    described.normals = gather<Vec3f>(context, view.surface.normals, keypoints);
    described.shot = compute_shot(context, ShotSurface{view.surface.points, view.surface.normals},
                                  keypoints.view(), {.radius_m = radius_m});
    view.described.push_back(std::move(described));
  }
}

Agreement agreement(const PreparedView& a, const PreparedView& b, const Rigid3d& a_from_b,
                    double tolerance_m) {
  Agreement result;
  const Rigid3f motion = cast<float>(a_from_b);
  const Cameraf camera = cast<float>(a.camera);
  const auto tolerance = static_cast<float>(tolerance_m);
  const std::int64_t step = std::max<std::int64_t>(1, b.points / 3000);
  std::int64_t number = 0;
  for (std::int64_t i = 0; i < b.surface.size(); ++i) {
    const Vec3f p = b.surface.points.data()[i];
    if (!is_finite(p) || number++ % step != 0) continue;
    const Vec3f x = motion * p;
    const Vec2f pixel = project(camera, x);
    const bool in_view = pixel.x > 1 && pixel.y > 1 &&
                         pixel.x < static_cast<float>(camera.width) - 2 &&
                         pixel.y < static_cast<float>(camera.height) - 2;
    if (!in_view) continue;
    result.in_view += 1;
    const Vec3f n = motion.rotation * b.surface.normals.data()[i];
    const bool facing = -dot(n, x) > 0.3f * norm(x);
    if (facing) result.facing += 1;
    const int u = static_cast<int>(pixel.x + 0.5f), v = static_cast<int>(pixel.y + 0.5f);
    if (a.outside(u, v)) {
      result.violated += 1;
      continue;
    }
    float nearest = INFINITY;  // how far the measured surface lies behind x, around the pixel
    bool object = false;
    for (int dv = -1; dv <= 1; ++dv) {
      for (int du = -1; du <= 1; ++du) {
        const float behind = a.seen_m(u + du, v + dv) - x.z;
        if (std::abs(behind) < std::abs(nearest)) {
          nearest = behind;
          object = a.depth_m(u + du, v + dv) > 0;
        }
      }
    }
    if (!std::isfinite(nearest)) continue;
    if (nearest > tolerance) {
      result.violated += 1;
    } else if (nearest > -tolerance && facing && object) {
      result.supported += 1;
    }
  }
  return result;
}

}  // namespace sextant::detail::learn_views
