// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
// Votes on CUDA. Blocks take one reference point after the other. What is counted is a sum over a
// set of cells and turns, so that it does not matter in which order threads find them.
#include "sextant/core/context/state.h"
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/match/point_pairs/job.h"

namespace sextant::detail::point_pairs {

namespace {

constexpr int kThreads = 512;
constexpr int kWarps = kThreads / kWarp;
constexpr int kTableBits = 11;
constexpr int kPlaces = 1 << kTableBits;          // of the table of cells
constexpr unsigned kMostCells = kPlaces * 3 / 4;  // more of them take several rounds
constexpr std::uint32_t kFree = 0xffffffffu;
constexpr int kQueue = 2 * kWarp;         // neighbours that wait for a full warp
constexpr int kRowWords = kTurnBins / 2;  // two counts in a word
constexpr int kRowsAtOnce = 8;            // that a warp looks at for peaks
constexpr int kMostRows = 1280;           // so that two blocks fit on a multiprocessor
constexpr int kMostPeaks = 16;            // that PointPairOptions allows

/// Peaks as numbers that ascend with votes and descend with (point, turn): votes, the complement of
/// point and turn, and the votes of the neighbour bin, which no two with all else equal differ in.
using PeakKey = unsigned long long;
constexpr int kBesideBits = 17, kPlaceBits = 20;
constexpr PeakKey kLastPlace = (1u << kPlaceBits) - 1;

__device__ PeakKey peak_key(const Crest& crest, int point, int bin) {
  const auto place = static_cast<PeakKey>(point * kTurnBins + bin);
  return static_cast<PeakKey>(crest.votes) << (kPlaceBits + kBesideBits) |
         (kLastPlace - place) << kBesideBits |
         static_cast<PeakKey>(crest.beside + (1 << (kBesideBits - 1)));
}
__device__ int votes_of(PeakKey key) { return static_cast<int>(key >> (kPlaceBits + kBesideBits)); }
__device__ int place_of(PeakKey key) {
  return static_cast<int>(kLastPlace - (key >> kBesideBits & kLastPlace));
}
__device__ int beside_of(PeakKey key) {
  return static_cast<int>(key & ((1u << kBesideBits) - 1)) - (1 << (kBesideBits - 1));
}

/// The highest peaks that a warp knows: lane i has the one with rank i, or 0.
struct WarpPeaks {
  int wanted;
  PeakKey own = 0;
  PeakKey least = 0;  ///< the last that is wanted

  /// All lanes offer a peak, or 0.
  __device__ void offer(PeakKey key) {
    for (unsigned better = __ballot_sync(kAllLanes, key > least); better != 0;
         better &= better - 1) {
      insert(__shfl_sync(kAllLanes, key, __ffs(static_cast<int>(better)) - 1));
    }
  }
  __device__ void insert(PeakKey key) {
    const int rank = __popc(__ballot_sync(kAllLanes, own > key));
    const PeakKey before = __shfl_up_sync(kAllLanes, own, 1);
    if (lane_index() == rank) own = key;
    if (lane_index() > rank) own = before;
    if (lane_index() >= wanted) own = 0;
    least = __shfl_sync(kAllLanes, own, wanted - 1);
  }
};

/// What a block has in shared memory beside the counts.
struct Shared {
  static constexpr int kModelWords = sizeof(VotingModel) / sizeof(std::uint64_t);
  static_assert(sizeof(VotingModel) % sizeof(std::uint64_t) == 0);
  std::uint64_t model_words[kModelWords];
  std::uint32_t cells[kPlaces];
  std::uint32_t turns[2][kPlaces];  ///< seen within the inner reach, and beyond
  std::int32_t queue[kWarps][kQueue];
  PeakKey peaks[kWarps][kMostPeaks];
  PeakKey best[kMostPeaks];
  unsigned seen;
  int overflow;
  int work;

  __device__ const VotingModel& model() const {
    return *reinterpret_cast<const VotingModel*>(model_words);
  }
};

/// One reference point of a block.
struct Reference {
  const VotingModel& model;
  Shared& shared;
  std::uint32_t* counts;  ///< kRowWords for each point of the model from first_row on
  const Vec3f* points;
  const Vec3f* normals;
  int size;
  NormalFrame<float> frame;
  int first_row = 0, rows = 0;

  /// Notes a turn of a cell; of other rounds than this, nothing.
  __device__ void see(std::uint32_t cell, std::uint32_t turn, bool outer) {
    std::uint32_t place = (cell * 0x9E3779B9u) >> (32 - kTableBits);
    for (int probe = 0; probe < kPlaces; ++probe) {
      std::uint32_t held = static_cast<volatile std::uint32_t*>(shared.cells)[place];
      if (held == kFree) {
        if (static_cast<volatile unsigned&>(shared.seen) >= kMostCells) break;
        held = atomicCAS(&shared.cells[place], kFree, cell);
        if (held == kFree) atomicAdd(&shared.seen, 1u);
      }
      if (held == kFree || held == cell) {
        atomicOr(&shared.turns[outer][place], 1u << turn);
        return;
      }
      place = (place + 1) & (kPlaces - 1);
    }
    shared.overflow = 1;
  }

  __device__ void see_neighbour(std::int32_t i, std::uint32_t round, std::uint32_t round_mask) {
    const Vec3f normal = normals[i];
    if (!is_finite(normal)) return;
    const Vec3f d = points[i] - frame.origin;
    const float distance_sq = d.x * d.x + d.y * d.y + d.z * d.z;
    const bool outer = distance_sq > (model.two_reaches ? model.inner_sq : -1.0f);
    const PairFeature<float> feature =
        model.bins.feature(d, distance_sq, frame.rotation.row[0], normal);
    const auto turn = static_cast<std::uint32_t>(turn_of(frame, d));
    const auto see_cell = [&](std::uint32_t cell) {
      if ((cell & round_mask) == round && model.is_occupied(cell)) see(cell, turn, outer);
    };
    if (model.spread > 0) {
      model.bins.for_each_cell(feature, model.spread, see_cell);
    } else {
      see_cell(static_cast<std::uint32_t>(model.bins.cell(feature)));
    }
  }

  /// Fills the table with the cells of one round.
  __device__ void see_neighbours(std::uint32_t round, std::uint32_t round_mask) {
    for (int i = static_cast<int>(threadIdx.x); i < kPlaces; i += kThreads) {
      shared.cells[i] = kFree;
      shared.turns[0][i] = shared.turns[1][i] = 0;
    }
    if (threadIdx.x == 0) shared.seen = 0;
    __syncthreads();
    // Each warp gathers neighbours until all its lanes have one.
    std::int32_t* queue = shared.queue[threadIdx.x / kWarp];
    int waiting = 0;
    const int first = static_cast<int>(threadIdx.x) & ~(kWarp - 1);
    for (int base = first; base < size; base += kThreads) {
      const int i = base + lane_index();
      bool near = false;
      if (i < size) {
        const Vec3f d = points[i] - frame.origin;
        const float distance_sq = d.x * d.x + d.y * d.y + d.z * d.z;
        near = distance_sq <= model.outer_sq && distance_sq > 0;
      }
      const unsigned all = __ballot_sync(kAllLanes, near);
      if (near) queue[waiting + __popc(all & lanes_before())] = i;
      waiting += __popc(all);
      __syncwarp();
      if (waiting >= kWarp) {
        waiting -= kWarp;
        see_neighbour(queue[waiting + lane_index()], round, round_mask);
        __syncwarp();
      }
    }
    if (lane_index() < waiting) see_neighbour(queue[lane_index()], round, round_mask);
    __syncthreads();
  }

  /// A row votes for every turn t with a turn b of the scene, t = turn of the row - b; the lanes of
  /// half a warp take two turns each.
  __device__ void vote_densely(const PairRow& mine, int count, std::uint32_t turns) {
    const int half = lane_index() / kRowWords, word = lane_index() % kRowWords;
    for (int e = 0; e < count; e += 2) {
      const int from = min_of(e + half, kWarp - 1);
      const std::uint32_t point =
          __shfl_sync(kAllLanes, mine.point, from) - static_cast<std::uint32_t>(first_row);
      const std::uint32_t of_row = __shfl_sync(kAllLanes, mine.turns, from);
      if (e + half >= count || point >= static_cast<std::uint32_t>(rows)) continue;
      const int low = __popc(turns & __funnelshift_r(of_row, of_row, 2 * word));
      const int high = __popc(turns & __funnelshift_r(of_row, of_row, 2 * word + 1));
      if (low | high) {
        atomicAdd(&counts[point * kRowWords + word], static_cast<std::uint32_t>(low | high << 16));
      }
    }
  }
  /// The same with a row for each lane.
  __device__ void vote_sparsely(const PairRow& mine, std::uint32_t turns) {
    const std::uint32_t point = mine.point - static_cast<std::uint32_t>(first_row);
    if (point >= static_cast<std::uint32_t>(rows)) return;
    for (; turns != 0; turns &= turns - 1) {
      const int turn = __ffs(static_cast<int>(turns)) - 1;
      std::uint32_t votes = __funnelshift_r(mine.turns, mine.turns, turn);
      for (; votes != 0; votes &= votes - 1) {
        const int t = __ffs(static_cast<int>(votes)) - 1;
        atomicAdd(&counts[point * kRowWords + t / 2], 1u << 16 * (t & 1));
      }
    }
  }

  /// Which turns of a cell vote: those of the inner reach, the others, or all.
  enum class Voters { kInner, kOthers, kAll };
  __device__ std::uint32_t turns_at(int place, Voters voters) const {
    const std::uint32_t inner = shared.turns[0][place], outer = shared.turns[1][place];
    if (voters == Voters::kInner) return inner;
    return voters == Voters::kOthers ? outer & ~inner : inner | outer;
  }

  __device__ void vote(Voters voters) {
    constexpr int kFewTurns = 2;  // are cheaper with a row a lane
    const int warp = static_cast<int>(threadIdx.x) / kWarp;
    for (int base = warp * kWarp; base < kPlaces; base += kThreads) {
      const int place = base + lane_index();
      const std::uint32_t cell = shared.cells[place];
      const std::uint32_t own_turns = cell == kFree ? 0 : turns_at(place, voters);
      std::uint32_t own_first = 0, own_last = 0;
      if (own_turns != 0) {
        own_first = model.cell_first[cell];
        own_last = model.cell_first[cell + 1];
      }
      for (unsigned left = __ballot_sync(kAllLanes, own_turns != 0); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        const std::uint32_t turns = __shfl_sync(kAllLanes, own_turns, from);
        const std::uint32_t first = __shfl_sync(kAllLanes, own_first, from);
        const std::uint32_t last = __shfl_sync(kAllLanes, own_last, from);
        for (std::uint32_t e = first; e < last; e += kWarp) {
          const int count = static_cast<int>(min_of<std::uint32_t>(last - e, kWarp));
          PairRow mine;
          if (lane_index() < count) mine = model.rows[e + lane_index()];
          if (__popc(turns) > kFewTurns) {
            vote_densely(mine, count, turns);
          } else {
            vote_sparsely(mine, turns);
          }
        }
      }
    }
    __syncthreads();
  }

  __device__ void clear_counts() {
    const int words = (rows + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce * kRowWords;
    for (int i = static_cast<int>(threadIdx.x); i < words; i += kThreads) counts[i] = 0;
    __syncthreads();
  }

  /// Puts the highest peaks of the counts together with those in shared.best.
  __device__ void find_peaks() {
    const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = lane_index();
    WarpPeaks peaks{model.peaks};
    for (int base = warp * kRowsAtOnce; base < rows; base += kWarps * kRowsAtOnce) {
      // A crest has at most twice the votes of its bin: most rows have no bin that is high enough.
      // Rows ascend, so that a peak as high as the last one wanted comes too late.
      const uint4 eight = reinterpret_cast<const uint4*>(counts + base * kRowWords)[lane];
      const unsigned most = __vmaxu2(__vmaxu2(eight.x, eight.y), __vmaxu2(eight.z, eight.w));
      const int highest = static_cast<int>(max_of(most & 0xffffu, most >> 16));
      unsigned high = __ballot_sync(kAllLanes, 2 * highest > votes_of(peaks.least));
      while (high != 0) {
        constexpr int kRowLanes = kWarp / kRowsAtOnce;
        const int row = base + (__ffs(static_cast<int>(high)) - 1) / kRowLanes;
        high &= ~(((1u << kRowLanes) - 1) << (row - base) * kRowLanes);
        const int here = reinterpret_cast<const std::uint16_t*>(counts + row * kRowWords)[lane];
        const int before = __shfl_sync(kAllLanes, here, (lane + kWarp - 1) % kWarp);
        const int after = __shfl_sync(kAllLanes, here, (lane + 1) % kWarp);
        const Crest crest = crest_of(before, here, after);
        peaks.offer(crest.votes == 0 ? 0 : peak_key(crest, first_row + row, lane));
      }
    }
    if (lane < model.peaks) shared.peaks[warp][lane] = peaks.own;
    __syncthreads();
    if (warp == 0) {
      WarpPeaks all{model.peaks};
      all.offer(lane < model.peaks ? shared.best[lane] : 0);
      for (int i = lane; i < kWarps * kMostPeaks; i += kWarp) {
        all.offer(i % kMostPeaks < model.peaks ? shared.peaks[i / kMostPeaks][i % kMostPeaks] : 0);
      }
      if (lane < model.peaks) shared.best[lane] = all.own;
    }
    __syncthreads();
  }

  /// Votes within one reach and leaves the peaks in shared.best; false where the table overflows.
  __device__ bool vote_within(bool inner, std::uint32_t rounds, int rows_at_once,
                              bool& table_is_full) {
    if (threadIdx.x < kMostPeaks) shared.best[threadIdx.x] = 0;
    const bool goes_on = !inner && model.two_reaches && model.samples <= rows_at_once;
    for (first_row = 0; first_row < model.samples; first_row += rows_at_once) {
      rows = min_of(rows_at_once, model.samples - first_row);
      if (!goes_on) clear_counts();
      for (std::uint32_t round = 0; round < rounds; ++round) {
        if (!table_is_full) see_neighbours(round, rounds - 1);
        table_is_full = rounds == 1;
        if (shared.overflow) return false;
        vote(inner ? Voters::kInner : goes_on ? Voters::kOthers : Voters::kAll);
      }
      find_peaks();
    }
    return true;
  }

  /// Writes the poses of shared.best behind those that are written, and returns how many there are.
  __device__ int write_peaks(std::int32_t reference, int written, PoseVote* votes) {
    int count = 0;
    while (count < model.peaks && shared.best[count] != 0) ++count;
    const int k = static_cast<int>(threadIdx.x);
    if (k < count) {
      const PeakKey key = shared.best[k];
      const int place = place_of(key);
      votes[written + k] = vote_of(model, frame, place / kTurnBins, place % kTurnBins,
                                   {votes_of(key), beside_of(key)}, reference);
    }
    __syncthreads();
    return written + count;
  }
};

__global__ void __launch_bounds__(kThreads, 2)
    vote_kernel(const VotingJob job, const std::int32_t* first_reference, std::int32_t* next,
                const int rows_at_once) {
  extern __shared__ __align__(16) std::uint32_t counts[];
  __shared__ Shared shared;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) shared.work = atomicAdd(next, 1);
    __syncthreads();
    const std::int32_t work = shared.work;
    if (work >= first_reference[job.count]) return;
    int low = 0, high = job.count;  // the model is the last that begins at or before the work
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first_reference[middle] <= work ? low : high) = middle;
    }
    if (threadIdx.x < Shared::kModelWords) {
      shared.model_words[threadIdx.x] =
          reinterpret_cast<const std::uint64_t*>(job.models + low)[threadIdx.x];
    }
    __syncthreads();
    const VotingModel& model = shared.model();
    const std::int32_t begin = job.scene.first[low];
    const std::int32_t s = (work - first_reference[low]) * model.reference_step;
    PoseVote* votes = job.votes + std::int64_t{work} * job.votes_each;
    const Vec3f* points = job.scene.points.data + begin;
    const Vec3f* normals = job.scene.normals.data + begin;
    int written = 0;
    if (model.samples > 0 && usable(points[s], normals[s])) {
      Reference reference{model,
                          shared,
                          counts,
                          points,
                          normals,
                          job.scene.first[low + 1] - begin,
                          normal_frame(points[s], normals[s])};
      for (std::uint32_t rounds = 1;; rounds *= 2) {
        __syncthreads();
        if (threadIdx.x == 0) shared.overflow = 0;
        __syncthreads();
        bool table_is_full = false;
        written = 0;
        if (model.two_reaches) {
          if (!reference.vote_within(true, rounds, rows_at_once, table_is_full)) continue;
          written = reference.write_peaks(s, written, votes);
        }
        if (!reference.vote_within(false, rounds, rows_at_once, table_is_full)) continue;
        written = reference.write_peaks(s, written, votes);
        break;
      }
    }
    for (int k = written + static_cast<int>(threadIdx.x); k < job.votes_each; k += kThreads) {
      votes[k] = PoseVote{};
    }
  }
}

/// Finds where the references and the votes of each model begin; one warp.
__global__ void __launch_bounds__(kWarp)
    plan_kernel(const VotingJob job, std::int32_t* first_reference, std::int32_t* next) {
  std::int32_t before = 0;
  for (int base = 0; base < job.count; base += kWarp) {
    const int i = base + lane_index();
    std::int32_t sum = 0;
    if (i < job.count) {
      const std::int32_t points = max_of(job.scene.first[i + 1] - job.scene.first[i], 0);
      sum = static_cast<std::int32_t>(job.models[i].references(points));
    }
    for (int step = 1; step < kWarp; step *= 2) {
      const std::int32_t other = __shfl_up_sync(kAllLanes, sum, step);
      if (lane_index() >= step) sum += other;
    }
    if (i < job.count) {
      first_reference[i + 1] = before + sum;
      job.first_vote[i + 1] = (before + sum) * job.votes_each;
    }
    before += __shfl_sync(kAllLanes, sum, kWarp - 1);
  }
  if (lane_index() == 0) {
    first_reference[0] = 0;
    job.first_vote[0] = 0;
    *next = 0;
  }
}

}  // namespace

void vote_cuda(const Context& context, const VotingJob& job, int most_samples,
               Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  std::int32_t* first_reference = workspace.take<std::int32_t>(context, job.count + 1).data;
  std::int32_t* next = workspace.take<std::int32_t>(context, 1).data;
  plan_kernel<<<1, kWarp, 0, stream>>>(job, first_reference, next);
  check_launch("plan_votes");
  int most_bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                    context.device().ordinal),
             "cudaDeviceGetAttribute");
  // Models of more samples are counted in several parts.
  constexpr int kRowBytes = kRowWords * static_cast<int>(sizeof(std::uint32_t));
  const int room = (most_bytes - static_cast<int>(sizeof(Shared))) / kRowBytes;
  const int needed = (max_of(most_samples, 1) + kRowsAtOnce - 1) / kRowsAtOnce * kRowsAtOnce;
  const int rows = min_of(min_of(kMostRows, room / kRowsAtOnce * kRowsAtOnce), needed);
  const int bytes = rows * kRowBytes;
  check_cuda(cudaFuncSetAttribute(vote_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             "cudaFuncSetAttribute");
  int blocks = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, vote_kernel, kThreads,
                                                           static_cast<std::size_t>(bytes)),
             "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  vote_kernel<<<static_cast<unsigned>(max_of(blocks, 1) * multiprocessors(context)), kThreads,
                static_cast<std::size_t>(bytes), stream>>>(job, first_reference, next, rows);
  check_launch("vote_for_poses");
}

}  // namespace sextant::detail::point_pairs
