// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/view.h"
#include "sextant/recognize/recognizer/refine_math.h"

namespace sextant::detail::recognizer {

/// Refines poses of all objects, of which counts[m] of `slots` places are used for object m.
void refine_all(const Context& context, const FrameView& frame, View<const ModelView> models,
                View<const Rigid3f> starts, View<const std::int32_t> counts, std::int32_t slots,
                View<Rigid3d> refined);

/// All poses to refine, on CUDA.
struct RefineBatch {
  FrameView frame;
  const ModelView* models;
  const Rigid3f* starts;
  const std::int32_t* counts;
  std::int32_t slots;
  std::int64_t size;
  Rigid3d* refined;
};
void refine_cuda(const Context& context, const RefineBatch& batch);

}  // namespace sextant::detail::recognizer
