// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA sees the samples that the CPU sees.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/recognize/recognizer/refine_batch.h"

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(recognizer::BeginRefinement)

}  // namespace sextant::detail

namespace sextant::detail::recognizer {

namespace {

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / kWarp;

__device__ PoseEquations<double> warp_sum_of(PoseEquations<double> equations) {
  for (double& value : equations.hessian.packed) value = warp_sum(value);
  for (double& value : equations.gradient) value = warp_sum(value);
  equations.squares = warp_sum(equations.squares);
  equations.weight = warp_sum(equations.weight);
  equations.count = warp_sum(equations.count);
  return equations;
}

__global__ void __launch_bounds__(kThreads)
    equations_kernel(const __grid_constant__ RefineBatch batch) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kWarps + threadIdx.x / kWarp;
  if (i >= batch.size) return;
  const RefineState state = batch.states[i];
  if (state.object < 0) return;
  const ModelView model = batch.models[state.object];
  const Rigid3f pose = cast<float>(batch.poses[i]);
  const Vec3f centre = pose * model.centre;
  const float gate_sq = static_cast<float>(state.gate_m * state.gate_m);
  const std::int32_t step = refine_step_of_samples(model);
  PoseEquations<double> equations;
  for (std::int32_t k = lane_index() * step; k < model.samples; k += kWarp * step) {
    add_sample(batch.frame, model, pose, centre, gate_sq, k, equations);
  }
  equations = warp_sum_of(equations);
  if (lane_index() == 0) batch.equations[i] = equations;
}

/// Blocks of one warp, so that few poses are spread over many multiprocessors: a step is a long
/// chain of divisions and roots.
__global__ void __launch_bounds__(kWarp) step_kernel(const __grid_constant__ RefineBatch batch) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kWarp + threadIdx.x;
  if (i < batch.size) StepRefinement{batch}(i);
}

}  // namespace

void iterate_refinement_cuda(const Context& context, const RefineBatch& batch) {
  if (batch.size == 0) return;
  const auto blocks = [&](std::int64_t each) {
    return static_cast<unsigned>((batch.size + each - 1) / each);
  };
  const cudaStream_t stream = cuda_stream(context);
  equations_kernel<<<blocks(kWarps), kThreads, 0, stream>>>(batch);
  check_launch("add equations");
  step_kernel<<<blocks(kWarp), kWarp, 0, stream>>>(batch);
  check_launch("step poses");
}

}  // namespace sextant::detail::recognizer
