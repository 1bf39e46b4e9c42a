// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA sees the samples that the CPU sees.
// Refinement of many poses, a warp for each from its start to its end: no pose waits for others,
// and while one solves its equations, which is a long chain of divisions and roots, others add up
// theirs.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/recognize/recognizer/refine_batch.h"

namespace sextant::detail::recognizer {

namespace {

constexpr int kThreads = 64;
constexpr int kWarps = kThreads / kWarp;

__device__ PoseEquations<double> warp_sum_of(PoseEquations<double> equations) {
  for (double& value : equations.hessian.packed) value = warp_sum(value);
  for (double& value : equations.gradient) value = warp_sum(value);
  equations.squares = warp_sum(equations.squares);
  equations.weight = warp_sum(equations.weight);
  equations.count = warp_sum(equations.count);
  return equations;
}

/// The equations of the samples that find a partner within the gate.
__device__ PoseEquations<double> warp_equations(const FrameView& frame, const ModelView& model,
                                                const Rigid3d& pose, double gate_m) {
  const Rigid3f moved = cast<float>(pose);
  const Vec3f centre = moved * model.centre;
  const auto gate_sq = static_cast<float>(gate_m * gate_m);
  const std::int32_t step = refine_step_of_samples(model);
  PoseEquations<double> equations;
  for (std::int32_t k = lane_index() * step; k < model.samples; k += kWarp * step) {
    add_sample(frame, model, moved, centre, gate_sq, k, equations);
  }
  return warp_sum_of(equations);
}

__global__ void __launch_bounds__(kThreads)
    refine_kernel(const __grid_constant__ RefineBatch batch) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (i >= batch.size) return;
  const std::int64_t m = i / batch.slots;
  if (i % batch.slots >= batch.counts[m]) return;
  const ModelView model = batch.models[m];
  Rigid3d pose = cast<double>(batch.starts[i]);
  for (int gate = 0; gate < kRefineGates; ++gate) {
    const double gate_m = refine_gate_m(batch.frame, model, pose, gate);
    for (int iteration = 0; iteration < kRefineIterations; ++iteration) {
      const PoseEquations<double> equations = warp_equations(batch.frame, model, pose, gate_m);
      // All lanes solve the same equations.
      if (!refine_once(model, equations, pose)) break;
    }
  }
  if (lane_index() == 0) batch.refined[i] = pose;
}

}  // namespace

void refine_cuda(const Context& context, const RefineBatch& batch) {
  if (batch.size == 0) return;
  const std::int64_t blocks = (batch.size + kWarps - 1) / kWarps;
  refine_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, cuda_stream(context)>>>(batch);
  check_launch("refine poses");
}

}  // namespace sextant::detail::recognizer
