// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/descriptor/shot_color_math.h"
#include "sextant/descriptor/shot_job.h"
#include "sextant/geometry/neighbours_warp.cuh"

namespace sextant::detail {

namespace {

/// Normals in the order of the grid, where neighbours lie together; `votes` is 0 or 1.
struct alignas(16) OrderedNormal {
  Vec3f normal;
  float votes;
};

struct OrderNormal {
  NeighbourGridView grid;
  const Vec3f* normals;
  OrderedNormal* to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const Vec3f normal = normals[grid.points[i].index];
    to[i] = can_vote(normal) ? OrderedNormal{normal, 1.0f} : OrderedNormal{{}, 0.0f};
  }
};

constexpr int kWarpsPerBlock = 4;
constexpr int kBlocks = 8;  // on a multiprocessor: half of its warps
/// Neighbours that are listed at once; more are looked for a second time.
constexpr int kListRoom = 512;
/// Of a warp: its list and runs; the histogram follows.
constexpr int kWordsBeforeHistogram = kListRoom + sizeof(WarpRuns) / sizeof(std::uint32_t);

using VoterList = WarpList<kListRoom>;

/// What the votes of a keypoint's neighbours have in common.
struct Voting {
  const ShotJob& job;
  const OrderedNormal* normals;
  Vec3f p;
  LocalFrame frame;
  Vec3f keypoint_lab;
  float scale;
  std::uint32_t* histogram;

  template <bool kExact>
  __device__ void count(const ShotVotes<float>& votes) const {
#pragma unroll
    for (int v = 0; v < (kExact ? kShotVotes : kApproxShotVotes); ++v) {
      // Half of the shares are nothing at all.
      const auto amount = static_cast<std::uint32_t>(votes.amount[v] + 0.5f);
      if (amount != 0) atomicAdd(histogram + static_cast<int>(votes.entry[v]), amount);
    }
  }

  /// Counts the vote of the neighbour at `place`.
  template <bool kColor, bool kExact>
  __device__ void vote(std::uint32_t place) const {
    const OrderedNormal known = normals[place];
    const GridPoint q = job.grid.points[place];
    const float distance = std::sqrt(squared_distance(q.position, p));
    if (known.votes == 0.0f || distance < kLeastShotDistance) return;
    const Vec3f offset = q.position - p;
    const Vec3f local{frame_dot(offset, frame.x), frame_dot(offset, frame.y),
                      frame_dot(offset, frame.z)};
    ShotSphere sphere = job.sphere;
    sphere.exact = kExact;
    const ShotPlace<float> in_sphere = shot_place(local, distance, 1.0f / distance, sphere);
    if (job.shape) {
      const ShotBin<float> bin = shape_bin(frame_dot(known.normal, frame.z), job.bins);
      count<kExact>(votes_of(in_sphere, bin, static_cast<float>(job.shape_bins), 0.0f, scale));
    }
    if constexpr (kColor) {
      const ShotBin<float> bin = color_bin(job.lab[q.index], keypoint_lab, job.bins);
      count<kExact>(votes_of(in_sphere, bin, static_cast<float>(kColorBins),
                             static_cast<float>(job.color_base), scale));
    }
  }
};

__device__ void refuse(const ShotJob& job, std::int64_t index, ShotStatus status,
                       const LocalFrame& frame) {
  const int lane = lane_index();
  float* const row = job.values + index * job.length;
  for (int i = lane; i < job.length; i += kWarp) row[i] = NAN;
  if (lane != 0) return;
  job.status[index] = status;
  if (job.frames) store_frame(frame, job.frames + 3 * index);
}

/// Scales the counts to length 1; false when nobody voted. The sum of all counts has 31 bits, so
/// their squares' has 62.
__device__ bool write_row(const ShotJob& job, std::int64_t index, const std::uint32_t* histogram) {
  const int lane = lane_index();
  std::uint64_t squares = 0;
  for (int i = lane; i < job.length; i += kWarp) {
    squares += std::uint64_t{histogram[i]} * histogram[i];
  }
  squares = warp_sum(squares);
  if (squares == 0) return false;
  const float inverse = static_cast<float>(1.0 / std::sqrt(static_cast<double>(squares)));
  float* const row = job.values + index * job.length;
  for (int i = lane; i < job.length; i += kWarp) {
    row[i] = static_cast<float>(histogram[i]) * inverse;
  }
  return true;
}

/// Counts the votes of all neighbours or, where not all are to vote, of some that are evenly spread
/// over their order. The list holds all of them or the last ones.
template <bool kColor, bool kExact>
__device__ void count_votes(const Voting& voting, WarpNeighbours& neighbours, VoterList& list,
                            int within, int voters) {
  const auto vote_listed = [&] {
    list.visit([&](std::uint32_t place) { voting.vote<kColor, kExact>(place); });
  };
  if (voters == within && within == list.size()) return vote_listed();
  list.clear();
  int seen = 0;
  neighbours.for_each_batch([&](std::uint32_t place, bool near) {
    if (voters != within) {
      const unsigned all = __ballot_sync(kAllLanes, near);
      near = near && is_voter(seen + __popc(all & lanes_before()), voters, within);
      seen += __popc(all);
    }
    list.add(place, near, vote_listed);
  });
  vote_listed();
}

template <bool kColor, bool kExact>
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock, kBlocks)
    describe(const ShotJob job, const OrderedNormal* normals, const Vec3f* frames) {
  extern __shared__ std::uint32_t shared[];
  const int lane = lane_index();
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t query = std::int64_t{blockIdx.x} * kWarpsPerBlock + warp;
  if (query >= job.count) return;
  std::uint32_t* const own = shared + warp * (kWordsBeforeHistogram + job.length);
  std::uint32_t* const histogram = own + kWordsBeforeHistogram;
  const GridPoint keypoint = job.queries[query];
  const std::int64_t index = keypoint.index;
  if (!is_finite(keypoint.position)) return refuse(job, index, ShotStatus::kNotFinite, {});
  const Vec3f* const axes = frames + 3 * index;
  if (!is_frame(axes)) return refuse(job, index, ShotStatus::kNoFrame, {});
  const LocalFrame frame{axes[0], axes[1], axes[2]};

  WarpNeighbours neighbours(job.grid, *reinterpret_cast<WarpRuns*>(own + kListRoom),
                            keypoint.position, job.radius_m);
  VoterList list(own);
  int within = 0;
  neighbours.for_each_batch([&](std::uint32_t place, bool near) {
    within += __popc(__ballot_sync(kAllLanes, near));
    list.add(place, near, [] {});
  });
  if (within == 0) return refuse(job, index, ShotStatus::kTooFew, {});
  if (within < kLeastShotNeighbours) return refuse(job, index, ShotStatus::kTooFew, frame);

  for (int i = lane; i < job.length; i += kWarp) histogram[i] = 0;
  __syncwarp();
  const int voters = static_cast<int>(voters_among(within, kExact, job.most_neighbours));
  const Voting voting{job,
                      normals,
                      keypoint.position,
                      frame,
                      kColor ? job.keypoint_lab[index] : Vec3f{},
                      vote_scale(voters),
                      histogram};
  count_votes<kColor, kExact>(voting, neighbours, list, within, voters);
  if (!write_row(job, index, histogram)) return refuse(job, index, ShotStatus::kNoVote, frame);
  if (lane != 0) return;
  job.status[index] = ShotStatus::kDescribed;
  if (job.frames) store_frame(frame, job.frames + 3 * index);
}

template <bool kColor, bool kExact>
void launch(const Context& context, const ShotJob& job, const OrderedNormal* normals,
            const Vec3f* frames) {
  const auto blocks = static_cast<unsigned>((job.count + kWarpsPerBlock - 1) / kWarpsPerBlock);
  const auto bytes =
      static_cast<std::size_t>(kWarpsPerBlock * (kWordsBeforeHistogram + job.length)) *
      sizeof(std::uint32_t);
  static_assert(
      kWarpsPerBlock * (kWordsBeforeHistogram + kShotVolumes * (11 + kColorBins)) * 4 <= 48 * 1024,
      "more shared memory than a kernel gets without asking");
  describe<kColor, kExact>
      <<<blocks, kWarp * kWarpsPerBlock, bytes, cuda_stream(context)>>>(job, normals, frames);
  check_launch("describe");
}

}  // namespace

void compute_shot_cuda(const Context& context, const ShotJob& job) {
  if (job.count == 0) return;
  Buffer<OrderedNormal> normals(context, job.grid.size);
  for_each(context, job.grid.size, OrderNormal{job.grid, job.normals, normals.data()});
  Buffer<Vec3f> computed;
  const Vec3f* frames = job.given_frames;
  if (!frames) {
    Vec3f* to = job.frames;
    if (!to) {
      computed = Buffer<Vec3f>(context, 3 * job.count);
      to = computed.data();
    }
    compute_local_frames_cuda(context, {job.grid, job.queries, job.count, job.frame_radius_m, to});
    frames = to;
  }
  const auto describe_all = job.lab ? (job.exact ? launch<true, true> : launch<true, false>)
                                    : (job.exact ? launch<false, true> : launch<false, false>);
  describe_all(context, job, normals.data(), frames);
}

void gather_keypoints_cuda(const Context& context, std::int64_t count,
                           const GatherKeypoint& gather) {
  for_each(context, count, gather);
}

void colors_to_lab_cuda(const Context& context, View<const Rgb8> colors, View<Vec3f> lab) {
  for_each(context, colors.size, LabOfColor<ComputedTables>{colors.data, {}, lab.data});
}

}  // namespace sextant::detail
