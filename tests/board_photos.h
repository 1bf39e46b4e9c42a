// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/geometry/camera.h"
#include "sextant/geometry/cloud.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "sextant/synth/photo_noise.h"
#include "tests/make_image.h"
#include "tests/meshes.h"

// Photographs of a printed carton, on a printed sheet or without, whose poses are known.

namespace sextant::testing {

/// The tea box of the catalogue, 13 x 7 x 8 cm, standing on the middle of a sheet that lies in
/// z = 0, its longer side towards y. Where the sheet is empty there is a grey table.
struct BoxScene {
  TriangleMesh box = make_object("tea_box");
  TriangleMesh sheet;
  Rigid3d sheet_from_box{exp_rotation(Vec3d{0, 0, M_PI / 2}), {}};

  /// The distance of a point in the sheet's frame from the surface of the box.
  double off_surface_m(const Vec3d& at_m) const {
    const Bounds sides = bounds(Context::cpu(1), box.vertices.points);
    const Vec3d p = inverse(sheet_from_box) * at_m;
    const double x[3] = {p.x, p.y, p.z};
    const double low[3] = {sides.low.x, sides.low.y, sides.low.z};
    const double high[3] = {sides.high.x, sides.high.y, sides.high.z};
    double outside_sq = 0, inside = INFINITY;
    for (int i = 0; i < 3; ++i) {
      const double out = std::max({low[i] - x[i], x[i] - high[i], 0.0});
      outside_sq += out * out;
      inside = std::min({inside, x[i] - low[i], high[i] - x[i]});
    }
    return outside_sq > 0 ? std::sqrt(outside_sq) : inside;
  }
};

/// A sheet of this size about the origin that shows a picture, as one reads it with y upwards.
inline TriangleMesh sheet_with(const Image<std::uint8_t>& picture, double width_m,
                               double height_m) {
  const auto w = static_cast<float>(width_m), h = static_cast<float>(height_m);
  TriangleMesh sheet = quad({-w / 2, -h / 2, 0}, {w, 0, 0}, {0, h, 0});
  Material& paint = sheet.materials.emplace_back();
  paint.texture = make_image<Rgb8>(picture.width(), picture.height(), [&](int u, int v) {
    const std::uint8_t grey = picture(u, v);
    return Rgb8{grey, grey, grey};
  });
  return sheet;
}

inline TriangleMesh grey_sheet(double width_m, double height_m) {
  return sheet_with(make_image<std::uint8_t>(4, 4, [](int, int) { return std::uint8_t{140}; }),
                    width_m, height_m);
}

/// The camera at a place of the sheet's frame that looks at a point of it, x level.
inline Rigid3d looking_at(const Vec3d& from_m, const Vec3d& at_m, double roll_rad = 0) {
  const Vec3d z = normalized(at_m - from_m);
  const Vec3d x = normalized(cross(z, Vec3d{0, 0, 1}));
  const Mat3d level{{x, cross(z, x), z}};
  const Mat3d turned = exp_rotation(Vec3d{0, 0, roll_rad}) * level;
  return {turned, -(turned * from_m)};
}

/// Poses around the scene, from two heights, of cameras that all see the whole sheet; no two alike,
/// as from a hand.
inline std::vector<Rigid3d> poses_around(int count, double distance_m, double turn_rad = 0) {
  std::vector<Rigid3d> poses;
  for (int i = 0; i < count; ++i) {
    const Random hand{11, static_cast<std::uint64_t>(i)};
    const double turn = turn_rad + 2 * M_PI * i / count + 0.25 * (hand.uniform(0) - 0.5);
    const double raise = (i % 2 == 0 ? 0.65 : 0.95) + 0.2 * (hand.uniform(1) - 0.5);
    const double far = distance_m * (1 + 0.15 * hand.uniform(2));
    const Vec3d from{far * std::cos(raise) * std::cos(turn), far * std::cos(raise) * std::sin(turn),
                     far * std::sin(raise)};
    poses.push_back(looking_at(from, {0, 0, 0.03}, 0.1 * (i % 5 - 2)));
  }
  return poses;
}

struct PhotoLook {
  double blur_px = 0.7;
  double light = 1;  ///< brightness of the whole
  double slope = 0;  ///< how much brighter the right side is than the left
  float electrons = 8000;
  std::uint64_t seed = 0;
};

/// What a camera takes of the scene: three by three rays a pixel, then lens and sensor.
inline Image<Rgb8> photograph_of(const BoxScene& scene, const Camera& camera,
                                 const Rigid3d& camera_from_sheet, const PhotoLook& look) {
  constexpr int kRays = 3;
  const Context cpu = Context::cpu();
  Camera fine = camera;
  fine.width *= kRays;
  fine.height *= kRays;
  fine.fx_px *= kRays;
  fine.fy_px *= kRays;
  fine.cx_px = kRays * (camera.cx_px + 0.5) - 0.5;
  fine.cy_px = kRays * (camera.cy_px + 0.5) - 0.5;
  const TriangleMesh* const meshes[] = {&scene.sheet, &scene.box};
  const RenderScene drawn(cpu, meshes);
  const Instance instances[] = {{0, 0, 0, cast<float>(camera_from_sheet)},
                                {1, 0, 1, cast<float>(camera_from_sheet * scene.sheet_from_box)}};
  RenderOptions options;
  options.depth = false;
  options.colors = true;
  const Rendering rendering = render(cpu, drawn, fine, instances, options);
  const ImageView<const Rgb8> rays = rendering.colors_of(0);
  const Image<Rgb8> clean = make_image<Rgb8>(camera.width, camera.height, [&](int u, int v) {
    double sum[3] = {};
    for (int k = 0; k < kRays * kRays; ++k) {
      const Rgb8& c = rays(kRays * u + k % kRays, kRays * v + k / kRays);
      sum[0] += c.x, sum[1] += c.y, sum[2] += c.z;
    }
    const double side = 2.0 * u / camera.width - 1;
    const double light = look.light * (1 + look.slope * side) / (kRays * kRays);
    const auto level = [&](double x) {
      return static_cast<std::uint8_t>(std::lround(std::clamp(x * light, 0.0, 255.0)));
    };
    return Rgb8{level(sum[0]), level(sum[1]), level(sum[2])};
  });
  PhotoNoiseOptions noise;
  noise.blur_px = static_cast<float>(look.blur_px);
  noise.full_well_electrons = look.electrons;
  return add_photo_noise(cpu, clean.view(), noise, look.seed);
}

}  // namespace sextant::testing
