// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"

namespace sextant::measure {

/// Tensors the way the paper computes them on CUDA, for comparison: a block for each tensor and a
/// thread for each bin, which cuts every triangle of a window about the pair with its own bin.
/// `frames` are those of `tensors` tensors of ten bins along each axis; `dense` receives 1000
/// values for each. All triangles count (TensorMode::kAll) that lie within `reach_px` of the middle
/// of the pair.
void voxel_tensors(const Context& context, const OrganisedSurface& surface,
                   View<const TensorFrame> frames, std::int64_t tensors, int reach_px,
                   View<float> dense);

}  // namespace sextant::measure
