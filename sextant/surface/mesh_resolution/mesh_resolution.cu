// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/surface/mesh_resolution/math.h"

namespace sextant::detail::mesh_resolution {

void sum_edges_cuda(const Context& context, const TriangleLengths& lengths,
                    View<EdgeLengths> result) {
  transform_reduce(context, lengths.triangles.size, lengths, AddLengths{}, EdgeLengths{}, result);
}

}  // namespace sextant::detail::mesh_resolution
