// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/voting/cpu.h"

#include "sextant/core/for_each.h"
#include "sextant/geometry/neighbours/lanes.h"

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
  template <class Set>
  neighbours::CandidatePack<Set> x(std::int64_t pack) const {
    return neighbours::CandidatePack<Set>::load(at(pack).x);
  }
  template <class Set>
  neighbours::CandidatePack<Set> y(std::int64_t pack) const {
    return neighbours::CandidatePack<Set>::load(at(pack).y);
  }
  template <class Set>
  neighbours::CandidatePack<Set> z(std::int64_t pack) const {
    return neighbours::CandidatePack<Set>::load(at(pack).z);
  }
  template <class Set>
  neighbours::CandidatePack<Set> saliency(std::int64_t pack) const {
    return neighbours::CandidatePack<Set>::load(at(pack).saliency);
  }

 private:
  struct alignas(64) Pack {
    float x[neighbours::kLanes], y[neighbours::kLanes], z[neighbours::kLanes],
        saliency[neighbours::kLanes];
  };
  const Pack& at(std::int64_t pack) const { return packs_[static_cast<std::size_t>(pack)]; }
  std::vector<Pack> packs_;
};

template <VoteDecay kDecay, bool kSticks, class Set>
void add_pack(const VotingJob& job, const Vec3f& p, const neighbours::CandidateTile& tile,
              const StickTile& sticks, std::int64_t pack,
              VoteSums<neighbours::CandidatePack<Set>>& sums) {
  using Pack = neighbours::CandidatePack<Set>;
  using Math = LaneMath<Pack>;
  const Pack zero;
  Pack x = tile.x<Set>(pack) - p.x;
  Pack y = tile.y<Set>(pack) - p.y;
  Pack z = tile.z<Set>(pack) - p.z;
  Pack distance_sq = x * x + y * y + z * z;
  // What is out of reach, the NaN at the end of a tile among it, counts as coincident.
  distance_sq = Math::select(distance_sq < job.radius_m * job.radius_m, distance_sq, zero);
  const auto chosen = distance_sq >= kLeastDistanceSq;
  x = Math::select(chosen, x, zero);
  y = Math::select(chosen, y, zero);
  z = Math::select(chosen, z, zero);
  const Pack inverse_sq = Math::select(chosen, 1.0f / distance_sq, zero);
  Pack weight = Math::select(chosen, decay_of<kDecay>(distance_sq * job.inverse_sigma_sq), zero);
  if constexpr (kSticks) {
    const StickVote<Pack> vote = stick_vote(x, y, z, inverse_sq, sticks.x<Set>(pack),
                                            sticks.y<Set>(pack), sticks.z<Set>(pack));
    const Pack cosine_4 = vote.cosine_sq * vote.cosine_sq;
    weight = Math::select(vote.cosine_sq >= kLeastCosineSq, weight, zero);
    weight *= sticks.saliency<Set>(pack) * cosine_4 * cosine_4;
    add_outer(sums, weight, vote.x, vote.y, vote.z);
  } else {
    add_ball_vote(sums, x, y, z, weight, inverse_sq);
  }
  sums.votes += Math::select(weight > zero, Pack(1.0f), zero);
}

/// All votes of a tile to one place.
template <VoteDecay kDecay, bool kSticks, class Set>
void vote_to(const VotingJob& job, const Vec3f& p, std::int64_t index,
             const neighbours::CandidateTile& tile, const StickTile& sticks) {
  VoteSums<neighbours::CandidatePack<Set>> all;
  const std::int64_t packs = tile.packs();
  for (std::int64_t first = 0; first < packs; first += kPacksInOneSum) {
    const std::int64_t last = min_of(first + kPacksInOneSum, packs);
    VoteSums<neighbours::CandidatePack<Set>> some;
    for (std::int64_t pack = first; pack < last; ++pack) {
      add_pack<kDecay, kSticks, Set>(job, p, tile, sticks, pack, some);
    }
    add(all, some);
  }
  const VoteSums<float> sums{all.votes.sum(), all.weight.sum(), all.xx.sum(), all.xy.sum(),
                             all.xz.sum(),    all.yy.sum(),     all.yz.sum(), all.zz.sum()};
  store_tensor<kSticks>(job, true, index, sums);
}

/// The votees begin .. end - 1 in cell order.
template <VoteDecay kDecay, bool kSticks>
struct VotesByCells {
  VotingJob job;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    StickTile sticks;
    neighbours::CandidateTile held;
    auto gathered = [&](const neighbours::CandidateTile& tile) {
      if constexpr (kSticks) sticks.gather(tile, job.sticks);
    };
    auto found = [&](const GridPoint& votee, neighbours::CandidateTile& tile, float) {
      vote_to<kDecay, kSticks, Set>(job, votee.position, votee.index, tile, sticks);
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

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    const StickTile no_sticks;
    for (std::int64_t i = begin; i < end; ++i) {
      const Vec3f p = job.places[i];
      if (is_finite(p)) {
        vote_to<kDecay, false, Set>(job, p, i, *voters, no_sticks);
      } else {
        store_tensor<false>(job, false, i, {});
      }
    }
  }
};

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
    run_ranges(context, count, kGrain, VotesByBruteForce<VoteDecay::kGaussian>{job, &voters});
  } else {
    run_ranges(context, count, kGrain, VotesByBruteForce<VoteDecay::kSmooth>{job, &voters});
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
    gaussian ? run(VotesByCells<VoteDecay::kGaussian, true>{job})
             : run(VotesByCells<VoteDecay::kSmooth, true>{job});
  } else {
    gaussian ? run(VotesByCells<VoteDecay::kGaussian, false>{job})
             : run(VotesByCells<VoteDecay::kSmooth, false>{job});
  }
}

}  // namespace sextant::detail::voting
