// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sextant/synth/photo_noise.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"

namespace sextant::app {

/// What a camera without errors sees of a table, on the host, in the light that all our tables
/// have: depth, normals, object ids and colours.
struct TablePicture {
  Image<float> depth_m;
  Image<Vec3f> normals;
  Image<std::int32_t> ids;  ///< 0 for the table, i + 1 for objects[i] of the scene, -1 for nothing
  Image<Rgb8> colors;
};
TablePicture take_picture(const Context& context, const TableScene& scene);

/// The depth map that a sensor makes of the exact one, on the host; the exact one without a sensor.
Image<float> sensed_depth(const Context& context, const Camera& camera, const Image<float>& depth_m,
                          const Image<Vec3f>& normals,
                          const std::optional<SensorNoiseOptions>& sensor, std::uint64_t seed);

}  // namespace sextant::app
