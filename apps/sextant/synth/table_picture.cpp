// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/synth/table_picture.h"

namespace sextant::app {

TablePicture take_picture(const Context& context, const TableScene& scene) {
  RenderOptions options;
  options.normals = options.colors = options.object_ids = true;
  options.ambient = 0.45f;
  options.light_right_rad = -0.7f;
  options.light_up_rad = 0.9f;
  const Rendering seen = to_host(context, render_table_scene(context, scene, options));
  const auto image = [&](const auto& buffer) {
    return Image(copy(Context::cpu(), buffer), seen.width, seen.height);
  };
  return {image(seen.depth_m), image(seen.normals), image(seen.object_ids), image(seen.colors)};
}

Image<float> sensed_depth(const Context& context, const Camera& camera, const Image<float>& depth_m,
                          const Image<Vec3f>& normals,
                          const std::optional<SensorNoiseOptions>& sensor, std::uint64_t seed) {
  if (!sensor) return copy(Context::cpu(), depth_m);
  return to_host(context, add_sensor_noise(context, copy(context, depth_m), copy(context, normals),
                                           camera, *sensor, seed));
}

}  // namespace sextant::app
