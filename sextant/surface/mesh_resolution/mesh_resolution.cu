// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/reduce/anywhere.h"
#include "sextant/surface/mesh_resolution/math.h"

namespace sextant::detail {
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(mesh_resolution::EdgeLengths, mesh_resolution::TriangleLengths,
                                 mesh_resolution::AddLengths)
}  // namespace sextant::detail
