// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "sextant/render/rasterize.h"
#include "shapes.h"

// A picture with soft shadows and smooth edges, out of many plain ones.

namespace photograph {

using namespace sextant;

/// Light and surroundings. Positions are in the camera's frame.
struct Studio {
  Vec3f lamp_m;
  Vec3f target_m;            ///< what the lamp is turned to
  double lamp_radius_m = 0;  ///< a larger lamp makes softer shadows
  float ambient = 0.35f;     ///< share of the light that comes from everywhere
  float exposure = 1.2f;
  float haze_m = 2.2f;  ///< distance at which the backdrop takes over
  Vec3f backdrop{0.80f, 0.86f, 0.93f};
  int shots = 32;  ///< how many plain pictures are averaged
};

/// Evenly spread numbers in [0, 1): the van der Corput sequence of a base.
inline double spread(int index, int base) {
  double value = 0, share = 1;
  for (; index > 0; index /= base) value += (index % base) * (share /= base);
  return value;
}

/// The camera of the lamp: what it does not see lies in shadow.
inline Camera lamp_camera() { return {1024, 1024, 1300, 1300, 511.5, 511.5, {}}; }

inline Rigid3f lamp_from_camera(const Studio& studio, int shot) {
  const double turn = 2 * M_PI * spread(shot, 5);
  const double radius_m = studio.lamp_radius_m * std::sqrt(spread(shot, 7));
  return shapes::look_at(studio.lamp_m + Vec3f{static_cast<float>(radius_m * std::cos(turn)), 0,
                                               static_cast<float>(radius_m * std::sin(turn))},
                         studio.target_m);
}

/// 1 where the lamp sees the point, given in the lamp's frame, and 0 in shadow.
inline float lamp_sees(const std::vector<float>& lamp_depth_m, const Vec3f& point_m) {
  constexpr float kMarginM = 0.003f;  // a surface must not shade itself
  const Camera lamp = lamp_camera();
  const Vec2d pixel = project(lamp, cast<double>(point_m));
  if (!(pixel.x >= 0 && pixel.y >= 0 && pixel.x < lamp.width - 1 && pixel.y < lamp.height - 1)) {
    return 1;
  }
  const auto u = static_cast<std::size_t>(pixel.x + 0.5);
  const auto v = static_cast<std::size_t>(pixel.y + 0.5);
  return lamp_depth_m[v * lamp.width + u] < point_m.z - kMarginM ? 0.0f : 1.0f;
}

/// Bytes on the screen are about the 2.2th root of light.
inline std::array<float, 256> light_of_bytes() {
  std::array<float, 256> light;
  for (int i = 0; i < 256; ++i) light[i] = std::pow(static_cast<float>(i) / 255, 2.2f);
  return light;
}
inline std::uint8_t to_byte(float light) {
  return static_cast<std::uint8_t>(255 * std::pow(clamp(light, 0.0f, 1.0f), 1 / 2.2f) + 0.5f);
}

/// One plain picture, shifted by a part of a pixel and lit from one place of the lamp, added to
/// `sum`.
inline void add_shot(const Context& context, const RenderScene& scene, Camera camera,
                     std::vector<Instance> instances, const Studio& studio, int shot,
                     std::vector<Vec3f>& sum) {
  camera.cx_px += spread(shot, 2) - 0.5;
  camera.cy_px += spread(shot, 3) - 0.5;
  RenderOptions options;
  options.normals = options.colors = true;
  const Rendering seen = render(context, scene, camera, instances, options);
  const Rigid3f to_lamp = lamp_from_camera(studio, shot);
  for (Instance& instance : instances) {
    instance.camera_from_object = to_lamp * instance.camera_from_object;
  }
  const Rendering lit = render(context, scene, lamp_camera(), instances);
  const auto depth_m = to_host(context, seen.depth_m), lamp_depth_m = to_host(context, lit.depth_m);
  const auto normals = to_host(context, seen.normals);
  const auto colors = to_host(context, seen.colors);
  const Vec3f lamp_m = inverse(to_lamp).translation;
  const std::array<float, 256> light_of = light_of_bytes();
  for (std::size_t i = 0; i < depth_m.size(); ++i) {
    const Vec2d pixel{static_cast<double>(i % camera.width), static_cast<double>(i / camera.width)};
    if (std::isnan(depth_m[i])) {
      sum[i] += studio.backdrop;
      continue;
    }
    const Vec3f point_m = cast<float>(unproject(camera, pixel)) * depth_m[i];
    const float cosine = std::max(0.0f, dot(normals[i], normalized(lamp_m - point_m)));
    const float light =
        studio.ambient + (1 - studio.ambient) * cosine * lamp_sees(lamp_depth_m, to_lamp * point_m);
    const float far_sq = norm_sq(point_m) / (studio.haze_m * studio.haze_m);
    const float clear = std::exp(-far_sq * far_sq);
    const Vec3f color{light_of[colors[i].x], light_of[colors[i].y], light_of[colors[i].z]};
    sum[i] += color * (light * clear) + studio.backdrop * (1 - clear);
  }
}

/// The mean of all shots, on the host.
inline Image<Rgb8> take(const Context& context, const RenderScene& scene, const Camera& camera,
                        const std::vector<Instance>& instances, const Studio& studio) {
  Image<Rgb8> picture(Context::cpu(), camera.width, camera.height);
  std::vector<Vec3f> sum(static_cast<std::size_t>(picture.pixels().size()));
  for (int shot = 0; shot < studio.shots; ++shot) {
    add_shot(context, scene, camera, instances, studio, shot, sum);
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const Vec3f mean = sum[i] / static_cast<float>(studio.shots);
    picture.pixels().data()[i] = {to_byte(mean.x), to_byte(mean.y), to_byte(mean.z)};
  }
  return picture;
}

}  // namespace photograph
