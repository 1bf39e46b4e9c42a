// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA sees the samples that the CPU sees.
// Refinement of many poses. A block has as many poses as a warp has lanes: warps add up the
// equations of one pose after the other, then each lane of the first solves those of one pose.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/recognize/recognizer/refine_batch.h"

namespace sextant::detail::recognizer {

namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / kWarp;
constexpr int kPoses = kWarp;  // of a block

struct Shared {
  Rigid3d poses[kPoses];
  double gates_m[kPoses];
  PoseEquations<double> equations[kPoses];
  std::int32_t active[kPoses];
  std::int32_t any;
};

__device__ PoseEquations<double> warp_sum_of(PoseEquations<double> equations) {
  for (double& value : equations.hessian.packed) value = warp_sum(value);
  for (double& value : equations.gradient) value = warp_sum(value);
  equations.squares = warp_sum(equations.squares);
  equations.weight = warp_sum(equations.weight);
  equations.count = warp_sum(equations.count);
  return equations;
}

__global__ void __launch_bounds__(kThreads)
    refine_kernel(const __grid_constant__ FrameView frame, const ModelView* models,
                  const Rigid3f* starts, const std::int32_t* counts, std::int32_t slots,
                  Rigid3d* refined) {
  __shared__ Shared shared;
  const auto m = static_cast<std::int32_t>(blockIdx.y);
  const std::int32_t first = static_cast<std::int32_t>(blockIdx.x) * kPoses;
  if (first >= counts[m]) return;
  const ModelView model = models[m];
  const std::int64_t base = std::int64_t{m} * slots + first;
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
  const std::int32_t step = refine_step_of_samples(model);
  // Of the lane's pose, in the first warp.
  const bool is_pose = warp == 0 && first + lane < counts[m];
  int gate = 0, iteration = 0;
  if (warp == 0) {
    if (is_pose) {
      shared.poses[lane] = cast<double>(starts[base + lane]);
      shared.gates_m[lane] = refine_gate_m(frame, model, shared.poses[lane], gate);
    }
    shared.active[lane] = is_pose ? 1 : 0;
    if (lane == 0) shared.any = 1;
  }
  __syncthreads();
  while (shared.any) {
    for (int p = warp; p < kPoses; p += kWarps) {
      if (!shared.active[p]) continue;
      const Rigid3f pose = cast<float>(shared.poses[p]);
      const Vec3f centre = pose * model.centre;
      const float gate_sq = static_cast<float>(shared.gates_m[p] * shared.gates_m[p]);
      PoseEquations<double> equations;
      for (std::int32_t i = lane * step; i < model.samples; i += kWarp * step) {
        add_sample(frame, model, pose, centre, gate_sq, i, equations);
      }
      equations = warp_sum_of(equations);
      if (lane == 0) shared.equations[p] = equations;
    }
    __syncthreads();
    if (warp == 0) {
      if (shared.active[lane]) {
        Rigid3d pose = shared.poses[lane];
        const bool goes_on = refine_once(model, shared.equations[lane], pose);
        shared.poses[lane] = pose;
        if (!goes_on || ++iteration == kRefineIterations) {
          iteration = 0;
          if (++gate < kRefineGates) {
            shared.gates_m[lane] = refine_gate_m(frame, model, pose, gate);
          } else {
            shared.active[lane] = 0;
          }
        }
      }
      const unsigned active = __ballot_sync(kAllLanes, shared.active[lane] != 0);
      if (lane == 0) shared.any = active != 0 ? 1 : 0;
    }
    __syncthreads();
  }
  if (is_pose) refined[base + lane] = shared.poses[lane];
}

}  // namespace

void refine_cuda(const Context& context, const FrameView& frame, View<const ModelView> models,
                 View<const Rigid3f> starts, View<const std::int32_t> counts, std::int32_t slots,
                 View<Rigid3d> refined) {
  if (models.size == 0 || slots == 0) return;
  const dim3 grid(static_cast<unsigned>((slots + kPoses - 1) / kPoses),
                  static_cast<unsigned>(models.size));
  refine_kernel<<<grid, kThreads, 0, cuda_stream(context)>>>(frame, models.data, starts.data,
                                                             counts.data, slots, refined.data);
  check_launch("refine poses");
}

}  // namespace sextant::detail::recognizer
