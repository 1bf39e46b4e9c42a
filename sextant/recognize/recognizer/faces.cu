// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA walks to the pixels that the CPU walks to.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/recognize/recognizer/faces_math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(recognizer::WalkFaces)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::EndFaces)
}  // namespace sextant::detail
