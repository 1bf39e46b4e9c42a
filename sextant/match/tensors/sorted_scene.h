// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/match/tensors/math.h"

namespace sextant::detail::tensors {

/// The scene's tensors in the order of their angles, as a thread of the host that has one of the
/// library needs them. Those without an angle are last.
struct SortedScene {
  View<float> angles_rad;
  View<std::uint32_t> order;
};
SortedScene sort_scene(const Context& context, const SceneTensors& scene, Workspace& workspace);

}  // namespace sextant::detail::tensors
