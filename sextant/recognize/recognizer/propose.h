// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/model_set.h"
#include "sextant/recognize/recognizer/scene.h"
#include "sextant/recognize/recognizer/step_clock.h"

namespace sextant::detail::recognizer {

/// Poses of all objects that are to be refined, `slots` places for each of them.
struct Proposals {
  std::int32_t slots = 0;
  View<Rigid3f> starts;
  View<std::int32_t> counts;  ///< places that are used
};

/// Proposes poses of all objects at once, as Recognizer does object by object. The mask lies on the
/// context's device. The result lies in the workspace. Waits for the device twice.
Proposals propose_all(const Context& context, const ModelSet& models, const SceneFrame& scene,
                      ImageView<const std::uint8_t> mask, std::span<const ObjectPose> given,
                      const RecognizeOptions& options, StepClock& clock, Workspace& workspace);

}  // namespace sextant::detail::recognizer
