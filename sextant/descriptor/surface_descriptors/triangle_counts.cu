// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA counts as the CPU does.
#include "sextant/descriptor/surface_descriptors/triangle_counts.h"

#include "sextant/core/for_each/anywhere.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(surface_descriptors::CellCentre)
SEXTANT_FOR_EACH_ON_CUDA(surface_descriptors::TriangleCentre)
SEXTANT_FOR_EACH_ON_CUDA(surface_descriptors::CountCentres)
}  // namespace sextant::detail
