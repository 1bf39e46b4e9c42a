// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sextant/descriptor/view_tensors.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant::app {

/// A toy of the catalogue that is seen alone from some distance, as the tensor paper's objects.
struct SeenObject {
  std::string name;
  RenderScene scene;
  Vec3d centre_m;
};

/// The seven toys.
std::vector<SeenObject> seven_toys(const Context& context);

/// A camera that looks at the object's centre from a direction of the sphere, turned about its own
/// axis by `roll_rad`.
Rigid3d look_at(const SeenObject& object, const Vec3d& direction, double distance_m,
                double roll_rad);

/// Directions that cover the sphere evenly (a spiral).
Vec3d direction_of(int number, int count);

struct ViewOptions {
  double distance_m = 0.8;
  std::optional<SensorModel> noise;  ///< none for exact depth
  ViewTensorOptions tensors;
};

/// The tensors of one view, packed, on the context's device: depth, noise, view_tensors.
TensorSet tensors_of_view(const Context& context, const SeenObject& object,
                          const Rigid3d& camera_from_object, const ViewOptions& options,
                          std::uint64_t seed);

/// One set of several, on the host, with the number of the set that each tensor is from.
struct JoinedTensors {
  TensorSet tensors;
  std::vector<std::int32_t> sources;
};
JoinedTensors join_tensors(const std::vector<TensorSet>& sets);

}  // namespace sextant::app
