// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/descriptor/shot_color_math.h"
#include "sextant/descriptor/shot_job.h"
#include "sextant/descriptor/shot_warp.cuh"

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

__device__ void count_votes(const ShotVotes<float>& votes, std::uint32_t* histogram) {
  for (int v = 0; v < kShotVotes; ++v) {
    // Half of the shares are nothing at all.
    const auto amount = static_cast<std::uint32_t>(votes.amount[v] + 0.5f);
    if (amount != 0) atomicAdd(histogram + static_cast<int>(votes.entry[v]), amount);
  }
}

/// The vote of the neighbour at `place`.
template <bool kColor>
__device__ void vote(const ShotJob& job, const OrderedNormal* normals, std::uint32_t place,
                     const Vec3f& p, const LocalFrame& frame, const Vec3f& keypoint_lab,
                     float scale, std::uint32_t* histogram) {
  const OrderedNormal known = normals[place];
  const GridPoint q = job.grid.points[place];
  const float distance_sq = squared_distance(q.position, p);
  const float distance = std::sqrt(distance_sq);
  if (known.votes == 0.0f || distance < kLeastShotDistance) return;
  const Vec3f offset = q.position - p;
  const Vec3f local{frame_dot(offset, frame.x), frame_dot(offset, frame.y),
                    frame_dot(offset, frame.z)};
  const ShotPlace<float> place_in_sphere = shot_place(local, distance, 1.0f / distance, job.sphere);
  if (job.shape) {
    const ShotBin<float> bin = shape_bin(frame_dot(known.normal, frame.z), job.bins);
    count_votes(votes_of(place_in_sphere, bin, static_cast<float>(job.shape_bins), 0.0f, scale),
                histogram);
  }
  if constexpr (kColor) {
    const ShotBin<float> bin = color_bin(job.lab[q.index], keypoint_lab, job.bins);
    count_votes(votes_of(place_in_sphere, bin, static_cast<float>(kColorBins),
                         static_cast<float>(job.color_base), scale),
                histogram);
  }
}

__device__ void refuse(const ShotJob& job, std::int64_t index, ShotStatus status,
                       const LocalFrame& frame) {
  const int lane = lane_index();
  float* const row = job.values + index * job.length;
  for (int i = lane; i < job.length; i += kWarp) row[i] = NAN;
  if (lane != 0) return;
  job.status[index] = status;
  if (job.frames) store_frame(frame, job.frames + 3 * index);
}

/// Scales the counts to length 1; false when nobody voted.
__device__ bool write_row(const ShotJob& job, std::int64_t index, const std::uint32_t* histogram) {
  const int lane = lane_index();
  double squares = 0;
  for (int i = lane; i < job.length; i += kWarp) {
    const double count = histogram[i];
    squares += count * count;
  }
  squares = warp_sum(squares);
  if (!(squares > 0.0)) return false;
  const float inverse = static_cast<float>(1.0 / std::sqrt(squares));
  float* const row = job.values + index * job.length;
  for (int i = lane; i < job.length; i += kWarp) {
    row[i] = static_cast<float>(histogram[i]) * inverse;
  }
  return true;
}

template <bool kColor>
__global__ void __launch_bounds__(kWarp* kWarpsPerBlock)
    describe(const ShotJob job, const OrderedNormal* normals) {
  extern __shared__ std::uint32_t shared[];
  const int lane = lane_index();
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  std::uint32_t* const list = shared + warp * (kListRoom + job.length);
  std::uint32_t* const histogram = list + kListRoom;
  const std::int64_t query = std::int64_t{blockIdx.x} * kWarpsPerBlock + warp;
  if (query >= job.count) return;
  const GridPoint keypoint = job.queries[query];
  const Vec3f p = keypoint.position;
  const std::int64_t index = keypoint.index;
  if (!is_finite(p)) return refuse(job, index, ShotStatus::kNotFinite, {});

  WarpNeighbourhood neighbours(job.grid, list);
  LocalFrame frame;
  if (job.given_frames) {
    const Vec3f* const given = job.given_frames + 3 * index;
    if (is_frame(given)) frame = {given[0], given[1], given[2]};
    neighbours.find(p, job.radius_m);
  } else {
    neighbours.find(p, job.frame_radius_m);
    frame = warp_frame(neighbours, job.grid, p, job.frame_radius_m);
    if (job.frame_radius_m != job.radius_m) {
      neighbours.find(p, job.radius_m);
    }
  }
  if (!is_finite(frame.x)) return refuse(job, index, ShotStatus::kNoFrame, {});
  if (neighbours.within() == 0) return refuse(job, index, ShotStatus::kTooFew, {});
  if (neighbours.within() < kLeastShotNeighbours) {
    return refuse(job, index, ShotStatus::kTooFew, frame);
  }

  for (int i = lane; i < job.length; i += kWarp) histogram[i] = 0;
  neighbours.thin_out(
      static_cast<int>(voters_among(neighbours.within(), job.exact, job.most_neighbours)));
  __syncwarp();
  const float scale = vote_scale(neighbours.count());
  const Vec3f keypoint_lab = kColor ? job.keypoint_lab[index] : Vec3f{};
  neighbours.visit([&](std::uint32_t place) {
    vote<kColor>(job, normals, place, p, frame, keypoint_lab, scale, histogram);
  });
  __syncwarp();
  if (!write_row(job, index, histogram)) return refuse(job, index, ShotStatus::kNoVote, frame);
  if (lane != 0) return;
  job.status[index] = ShotStatus::kDescribed;
  if (job.frames) store_frame(frame, job.frames + 3 * index);
}

template <bool kColor>
void launch(const Context& context, const ShotJob& job, const OrderedNormal* normals) {
  const auto blocks = static_cast<unsigned>((job.count + kWarpsPerBlock - 1) / kWarpsPerBlock);
  const auto bytes =
      static_cast<std::size_t>(kWarpsPerBlock * (kListRoom + job.length)) * sizeof(std::uint32_t);
  static_assert(kWarpsPerBlock * (kListRoom + kShotVolumes * (11 + kColorBins)) * 4 <= 48 * 1024,
                "more shared memory than a kernel gets without asking");
  describe<kColor><<<blocks, kWarp * kWarpsPerBlock, bytes, cuda_stream(context)>>>(job, normals);
  check_launch("describe");
}

}  // namespace

void compute_shot_cuda(const Context& context, const ShotJob& job) {
  if (job.count == 0) return;
  Buffer<OrderedNormal> normals(context, job.grid.size);
  for_each(context, job.grid.size, OrderNormal{job.grid, job.normals, normals.data()});
  if (job.lab) return launch<true>(context, job, normals.data());
  launch<false>(context, job, normals.data());
}

void gather_keypoints_cuda(const Context& context, std::int64_t count,
                           const GatherKeypoint& gather) {
  for_each(context, count, gather);
}

void colors_to_lab_cuda(const Context& context, View<const Rgb8> colors, View<Vec3f> lab) {
  for_each(context, colors.size, LabOfColor<ComputedTables>{colors.data, {}, lab.data});
}

}  // namespace sextant::detail
