// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/recognize/recognizer/propose_math.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(recognizer::MarkProposing)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::NumberProposing)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::FirstOfModel)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::RankByVotes)
SEXTANT_FOR_EACH_ON_CUDA(recognizer::GatherStart)
}  // namespace sextant::detail

namespace sextant::detail::recognizer {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;

/// A warp compares one pose with the frame.
template <class Judged>
__global__ void __launch_bounds__(kThreads)
    judge_kernel(std::int64_t count, const __grid_constant__ Judged judged) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (i >= count) return;
  const JudgedPose pose = judged.pose(i);
  AgreementCounts counts;
  if (pose.object >= 0) {
    counts = count_agreeing(judged.frame, judged.models[pose.object], pose.pose,
                            lane_index() * Judged::kStep, kWarp * Judged::kStep);
    counts = {warp_sum(counts.facing), warp_sum(counts.shown), warp_sum(counts.seen_through)};
  }
  if (lane_index() == 0) judged.write(i, pose.object, counts.agreement());
}

}  // namespace

template <class Judged>
void judge_cuda(const Context& context, std::int64_t count, const Judged& judged) {
  if (count == 0) return;
  const std::int64_t blocks = (count + kWarps - 1) / kWarps;
  judge_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, cuda_stream(context)>>>(count, judged);
  check_launch("judge poses");
}
template void judge_cuda(const Context&, std::int64_t, const JudgeVote&);
template void judge_cuda(const Context&, std::int64_t, const JudgeLeader&);

}  // namespace sextant::detail::recognizer
