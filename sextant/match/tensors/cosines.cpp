// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <bit>

#include "sextant/core/for_each.h"
#include "sextant/core/simd/short_dot.h"
#include "sextant/match/tensors/blocks_math.h"
#include "sextant/match/tensors/sorted_scene.h"

// The search by cosine on the host. Words of 16 tensors of the library lie beside each other, so
// that registers bound the cosines of 16 × 4 pairs at a time. A pair is compared bin by bin only
// where its bound reaches the worst of the k best matches that any thread has found so far: which
// pairs are left out depends on the order of the threads, the best ones do not.

namespace sextant::detail::tensors {

namespace {

constexpr std::int64_t kBatchesPerChunk = 16;
constexpr int kTogether = 2;  // tensors of the scene that meet a batch at a time, each both ways

/// What was found so far for each tensor of the scene.
struct Found {
  TensorMatch* lists;  ///< [scene][k]
  int k;
  std::int32_t* least_sums;  ///< [scene]: bounds below this are of none of the best
  std::uint32_t* locks;      ///< [scene]

  std::int32_t least(std::int64_t t) const {
    return std::atomic_ref(least_sums[t]).load(std::memory_order_relaxed);
  }
  void add(std::int64_t t, const TensorMatch& match) const {
    const std::atomic_ref lock(locks[t]);
    while (lock.exchange(1, std::memory_order_acquire) != 0) {
    }
    TensorMatch* list = lists + t * k;
    insert(list, k, match);
    if (list[k - 1].model >= 0) {
      std::atomic_ref(least_sums[t])
          .store(std::max(least(t), least_sum(list[k - 1].correlation)), std::memory_order_relaxed);
    }
    lock.store(0, std::memory_order_release);
  }
};

struct VisitBatches {
  const MatchJob& job;
  const SortedScene& sorted;
  const Found& found;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t batch = begin; batch < end; ++batch) {
      const std::int64_t first = batch * kBatch;
      const std::int64_t last = std::min(first + kBatch, job.library.size) - 1;
      const float* angles = job.library.angles_rad;
      if (!(angles[first] >= 0.0f)) return;  // none from here on could be made
      // Angles that could not be made are last, and every comparison with them fails.
      const float highest = angles[last] >= 0.0f ? angles[last] : 4.0f;
      const float reach = 2 * job.options.angle_window_rad;
      const float* scene = sorted.angles_rad.data;
      const std::int64_t size = sorted.angles_rad.size;
      const std::int64_t from = place_of<false>(scene, size, angles[first] - reach);
      std::int64_t to = from;
      while (to < size && scene[to] <= highest + reach) ++to;
      for (std::int64_t i = from; i < to; i += kTogether) visit<Set>(batch, i, to);
    }
  }

 private:
  template <class Set>
  void visit(std::int64_t batch, std::int64_t begin, std::int64_t end) const {
    using Pack = IntLanes<kBatch, Set>;
    using Dot = ShortDot<Set>;
    constexpr int kQueries = 2 * kTogether;
    const std::uint32_t* queries[kQueries];
    std::int64_t tensors[kTogether];
    for (int q = 0; q < kQueries; ++q) {
      // The last tensor may stand twice; it is looked at once.
      const std::int64_t i = std::min(begin + q / 2, end - 1);
      tensors[q / 2] = sorted.order[i];
      queries[q] = job.scene.blocks + (2 * tensors[q / 2] + q % 2) * kBlockWords;
    }
    typename Dot::Sum sums[kQueries][Pack::kParts] = {};
    const std::uint32_t* words = job.library.blocks + batch * kBlockWords * kBatch;
    for (int w = 0; w < kBlockWords; ++w) {
      const Pack row = Pack::load_bits(words + w * kBatch);
      SEXTANT_UNROLL
      for (int q = 0; q < kQueries; ++q) {
        SEXTANT_UNROLL
        for (int p = 0; p < Pack::kParts; ++p) {
          Dot::add(row.part[p], static_cast<std::int32_t>(queries[q][w]), sums[q][p]);
        }
      }
    }
    for (int q = 0; q < kQueries && begin + q / 2 < end; ++q) {
      Pack bounds;
      for (int p = 0; p < Pack::kParts; ++p) Dot::finish(sums[q][p], bounds.part[p]);
      const std::uint32_t reached = (Pack(found.least(tensors[q / 2])) <= bounds).bits();
      for (std::uint32_t rest = reached; rest != 0; rest &= rest - 1) {
        compare(batch * kBatch + std::countr_zero(rest), begin + q / 2, q % 2);
      }
    }
  }

  void compare(std::int64_t place, std::int64_t i, int flipped) const {
    if (place >= job.library.size) return;
    if (!in_window(job.library.angles_rad[place], sorted.angles_rad[i],
                   job.options.angle_window_rad)) {
      return;
    }
    const std::int64_t t = sorted.order[i];
    const TensorMatch match =
        compare_cosine(job, place, t, flipped,
                       job.scene.areas + (2 * t + flipped) * std::int64_t{job.scene.all_bins()});
    if (match.model >= 0) found.add(t, match);
  }
};

}  // namespace

void match_cosines_cpu(const Context& context, const MatchJob& job, Workspace& workspace) {
  const SortedScene sorted = sort_scene(context, job.scene, workspace);
  const std::int64_t capacity = job.scene.capacity;
  const Found found{job.matches, job.options.k,
                    workspace.take<std::int32_t>(context, capacity).data,
                    workspace.take<std::uint32_t>(context, capacity).data};
  std::fill_n(job.matches, capacity * job.options.k, TensorMatch{});
  std::fill_n(found.least_sums, capacity, least_sum(job.options.least_correlation));
  std::fill_n(found.locks, capacity, 0u);
  for_each_chunk(context, batches_of(job.library.size), kBatchesPerChunk,
                 [&](std::int64_t begin, std::int64_t end) {
                   run_widest(VisitBatches{job, sorted, found}, begin, end);
                 });
}

}  // namespace sextant::detail::tensors
