// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/geometry/neighbours/gather.cuh"
#include "sextant/surface/voting/math.h"

namespace sextant::detail::voting {

namespace {

/// Takes votees in cell order, with kGatherThreads threads for each.
template <VoteDecay kDecay, bool kSticks>
__global__ void __launch_bounds__(neighbours::kGatherBlock) votes_by_cells(const VotingJob job) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * neighbours::kGatherBlock + threadIdx.x) /
                          neighbours::kGatherThreads;
  const bool exists = at < job.places.size;
  const GridPoint votee = exists ? job.votees[at] : GridPoint{{NAN, NAN, NAN}, 0};
  const bool finite = is_finite(votee.position);
  VoteSums<float> sums;
  if (finite) {
    sums = neighbours::gather_share<VoteSums<float>>(
        job.grid, votee.position, job.radius_m, [&](const GridPoint& voter, VoteSums<float>& to) {
          if constexpr (kSticks) {
            add_vote<kDecay, true>(job, votee.position, voter.position, voter.index, to);
          } else {
            add_near_ball_vote<kDecay>(job, votee.position, voter.position, to);
          }
        });
  }
  neighbours::sum_over_threads(sums);
  if (exists && threadIdx.x % neighbours::kGatherThreads == 0) {
    store_tensor<kSticks>(job, finite, votee.index, sums);
  }
}

constexpr int kPairsBlock = 128;  // small, so that few votees still fill the device

/// Takes all pairs: each votee has one thread, which sees the voters pass by in shared memory.
template <VoteDecay kDecay>
__global__ void __launch_bounds__(kPairsBlock) votes_by_brute_force(const VotingJob job) {
  __shared__ float4 tile[kPairsBlock];
  const std::int64_t at = std::int64_t{blockIdx.x} * kPairsBlock + threadIdx.x;
  const bool exists = at < job.places.size;
  const Vec3f p = exists ? job.places[at] : Vec3f{NAN, NAN, NAN};
  VoteSums<float> all;
  for (std::int64_t first = 0; first < job.voters.size; first += kPairsBlock) {
    const std::int64_t mine = first + threadIdx.x;
    const Vec3f voter = mine < job.voters.size ? job.voters[mine] : Vec3f{NAN, NAN, NAN};
    __syncthreads();
    tile[threadIdx.x] = {voter.x, voter.y, voter.z, 0.0f};
    __syncthreads();
    VoteSums<float> some;
#pragma unroll 8
    for (int i = 0; i < kPairsBlock; ++i) {
      const float4 q = tile[i];
      add_vote<kDecay, false>(job, p, {q.x, q.y, q.z}, 0, some);
    }
    add(all, some);
  }
  if (exists) store_tensor<false>(job, is_finite(p), at, all);
}

template <VoteDecay kDecay>
void launch(const Context& context, const VotingJob& job, VoterSearch search) {
  const cudaStream_t stream = cuda_stream(context);
  const std::int64_t votees = job.places.size;
  const unsigned blocks = neighbours::gather_blocks(votees);
  if (search == VoterSearch::kBruteForce) {
    const auto pairs_blocks = static_cast<unsigned>((votees + kPairsBlock - 1) / kPairsBlock);
    votes_by_brute_force<kDecay><<<pairs_blocks, kPairsBlock, 0, stream>>>(job);
  } else if (job.sticks) {
    votes_by_cells<kDecay, true><<<blocks, neighbours::kGatherBlock, 0, stream>>>(job);
  } else {
    votes_by_cells<kDecay, false><<<blocks, neighbours::kGatherBlock, 0, stream>>>(job);
  }
  check_launch("cast_votes");
}

}  // namespace

void cast_votes_cuda(const Context& context, const VotingJob& job, VoteDecay decay,
                     VoterSearch search) {
  if (job.places.size == 0) return;
  if (decay == VoteDecay::kGaussian) {
    launch<VoteDecay::kGaussian>(context, job, search);
  } else {
    launch<VoteDecay::kSmooth>(context, job, search);
  }
}

}  // namespace sextant::detail::voting

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(voting::SplitTensor)
SEXTANT_FOR_EACH_ON_CUDA(voting::MakeStick)
SEXTANT_FOR_EACH_ON_CUDA(voting::PlaceAt)
}  // namespace sextant::detail
