// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views/object_pixels.h"

#include <algorithm>
#include <cmath>

#include "sextant/depth/surface_from_depth.h"
#include "sextant/surface/surface_operations.h"

namespace sextant::detail::learn_views {

namespace {

/// A plane that holds this share of what is seen is what the object stands on.
constexpr double kSupportShare = 1.0 / 6;
/// How high above it things begin: the noise of a near sensor, and what a crease blurs.
constexpr float kAbove_m = 0.005f;

/// A connected piece of the picture.
struct Piece {
  std::int64_t pixels = 0;
  double nearest_px = INFINITY;  ///< of its pixels to the middle of the image
  float lowest_m = INFINITY;     ///< above the support
};

/// Labels connected pixels of `wanted`, which are neighbours where the depth does not jump.
std::vector<Piece> label_pieces(const Image<float>& depth_m, const Image<std::uint8_t>& wanted,
                                const Image<float>& height_m, Image<std::int32_t>& labels) {
  const int width = depth_m.width(), height = depth_m.height();
  for (std::int32_t& label : labels.pixels().host()) label = -1;
  std::vector<Piece> pieces;
  std::vector<std::int32_t> open;
  const auto joined = [](float a, float b) {
    return std::abs(a - b) <= std::max(0.01f, 0.015f * std::min(a, b));
  };
  for (std::int32_t seed = 0; seed < width * height; ++seed) {
    if (!wanted.pixels().data()[seed] || labels.pixels().data()[seed] >= 0) continue;
    const auto label = static_cast<std::int32_t>(pieces.size());
    pieces.emplace_back();
    Piece& piece = pieces.back();
    open.assign(1, seed);
    labels.pixels().data()[seed] = label;
    while (!open.empty()) {
      const std::int32_t at = open.back();
      open.pop_back();
      const int u = at % width, v = at / width;
      ++piece.pixels;
      piece.nearest_px =
          std::min(piece.nearest_px, std::hypot(u - (width - 1) / 2.0, v - (height - 1) / 2.0));
      piece.lowest_m = std::min(piece.lowest_m, height_m(u, v));
      const int steps[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
      for (const auto& step : steps) {
        const int to_u = u + step[0], to_v = v + step[1];
        if (to_u < 0 || to_v < 0 || to_u >= width || to_v >= height) continue;
        if (!wanted(to_u, to_v) || labels(to_u, to_v) >= 0) continue;
        if (!joined(depth_m(u, v), depth_m(to_u, to_v))) continue;
        labels(to_u, to_v) = label;
        open.push_back(to_v * width + to_u);
      }
    }
  }
  return pieces;
}

ObjectPixels by_mask(const RgbdView& view) {
  ObjectPixels result;
  result.background = "masks";
  result.object = Image<std::uint8_t>(Context::cpu(), view.depth_m.width(), view.depth_m.height());
  for (std::int64_t i = 0; i < view.depth_m.pixels().size(); ++i) {
    result.object.pixels().data()[i] =
        view.mask.pixels().data()[i] && view.depth_m.pixels().data()[i] > 0 ? 1 : 0;
  }
  return result;
}

}  // namespace

ObjectPixels find_object(const Context& context, const RgbdView& view) {
  if (!view.mask.empty()) return by_mask(view);
  Surface surface = surface_from_depth(context, view.depth_m, view.camera);
  estimate_normals(context, surface);
  const CloudSegmentation segments = segment(context, surface);
  const int width = view.depth_m.width(), height = view.depth_m.height();
  std::int64_t valid = 0;
  for (const Vec3f& p : surface.points.host()) valid += is_finite(p) ? 1 : 0;

  ObjectPixels result;
  result.object = Image<std::uint8_t>(Context::cpu(), width, height);
  Image<std::uint8_t> wanted(Context::cpu(), width, height);
  Image<float> height_m(Context::cpu(), width, height);
  const SurfaceRegion* support = nullptr;
  for (const SurfaceRegion& region : segments.regions) {
    if (region.kind != SurfaceKind::kPlane) continue;
    if (static_cast<double>(region.points) < kSupportShare * static_cast<double>(valid)) continue;
    if (!support || region.points > support->points) support = &region;
  }
  for (std::int64_t i = 0; i < surface.size(); ++i) {
    const Vec3f p = surface.points.data()[i];
    const bool measured = is_finite(p) && p.z > 0;
    float above_m = measured ? 0.0f : NAN;
    if (measured && support) above_m = dot(support->normal, p) - support->offset_m;
    // Normals look towards the camera, so what stands on the plane has positive heights.
    const float least_m = support ? std::max(kAbove_m, 3 * support->rms_m) : -1.0f;
    height_m.pixels().data()[i] = above_m;
    wanted.pixels().data()[i] = measured && above_m > least_m ? 1 : 0;
  }
  Image<std::int32_t> labels(Context::cpu(), width, height);
  const std::vector<Piece> pieces = label_pieces(view.depth_m, wanted, height_m, labels);
  std::int64_t largest = 0;
  for (const Piece& piece : pieces) largest = std::max(largest, piece.pixels);
  int chosen = -1;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    // Specks are none; what floats high above the support does not stand on it.
    if (pieces[k].pixels < 200 || pieces[k].pixels * 20 < largest) continue;
    if (support && pieces[k].lowest_m > 0.05f) continue;
    if (chosen < 0 || pieces[k].nearest_px < pieces[static_cast<std::size_t>(chosen)].nearest_px) {
      chosen = static_cast<int>(k);
    }
  }
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < surface.size(); ++i) {
    const bool mine = chosen >= 0 && labels.pixels().data()[i] == chosen;
    result.object.pixels().data()[i] = mine ? 1 : 0;
    others += wanted.pixels().data()[i] && !mine ? 1 : 0;
  }
  result.background = support ? "its support plane" : "taking what hangs together in the middle";
  // A sensor sees more than one object. Where next to nothing else is seen, the background was
  // removed before, and smaller pieces are parts of the object behind others.
  constexpr double kMostOthers = 0.02;
  const double pixels = static_cast<double>(surface.size());
  if (!support && chosen >= 0 && static_cast<double>(others) < kMostOthers * pixels) {
    for (std::int64_t i = 0; i < surface.size(); ++i) {
      result.object.pixels().data()[i] = wanted.pixels().data()[i];
    }
    result.cut_out = true;
    result.background = "whoever made the depth maps";
  }
  return result;
}

}  // namespace sextant::detail::learn_views
