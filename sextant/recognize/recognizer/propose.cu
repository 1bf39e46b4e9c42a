// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/recognize/recognizer/propose_math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(recognizer::MarkProposing)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::NumberProposing)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::JudgeVote)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::FirstOfModel)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::JudgeLeader)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::RankByVotes)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::GatherStart)
}  // namespace sextant::detail
