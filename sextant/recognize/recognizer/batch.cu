// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives nearly the bits of the CPU.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/recognize/recognizer/batch_math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(recognizer::GatherCandidate)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::Judge)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::RankCandidate)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::BeginMoving)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::MoveOutline)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::KeepBetter)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::TellVerified)
}  // namespace sextant::detail
