// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
// Clusters of poses, one block for each object. The block takes a batch of poses at a time: each is
// compared with the leaders so far and with the others of the batch, and then one thread decides in
// the order of the poses which of them lead.
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/recognize/recognizer/cluster.h"

namespace sextant::detail::recognizer {

namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;
constexpr int kBatch = 64;  // bits of a mask
constexpr std::int32_t kNone = -1;

struct Shared {
  Rigid3f poses[kBatch];
  Vec3f centres[kBatch];
  std::uint32_t numbers[kBatch];
  std::int32_t leader[kBatch];             ///< that the pose joins
  unsigned long long same_before[kBatch];  ///< which of the batch before it are the same
  std::int32_t count;                      ///< of leaders
};

/// Finds the first leader of each pose of the batch; a warp for each.
template <class Poses>
__device__ void find_leaders(const ModelView& model, const Poses& poses,
                             const ClusterLimits& limits, const Clusters& clusters,
                             std::int64_t base, int batch, Shared& shared) {
  const float reach_m = centre_reach_m(model, limits);
  const float distance_m = limits.distance_share * model.diameter_m;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  for (int b = warp; b < batch; b += kWarps) {
    const Vec3f centre = shared.centres[b];
    for (std::int32_t first = 0; first < shared.count; first += kWarp) {
      const std::int32_t l = first + lane_index();
      bool same = false;
      if (l < shared.count && !(norm_sq(clusters.centres[base + l] - centre) > reach_m * reach_m)) {
        same = same_pose(model, poses.pose(clusters.leaders[base + l]), shared.poses[b], distance_m,
                         limits.trace);
      }
      const unsigned found = __ballot_sync(kAllLanes, same);
      if (found == 0) continue;
      if (lane_index() == 0) shared.leader[b] = first + __ffs(static_cast<int>(found)) - 1;
      break;
    }
  }
}

/// Finds which poses of the batch that have no leader are the same.
__device__ void compare_batch(const ModelView& model, const ClusterLimits& limits, int batch,
                              Shared& shared) {
  const float reach_m = centre_reach_m(model, limits);
  const float distance_m = limits.distance_share * model.diameter_m;
  for (int pair = static_cast<int>(threadIdx.x); pair < kBatch * kBatch; pair += kThreads) {
    const int a = pair / kBatch, b = pair % kBatch;
    if (a >= b || b >= batch || shared.leader[a] != kNone || shared.leader[b] != kNone) continue;
    if (norm_sq(shared.centres[a] - shared.centres[b]) > reach_m * reach_m) continue;
    if (same_pose(model, shared.poses[a], shared.poses[b], distance_m, limits.trace)) {
      atomicOr(&shared.same_before[b], 1ull << a);
    }
  }
}

/// Decides which poses of the batch lead; those for which there is no room lead nobody.
__device__ void choose_leaders(const Clusters& clusters, std::int64_t base, int batch,
                               Shared& shared) {
  unsigned long long leading = 0;
  std::int32_t count = shared.count;
  for (int b = 0; b < batch; ++b) {
    if (shared.leader[b] != kNone) continue;
    const unsigned long long same = shared.same_before[b] & leading;
    if (same != 0) {
      shared.leader[b] = shared.leader[__ffsll(static_cast<long long>(same)) - 1];
      continue;
    }
    leading |= 1ull << b;
    shared.leader[b] = count < clusters.capacity ? count++ : clusters.capacity;
  }
  for (int b = 0; b < batch; ++b) {
    const std::int32_t l = shared.leader[b];
    if (!(leading >> b & 1) || l >= clusters.capacity) continue;
    clusters.leaders[base + l] = shared.numbers[b];
    clusters.centres[base + l] = shared.centres[b];
    clusters.votes[base + l] = 0;
  }
  shared.count = count;
}

template <class Poses>
__global__ void __launch_bounds__(kThreads)
    cluster_kernel(const ModelView* models, const Poses poses, const ClusterLimits limits,
                   const Clusters clusters) {
  __shared__ Shared shared;
  const auto m = static_cast<std::int32_t>(blockIdx.x);
  const ModelView model = models[m];
  const std::int64_t base = std::int64_t{m} * clusters.capacity;
  const std::int32_t size = poses.size(m);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread == 0) shared.count = 0;
  for (std::int32_t first = 0; first < size; first += kBatch) {
    const int batch = min_of(size - first, kBatch);
    if (thread < batch) {
      const std::uint32_t number = poses.number(m, first + thread);
      shared.numbers[thread] = number;
      shared.poses[thread] = poses.pose(number);
      shared.centres[thread] = shared.poses[thread] * model.centre;
      shared.leader[thread] = kNone;
      shared.same_before[thread] = 0;
    }
    __syncthreads();
    find_leaders(model, poses, limits, clusters, base, batch, shared);
    __syncthreads();
    compare_batch(model, limits, batch, shared);
    __syncthreads();
    if (thread == 0) choose_leaders(clusters, base, batch, shared);
    __syncthreads();
    if (thread < batch && shared.leader[thread] < clusters.capacity) {
      // Votes are whole numbers, so that the order of the sum does not matter.
      atomicAdd(&clusters.votes[base + shared.leader[thread]], poses.votes(shared.numbers[thread]));
    }
    __syncthreads();
  }
  __syncthreads();
  if (thread == 0) clusters.counts[m] = shared.count;
}

}  // namespace

template <class Poses>
void cluster_cuda(const Context& context, View<const ModelView> models, const Poses& poses,
                  const ClusterLimits& limits, const Clusters& clusters) {
  if (models.size == 0) return;
  cluster_kernel<<<static_cast<unsigned>(models.size), kThreads, 0, cuda_stream(context)>>>(
      models.data, poses, limits, clusters);
  check_launch("cluster poses");
}
template void cluster_cuda(const Context&, View<const ModelView>, const SortedVotes&,
                           const ClusterLimits&, const Clusters&);
template void cluster_cuda(const Context&, View<const ModelView>, const RefinedPoses&,
                           const ClusterLimits&, const Clusters&);

}  // namespace sextant::detail::recognizer
