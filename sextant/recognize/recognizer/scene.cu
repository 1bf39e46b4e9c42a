// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/reduce/anywhere.h"
#include "sextant/recognize/recognizer/scene_math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_PIXEL_ON_CUDA(recognizer::AveragePixel)
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(std::int32_t, recognizer::IsMeasured, Add)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::GatherFacts)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::MarkUsable)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::ListUsable)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::DrawJudge)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::CountTry)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::ChoosePlane)
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(recognizer::JudgeSum, recognizer::SumOfJudge,
                                 recognizer::AddJudges)
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(recognizer::JudgeScatter, recognizer::ScatterOfJudge,
                                 recognizer::AddJudges)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::RefitPlane)
SEXTANT_TRANSFORM_REDUCE_ON_CUDA(std::int32_t, recognizer::IsHeld, Add)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::MarkPlane)
}  // namespace sextant::detail
