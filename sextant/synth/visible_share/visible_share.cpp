// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/visible_share.h"

namespace sextant {

std::vector<Visibility> measure_visibility(const Context& context, const RenderScene& scene,
                                           const Camera& camera,
                                           std::span<const Instance> instances) {
  RenderOptions options;
  options.depth = false;
  options.object_ids = true;
  std::vector<Instance> together(instances.begin(), instances.end());
  for (std::size_t i = 0; i < together.size(); ++i) {
    together[i].object_id = static_cast<std::int32_t>(i);
    together[i].view = 0;
  }
  std::vector<Visibility> result(instances.size());
  const auto count = [&](std::span<const Instance> drawn, std::int64_t Visibility::*into) {
    const Rendering rendering = render(context, scene, camera, drawn, options);
    for (const std::int32_t id : to_host(context, rendering.object_ids)) {
      if (id >= 0) ++(result[static_cast<std::size_t>(id)].*into);
    }
  };
  count(together, &Visibility::seen_px);
  for (const Instance& instance : together) count({&instance, 1}, &Visibility::alone_px);
  return result;
}

}  // namespace sextant
