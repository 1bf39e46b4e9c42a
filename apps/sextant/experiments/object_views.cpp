// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/object_views.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "measure/surface_chain.h"
#include "sextant/synth/catalogue.h"

namespace sextant::app {

std::vector<SeenObject> seven_toys(const Context& context) {
  std::vector<SeenObject> toys;
  for (const CatalogueEntry& entry : object_catalogue()) {
    if (entry.set != ObjectSet::kToys) continue;
    const TriangleMesh mesh = make_object(entry.name);
    const Bounds box = bounds(Context::cpu(), mesh.vertices.points);
    toys.push_back({std::string(entry.name), RenderScene(context, mesh),
                    cast<double>((box.low + box.high) / 2.0f)});
  }
  return toys;
}

Rigid3d look_at(const SeenObject& object, const Vec3d& direction, double distance_m,
                double roll_rad) {
  const Vec3d forward = normalized(direction) * -1.0;
  const Vec3d other = std::abs(forward.z) < 0.9 ? Vec3d{0, 0, 1} : Vec3d{1, 0, 0};
  const Vec3d right = normalized(cross(forward, other));
  const Vec3d down = cross(forward, right);
  Rigid3d turned;
  turned.rotation.row[0] = right;
  turned.rotation.row[1] = down;
  turned.rotation.row[2] = forward;
  Rigid3d roll;
  roll.rotation = exp_rotation(Vec3d{0, 0, roll_rad});
  turned.rotation = roll.rotation * turned.rotation;
  turned.translation = Vec3d{0, 0, distance_m} - turned.rotation * object.centre_m;
  return turned;
}

Vec3d direction_of(int number, int count) {
  const double z = 1.0 - (2.0 * number + 1.0) / count;
  const double angle = number * std::numbers::pi * (3.0 - std::sqrt(5.0));
  const double radius = std::sqrt(1.0 - z * z);
  return {radius * std::cos(angle), radius * std::sin(angle), z};
}

TensorSet tensors_of_view(const Context& context, const SeenObject& object,
                          const Rigid3d& camera_from_object, const ViewOptions& options,
                          std::uint64_t seed) {
  const Camera camera = measure::vga_camera();
  Instance instance;
  instance.camera_from_object = cast<float>(camera_from_object);
  const Rendering rendering =
      render(context, object.scene, camera, std::span(&instance, 1), {.normals = true});
  ViewTensorOptions drawn = options.tensors;
  drawn.seed = seed;
  if (!options.noise) return view_tensors(context, rendering.depth_m_of(0), camera, drawn);
  const Image<float> noisy_m =
      add_sensor_noise(context, rendering.depth_m_of(0), rendering.normals_of(0), camera,
                       sensor_noise(*options.noise), seed);
  return view_tensors(context, noisy_m, camera, drawn);
}

JoinedTensors join_tensors(const std::vector<TensorSet>& sets) {
  const Context host = Context::cpu();
  std::int64_t tensors = 0, elements = 0;
  for (const TensorSet& set : sets) tensors += set.count.host()[0], elements += set.values.size();
  JoinedTensors joined;
  TensorSet& to = joined.tensors;
  to.bins = sets.empty() ? TensorOptions{}.bins : sets[0].bins;
  to.count = copy(host, std::vector<std::int32_t>{static_cast<std::int32_t>(tensors)});
  to.frames = Buffer<TensorFrame>(host, tensors);
  to.masks = Buffer<TensorMask>(host, tensors);
  to.sizes = Buffer<std::int32_t>(host, tensors);
  to.first = Buffer<std::int64_t>(host, tensors);
  to.indices = Buffer<std::uint16_t>(host, elements);
  to.values = Buffer<float>(host, elements);
  std::int64_t tensor = 0, element = 0;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const TensorSet& set = sets[s];
    const std::int32_t count = set.count.host()[0];
    for (std::int32_t t = 0; t < count; ++t) {
      to.first.host()[tensor + t] = element + set.first.host()[t];
      joined.sources.push_back(static_cast<std::int32_t>(s));
    }
    std::copy_n(set.frames.data(), count, to.frames.data() + tensor);
    std::copy_n(set.masks.data(), count, to.masks.data() + tensor);
    std::copy_n(set.sizes.data(), count, to.sizes.data() + tensor);
    std::copy_n(set.indices.data(), set.indices.size(), to.indices.data() + element);
    std::copy_n(set.values.data(), set.values.size(), to.values.data() + element);
    tensor += count;
    element += set.values.size();
  }
  return joined;
}

}  // namespace sextant::app
