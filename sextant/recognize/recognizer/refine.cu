// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA sees the samples that the CPU sees.
// Refinement of many poses, a warp for each. A block's warps add up the equations of a pose each,
// and then lanes of its first warp solve those of all: a solution is a long chain of operations on
// few numbers, so that a warp that solves one system leaves 31 lanes idle.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/recognize/recognizer/refine_batch.h"

namespace sextant::detail::recognizer {

namespace {

constexpr int kWarps = 8;  // poses of a block
constexpr int kThreads = kWarps * kWarp;

/// A pose on its way.
struct Refined {
  Rigid3d pose;
  PoseEquations<double> equations;
  double gate_m = 0;
  int gate = 0, iteration = 0;
  bool moves = false;
};

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

/// Takes one step, and the next gate where no further step is wanted with this one.
__device__ void advance(const FrameView& frame, const ModelView& model, Refined& own) {
  const bool goes_on = refine_once(model, own.equations, own.pose);
  if (goes_on && ++own.iteration < kRefineIterations) return;
  own.iteration = 0;
  own.moves = ++own.gate < kRefineGates;
  if (own.moves) own.gate_m = refine_gate_m(frame, model, own.pose, own.gate);
}

__global__ void __launch_bounds__(kThreads)
    refine_kernel(const __grid_constant__ RefineBatch batch) {
  // Bytes, because constructors of shared variables do not run.
  __shared__ __align__(16) unsigned char memory[kWarps * sizeof(Refined)];
  Refined* const poses = reinterpret_cast<Refined*>(memory);
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
  const std::int64_t first = std::int64_t{blockIdx.x} * kWarps;
  const auto model_of = [&](int k) -> const ModelView& {
    return batch.models[(first + k) / batch.slots];
  };
  const auto is_used = [&](int k) {
    const std::int64_t i = first + k;
    return i < batch.size && i % batch.slots < batch.counts[i / batch.slots];
  };
  if (threadIdx.x < kWarps) {
    const int k = static_cast<int>(threadIdx.x);
    Refined own;
    if (is_used(k)) {
      own.pose = cast<double>(batch.starts[first + k]);
      own.gate_m = refine_gate_m(batch.frame, model_of(k), own.pose, 0);
      own.moves = true;
    }
    poses[k] = own;
  }
  __syncthreads();
  for (bool any = true; any;) {
    if (poses[warp].moves) {
      const PoseEquations<double> equations =
          warp_equations(batch.frame, model_of(warp), poses[warp].pose, poses[warp].gate_m);
      if (lane == 0) poses[warp].equations = equations;
    }
    __syncthreads();
    bool moves = false;
    if (threadIdx.x < kWarps && poses[threadIdx.x].moves) {
      const int k = static_cast<int>(threadIdx.x);
      advance(batch.frame, model_of(k), poses[k]);
      moves = poses[k].moves;
    }
    any = __syncthreads_or(moves ? 1 : 0) != 0;
  }
  if (threadIdx.x < kWarps && is_used(static_cast<int>(threadIdx.x))) {
    batch.refined[first + threadIdx.x] = poses[threadIdx.x].pose;
  }
}

}  // namespace

void refine_cuda(const Context& context, const RefineBatch& batch) {
  if (batch.size == 0) return;
  const std::int64_t blocks = (batch.size + kWarps - 1) / kWarps;
  refine_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, cuda_stream(context)>>>(batch);
  check_launch("refine poses");
}

}  // namespace sextant::detail::recognizer
