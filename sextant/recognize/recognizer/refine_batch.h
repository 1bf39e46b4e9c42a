// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"
#include "sextant/recognize/recognizer/refine_math.h"

namespace sextant::detail::recognizer {

/// Refines poses of all objects, of which counts[m] of `slots` places are used for object m.
void refine_all(const Context& context, const FrameView& frame, View<const ModelView> models,
                View<const Rigid3f> starts, View<const std::int32_t> counts, std::int32_t slots,
                View<Rigid3d> refined, Workspace& workspace);

/// A pose between its iterations.
struct RefineState {
  double gate_m = 0;
  std::int32_t gate = 0, iteration = 0;
  std::int32_t object = -1;  ///< -1 where nothing is left to do
};

/// All poses between two iterations, on CUDA.
struct RefineBatch {
  FrameView frame;
  const ModelView* models;
  const Rigid3f* starts;
  const std::int32_t* counts;
  std::int32_t slots;
  std::int64_t size;
  Rigid3d* poses;
  RefineState* states;
  PoseEquations<double>* equations;
};
struct BeginRefinement {
  RefineBatch b;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const auto m = static_cast<std::int32_t>(i / b.slots);
    RefineState state;
    if (i % b.slots < b.counts[m]) {
      b.poses[i] = cast<double>(b.starts[i]);
      state.object = m;
      state.gate_m = refine_gate_m(b.frame, b.models[m], b.poses[i], 0);
    }
    b.states[i] = state;
  }
};
struct StepRefinement {
  RefineBatch b;
  SEXTANT_HD void operator()(std::int64_t i) const {
    RefineState state = b.states[i];
    if (state.object < 0) return;
    const ModelView& model = b.models[state.object];
    const bool goes_on = refine_once(model, b.equations[i], b.poses[i]);
    if (!goes_on || ++state.iteration == kRefineIterations) {
      state.iteration = 0;
      if (++state.gate < kRefineGates) {
        state.gate_m = refine_gate_m(b.frame, model, b.poses[i], state.gate);
      } else {
        state.object = -1;
      }
    }
    b.states[i] = state;
  }
};
/// Adds up the equations of all poses, a warp for each, and moves them, a thread for each.
void iterate_refinement_cuda(const Context& context, const RefineBatch& batch);

}  // namespace sextant::detail::recognizer
