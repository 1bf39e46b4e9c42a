// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/refine.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/recognize/recognizer/refine_batch.h"

namespace sextant::detail::recognizer {

namespace {

/// The equations of the samples that find a partner within the gate.
PoseEquations<double> pose_equations(const FrameView& frame, const ModelView& model,
                                     const Rigid3d& pose, double gate_m) {
  const Rigid3f moved = cast<float>(pose);
  const Vec3f centre = moved * model.centre;
  const float gate_sq = static_cast<float>(gate_m * gate_m);
  const std::int32_t step = refine_step_of_samples(model);
  PoseEquations<double> equations;
  for (std::int32_t i = 0; i < model.samples; i += step) {
    add_sample(frame, model, moved, centre, gate_sq, i, equations);
  }
  return equations;
}

}  // namespace

Rigid3d refine(const FrameView& frame, const ModelView& model, const Rigid3f& start) {
  Rigid3d pose = cast<double>(start);
  for (int gate = 0; gate < kRefineGates; ++gate) {
    const double gate_m = refine_gate_m(frame, model, pose, gate);
    for (int iteration = 0; iteration < kRefineIterations; ++iteration) {
      if (!refine_once(model, pose_equations(frame, model, pose, gate_m), pose)) break;
    }
  }
  return pose;
}

void refine_all(const Context& context, const FrameView& frame, View<const ModelView> models,
                View<const Rigid3f> starts, View<const std::int32_t> counts, std::int32_t slots,
                View<Rigid3d> refined) {
  on_device(
      context,
      [&] {
        refine_cuda(context, {frame, models.data, starts.data, counts.data, slots, starts.size,
                              refined.data});
      },
      [&] {
        for_each_chunk(context, starts.size, 2, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t m = i / slots;
            if (i % slots < counts[m]) refined[i] = refine(frame, models[m], starts[i]);
          }
        });
      });
}

}  // namespace sextant::detail::recognizer
