// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/voting/cpu.h"

#include "sextant/core/for_each.h"
#include "sextant/surface/gaussian/lanes.h"

namespace sextant::detail::voting {

namespace {

/// Packs after which a sum is put aside, so that rounding does not grow with the number of votes.
constexpr std::int64_t kPacksInOneSum = 64;

/// Normals and saliencies of a tile's voters.
class StickTile {
 public:
  void gather(const neighbours::CandidateTile& tile, const Vec4f* sticks) {
    packs_.resize(static_cast<std::size_t>(tile.packs()));
    for (std::int64_t i = 0; i < tile.packs() * neighbours::kLanes; ++i) {
      const Vec4f stick = i < tile.count() ? sticks[tile.indices()[i]] : Vec4f{};
      Pack& pack = packs_[static_cast<std::size_t>(i / neighbours::kLanes)];
      pack.x[i % neighbours::kLanes] = stick.x;
      pack.y[i % neighbours::kLanes] = stick.y;
      pack.z[i % neighbours::kLanes] = stick.z;
      pack.saliency[i % neighbours::kLanes] = stick.w;
    }
  }
  SEXTANT_INLINE const neighbours::FloatLanes& x(std::int64_t pack) const {
    return lanes(at(pack).x);
  }
  SEXTANT_INLINE const neighbours::FloatLanes& y(std::int64_t pack) const {
    return lanes(at(pack).y);
  }
  SEXTANT_INLINE const neighbours::FloatLanes& z(std::int64_t pack) const {
    return lanes(at(pack).z);
  }
  SEXTANT_INLINE const neighbours::FloatLanes& saliency(std::int64_t pack) const {
    return lanes(at(pack).saliency);
  }

 private:
  struct alignas(64) Pack {
    float x[neighbours::kLanes], y[neighbours::kLanes], z[neighbours::kLanes],
        saliency[neighbours::kLanes];
  };
  SEXTANT_INLINE const Pack& at(std::int64_t pack) const {
    return packs_[static_cast<std::size_t>(pack)];
  }
  SEXTANT_INLINE static const neighbours::FloatLanes& lanes(const float* data) {
    return *reinterpret_cast<const neighbours::FloatLanes*>(data);
  }
  std::vector<Pack> packs_;
};

template <VoteDecay kDecay, bool kSticks>
SEXTANT_INLINE void add_pack(const VotingJob& job, const Vec3f& p,
                             const neighbours::CandidateTile& tile, const StickTile& sticks,
                             std::int64_t pack, VoteSums<neighbours::FloatLanes>& sums) {
  const neighbours::FloatLanes zero{};
  neighbours::FloatLanes x = tile.x(pack) - p.x;
  neighbours::FloatLanes y = tile.y(pack) - p.y;
  neighbours::FloatLanes z = tile.z(pack) - p.z;
  neighbours::FloatLanes distance_sq = x * x + y * y + z * z;
  // What is out of reach, the NaN at the end of a tile among it, counts as coincident.
  distance_sq = distance_sq < job.radius_m * job.radius_m ? distance_sq : zero;
  const neighbours::IntLanes chosen = distance_sq >= kLeastDistanceSq;
  x = chosen ? x : zero;
  y = chosen ? y : zero;
  z = chosen ? z : zero;
  const neighbours::FloatLanes inverse_sq = chosen ? 1.0f / distance_sq : zero;
  neighbours::FloatLanes weight;
  decay_of<kDecay>(distance_sq * job.inverse_sigma_sq, weight);
  weight = chosen ? weight : zero;
  if constexpr (kSticks) {
    StickVote<neighbours::FloatLanes> vote;
    stick_vote(x, y, z, inverse_sq, sticks.x(pack), sticks.y(pack), sticks.z(pack), vote);
    const neighbours::FloatLanes cosine_4 = vote.cosine_sq * vote.cosine_sq;
    weight = vote.cosine_sq >= kLeastCosineSq ? weight : zero;
    weight *= sticks.saliency(pack) * cosine_4 * cosine_4;
    add_outer(sums, weight, vote.x, vote.y, vote.z);
  } else {
    add_ball_vote(sums, x, y, z, weight, inverse_sq);
  }
  sums.votes += weight > 0.0f ? zero + 1.0f : zero;
}

/// All votes of a tile to one place.
template <VoteDecay kDecay, bool kSticks>
SEXTANT_INLINE void vote_to(const VotingJob& job, const Vec3f& p, std::int64_t index,
                            const neighbours::CandidateTile& tile, const StickTile& sticks) {
  VoteSums<neighbours::FloatLanes> all;
  const std::int64_t packs = tile.packs();
  for (std::int64_t first = 0; first < packs; first += kPacksInOneSum) {
    const std::int64_t last = min_of(first + kPacksInOneSum, packs);
    VoteSums<neighbours::FloatLanes> some;
    for (std::int64_t pack = first; pack < last; ++pack) {
      add_pack<kDecay, kSticks>(job, p, tile, sticks, pack, some);
    }
    add(all, some);
  }
  const VoteSums<float> sums{
      neighbours::sum_of_lanes(all.votes), neighbours::sum_of_lanes(all.weight),
      neighbours::sum_of_lanes(all.xx),    neighbours::sum_of_lanes(all.xy),
      neighbours::sum_of_lanes(all.xz),    neighbours::sum_of_lanes(all.yy),
      neighbours::sum_of_lanes(all.yz),    neighbours::sum_of_lanes(all.zz)};
  store_tensor<kSticks>(job, true, index, sums);
}

/// The votees begin .. end - 1 in cell order.
template <VoteDecay kDecay, bool kSticks>
struct VotesByCells {
  VotingJob job;

  SEXTANT_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    StickTile sticks;
    neighbours::CandidateTile held;
    auto gathered = [&](const neighbours::CandidateTile& tile) {
      if constexpr (kSticks) sticks.gather(tile, job.sticks);
    };
    auto found = [&](const GridPoint& votee, neighbours::CandidateTile& tile, float)
                     SEXTANT_INLINED {
                       vote_to<kDecay, kSticks>(job, votee.position, votee.index, tile, sticks);
                     };
    auto none = [&](const GridPoint& votee) { store_tensor<kSticks>(job, false, votee.index, {}); };
    neighbours::search_cells_within(job.grid, job.votees, begin, end, job.radius_m, held, gathered,
                                    found, none);
  }
};

/// The votees begin .. end - 1 in the caller's order; one tile holds all voters.
template <VoteDecay kDecay>
struct VotesByBruteForce {
  VotingJob job;
  const neighbours::CandidateTile* voters;

  SEXTANT_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const StickTile no_sticks;
    for (std::int64_t i = begin; i < end; ++i) {
      const Vec3f p = job.places[i];
      if (is_finite(p)) {
        vote_to<kDecay, false>(job, p, i, *voters, no_sticks);
      } else {
        store_tensor<false>(job, false, i, {});
      }
    }
  }
};

using GaussianBalls = VotesByCells<VoteDecay::kGaussian, false>;
using SmoothBalls = VotesByCells<VoteDecay::kSmooth, false>;
using GaussianSticks = VotesByCells<VoteDecay::kGaussian, true>;
using SmoothSticks = VotesByCells<VoteDecay::kSmooth, true>;
using GaussianPairs = VotesByBruteForce<VoteDecay::kGaussian>;
using SmoothPairs = VotesByBruteForce<VoteDecay::kSmooth>;
SEXTANT_RUN_WIDEST(GaussianBalls)
SEXTANT_RUN_WIDEST(SmoothBalls)
SEXTANT_RUN_WIDEST(GaussianSticks)
SEXTANT_RUN_WIDEST(SmoothSticks)
SEXTANT_RUN_WIDEST(GaussianPairs)
SEXTANT_RUN_WIDEST(SmoothPairs)

template <class Range>
void run_ranges(const Context& context, std::int64_t count, std::int64_t grain,
                const Range& range) {
  for_each_chunk(context, count, grain,
                 [&](std::int64_t begin, std::int64_t end) { run_widest(range, begin, end); });
}

void cast_votes_by_brute_force(const Context& context, const VotingJob& job, VoteDecay decay) {
  constexpr std::int64_t kGrain = 64;
  neighbours::CandidateTile voters;
  voters.gather(job.voters);
  const std::int64_t count = job.places.size;
  if (decay == VoteDecay::kGaussian) {
    run_ranges(context, count, kGrain, GaussianPairs{job, &voters});
  } else {
    run_ranges(context, count, kGrain, SmoothPairs{job, &voters});
  }
}

}  // namespace

void cast_votes_cpu(const Context& context, const VotingJob& job, VoteDecay decay,
                    VoterSearch search) {
  if (search == VoterSearch::kBruteForce) return cast_votes_by_brute_force(context, job, decay);
  const bool gaussian = decay == VoteDecay::kGaussian;
  const auto run = [&](const auto& range) {
    run_ranges(context, job.places.size, neighbours::kQueryGrain, range);
  };
  if (job.sticks) {
    gaussian ? run(GaussianSticks{job}) : run(SmoothSticks{job});
  } else {
    gaussian ? run(GaussianBalls{job}) : run(SmoothBalls{job});
  }
}

}  // namespace sextant::detail::voting
