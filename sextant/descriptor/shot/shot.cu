// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/local_frame/block.cuh"
#include "sextant/descriptor/shot/color_math.h"
#include "sextant/descriptor/shot/job.h"

namespace sextant::detail::shot {

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

/// 2²³: a float below it that has it added is rounded to a whole number, which its last bits are.
constexpr float kWhole = 8388608.0f;
constexpr std::uint32_t kWholeBits = 0x4b000000u;

/// What the votes of a keypoint's neighbours have in common.
struct Voting {
  const ShotJob& job;
  const OrderedNormal* normals;
  std::uint32_t* histogram;
  Vec3f p{};
  local_frame::LocalFrame frame{};
  Vec3f keypoint_lab{};
  float scale = 0;

  /// Counts votes whose entries have kWhole added.
  template <bool kExact>
  __device__ void count(const ShotVotes<float>& votes) const {
#pragma unroll
    for (int v = 0; v < (kExact ? kShotVotes : kApproxShotVotes); ++v) {
      const std::uint32_t amount = __float_as_uint(votes.amount[v] + kWhole) - kWholeBits;
      // Half of the shares of the other shell are nothing at all.
      if (v == kRadiusVote && amount == 0) continue;
      atomicAdd(histogram + (__float_as_uint(votes.entry[v]) - kWholeBits), amount);
    }
  }

  /// Counts the vote of a neighbour; the keypoint's own and one without a normal have no amount.
  template <bool kColor, bool kExact>
  __device__ void vote(const neighbours::HeldPoint& q) const {
    const OrderedNormal known = normals[q.place];
    const float distance_sq = squared_distance(q.position, p);
    const float inverse = approx_inverse_root(max_of(distance_sq, kLeastShotSquare));
    const float amount = distance_sq < kLeastShotSquare ? 0.0f : known.votes * scale;
    const Vec3f offset = q.position - p;
    const Vec3f local{frame_dot(offset, frame.x), frame_dot(offset, frame.y),
                      frame_dot(offset, frame.z)};
    ShotSphere sphere = job.sphere;
    sphere.exact = kExact;
    const ShotPlace<float> in_sphere = shot_place(local, distance_sq, inverse, sphere);
    if (job.shape) {
      const ShotBin<float> bin = shape_bin(frame_dot(known.normal, frame.z), job.bins);
      count<kExact>(votes_of(in_sphere, bin, static_cast<float>(job.shape_bins), kWhole, amount));
    }
    if constexpr (kColor) {
      const ShotBin<float> bin =
          color_bin(job.lab[job.grid.points[q.place].index], keypoint_lab, job.bins);
      count<kExact>(votes_of(in_sphere, bin, static_cast<float>(kColorBins),
                             kWhole + static_cast<float>(job.color_base), amount));
    }
  }
};

__device__ void refuse(const ShotJob& job, std::int64_t index, ShotStatus status,
                       const local_frame::LocalFrame& frame) {
  const int lane = lane_index();
  float* const row = job.values + index * job.length;
  for (int i = lane; i < job.length; i += kWarp) row[i] = NAN;
  if (lane != 0) return;
  job.status[index] = status;
  if (job.frames) local_frame::store_frame(frame, job.frames + 3 * index);
}

/// Scales the counts to length 1; false when nobody voted. The counts of shape and of colour add up
/// to 31 bits each, their squares to 63.
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

/// Counts the neighbours of one keypoint.
struct CountNeighbours {
  float radius_sq;
  local_frame::KeypointAxes* to;
  std::int64_t query = 0;
  Vec3f p;
  int count = 0;

  __device__ void begin(std::int64_t number, const GridPoint& keypoint) {
    query = number;
    p = keypoint.position;
    count = 0;
  }
  __device__ void add(const neighbours::HeldPoint* held, int size) {
    for (int i = lane_index(); i < size; i += kWarp) {
      count += squared_distance(held[i].position, p) < radius_sq;
    }
  }
  __device__ void end() {
    local_frame::KeypointAxes known;
    known.within = warp_sum(count);
    if (lane_index() == 0) to[query] = known;
  }
};

__global__ void __launch_bounds__(neighbours::kGroupThreads, neighbours::kGroupBlocks)
    count_neighbours(const ShotJob job, local_frame::KeypointAxes* to) {
  __shared__ neighbours::GroupCandidates candidates;
  CountNeighbours work{job.radius_m * job.radius_m, to};
  neighbours::GroupSearch(job.grid, job.radius_m, candidates).run(job.queries, job.count, work);
}

/// The descriptor of one keypoint. Where its neighbours are listed, they make its frame too.
template <bool kColor, bool kExact>
struct Describe {
  const ShotJob& job;
  const local_frame::KeypointAxes* all_axes;
  const Vec3f* frames;  ///< of those that are not listed
  neighbours::WarpList list;
  Voting voting;
  local_frame::KeypointAxes known{};
  std::int64_t index = 0;
  int voters = 0;
  int seen = 0;
  ShotStatus status = ShotStatus::kDescribed;

  __device__ void begin(std::int64_t query, const GridPoint& keypoint) {
    index = keypoint.index;
    known = all_axes[query];
    voting.p = keypoint.position;
    voting.frame = {};
    if (!known.listed) {
      const Vec3f* const axes = frames + 3 * index;
      const bool usable = job.given_frames ? is_frame(axes) : is_finite(axes[0]);
      if (usable) voting.frame = {axes[0], axes[1], axes[2]};
    }
    const bool has_frame = known.listed ? known.axes.valid : is_finite(voting.frame.x);
    status = !is_finite(keypoint.position)         ? ShotStatus::kNotFinite
             : !has_frame                          ? ShotStatus::kNoFrame
             : known.within < kLeastShotNeighbours ? ShotStatus::kTooFew
                                                   : ShotStatus::kDescribed;
    if (known.within == 0) voting.frame = {};
    if (status != ShotStatus::kDescribed) return;
    voters = static_cast<int>(voters_among(known.within, kExact, job.most_neighbours));
    voting.scale = vote_scale(voters);
    if constexpr (kColor) voting.keypoint_lab = job.keypoint_lab[index];
    seen = 0;
    for (int i = lane_index(); i < job.length; i += kWarp) voting.histogram[i] = 0;
    __syncwarp();
  }
  __device__ void add(const neighbours::HeldPoint* held, int count) {
    if (status != ShotStatus::kDescribed) return;
    list.find(held, count, voting.p, job.radius_m * job.radius_m, [&](int size) {
      if (known.listed) {
        voting.frame = local_frame::frame_from_list(
            {{job.grid.points, voting.p, job.radius_m}, held, list.entries, size}, known);
      }
      const auto vote = [&](int i) { voting.vote<kColor, kExact>(held[list.entries[i]]); };
      if (kExact || voters == known.within) {
        for_each_apart(size, vote);
      } else {
        for_each_voter(size, vote);
      }
      seen += size;
    });
  }
  __device__ void end() {
    __syncwarp();
    if (status == ShotStatus::kDescribed && !write_row(job, index, voting.histogram)) {
      status = ShotStatus::kNoVote;
    }
    if (status != ShotStatus::kDescribed) return refuse(job, index, status, voting.frame);
    if (lane_index() != 0) return;
    job.status[index] = status;
    if (job.frames) local_frame::store_frame(voting.frame, job.frames + 3 * index);
  }

 private:
  /// Four groups of eight lanes take neighbours far apart from each other: few lanes then vote for
  /// the same entry at once, and the eight of a group read their points at one go.
  template <class Function>
  __device__ static void for_each_apart(int size, Function&& f) {
    constexpr int kTogether = 8;
    const int share = (size + kWarp - 1) / kWarp * kTogether;
    const int begin = lane_index() / kTogether * share;
    const int end = min_of(begin + share, size);
    for (int i = begin + lane_index() % kTogether; i < end; i += kTogether) f(i);
  }
  /// Calls f for those that have a vote, when not all have one.
  template <class Function>
  __device__ void for_each_voter(int size, Function&& f) const {
    const std::int32_t within = known.within;
    const auto first = static_cast<int>(first_voter_from(seen, voters, within));
    const bool small = std::int64_t{voters + 1} * within <= UINT32_MAX;
    for (int j = first + lane_index(); j < voters; j += kWarp) {
      const auto place =
          small ? static_cast<std::int64_t>(place_of_voter<std::uint32_t>(
                      static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(voters),
                      static_cast<std::uint32_t>(within)))
                : place_of_voter<std::int64_t>(j, voters, within);
      if (place - seen >= size) break;
      f(static_cast<int>(place - seen));
    }
  }
};

/// Bytes of shared memory: candidates, and of each warp its list and its histogram.
constexpr std::size_t shared_bytes(int length) {
  return sizeof(neighbours::GroupCandidates) +
         neighbours::kGroupWarps * (neighbours::WarpList::kSize * sizeof(std::uint16_t) +
                                    static_cast<std::size_t>(length) * sizeof(std::uint32_t));
}

template <bool kColor, bool kExact>
__global__ void __launch_bounds__(neighbours::kGroupThreads, neighbours::kGroupBlocks)
    describe(const ShotJob job, const OrderedNormal* normals, const Vec3f* frames,
             const local_frame::KeypointAxes* axes) {
  extern __shared__ neighbours::GroupCandidates shared[];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  auto* const histograms = reinterpret_cast<std::uint32_t*>(shared + 1);
  auto* const lists =
      reinterpret_cast<std::uint16_t*>(histograms + neighbours::kGroupWarps * job.length);
  Describe<kColor, kExact> work{job,
                                axes,
                                frames,
                                {lists + warp * neighbours::WarpList::kSize},
                                {job, normals, histograms + warp * job.length}};
  neighbours::GroupSearch(job.grid, job.radius_m, *shared).run(job.queries, job.count, work);
}

template <bool kColor, bool kExact>
void launch(const Context& context, const ShotJob& job, const OrderedNormal* normals,
            const Vec3f* frames, const local_frame::KeypointAxes* axes) {
  constexpr std::size_t kMost = shared_bytes(kShotVolumes * (11 + (kColor ? kColorBins : 0)));
  constexpr std::size_t kUnasked = 48 * 1024;  // a kernel may use so much without asking
  static_assert(kMost <= 64 * 1024, "more than Turing has");
  if constexpr (kMost > kUnasked) {
    // The limit is that of the largest descriptor: it belongs to the kernel, which other threads
    // launch too.
    check_cuda(
        cudaFuncSetAttribute(describe<kColor, kExact>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kMost)),
        "describe");
  }
  describe<kColor, kExact>
      <<<neighbours::group_blocks(job.count), neighbours::kGroupThreads, shared_bytes(job.length),
         cuda_stream(context)>>>(job, normals, frames, axes);
  check_launch("describe");
}

/// Counts neighbours; frames come from elsewhere.
void count_alone(const Context& context, const ShotJob& job, local_frame::KeypointAxes* axes) {
  count_neighbours<<<neighbours::group_blocks(job.count), neighbours::kGroupThreads, 0,
                     cuda_stream(context)>>>(job, axes);
  check_launch("count_neighbours");
}

/// Computes the frames of the keypoints and counts their neighbours. Keypoints whose neighbours are
/// listed get their frames later, from the kernel that describes them.
void compute_frames(const Context& context, const ShotJob& job, Vec3f* frames,
                    local_frame::KeypointAxes* axes, Workspace& workspace) {
  const local_frame::LocalFrameJob own{job.grid, job.queries, job.count, job.frame_radius_m,
                                       frames};
  const bool same_radius = job.frame_radius_m == job.radius_m;
  compute_axes_cuda(context, own, axes, workspace);
  sign_axes_cuda(context, own, axes, !same_radius, workspace);
  if (!same_radius) count_alone(context, job, axes);
}

}  // namespace

void compute_shot_cuda(const Context& context, const ShotJob& job, Workspace& workspace) {
  if (job.count == 0) return;
  const Workspace::Scope scope(workspace);
  const View<OrderedNormal> normals = workspace.take<OrderedNormal>(context, job.grid.size);
  for_each(context, job.grid.size, OrderNormal{job.grid, job.normals, normals.data});
  const View<local_frame::KeypointAxes> axes =
      workspace.take<local_frame::KeypointAxes>(context, job.count);
  const Vec3f* frames = job.given_frames;
  if (frames) {
    count_alone(context, job, axes.data);
  } else {
    Vec3f* const to = job.frames ? job.frames : workspace.take<Vec3f>(context, 3 * job.count).data;
    compute_frames(context, job, to, axes.data, workspace);
    frames = to;
  }
  const auto describe_all = job.lab ? (job.exact ? launch<true, true> : launch<true, false>)
                                    : (job.exact ? launch<false, true> : launch<false, false>);
  describe_all(context, job, normals.data, frames, axes.data);
}

}  // namespace sextant::detail::shot

namespace sextant::detail {
SEXTANT_FOR_EACH_ON_CUDA(shot::GatherKeypoint)
SEXTANT_FOR_EACH_ON_CUDA(shot::LabOfColor<shot::ComputedTables>)
}  // namespace sextant::detail
