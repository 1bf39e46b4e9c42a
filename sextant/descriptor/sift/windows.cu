// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "sextant/descriptor/sift/lanes.h"
#include "sextant/descriptor/sift/steps.cuh"

namespace sextant::detail::sift {

namespace {

constexpr int kAngleWarps = 4;  ///< of a block; each looks at an extremum
static_assert(kLanes == kWarp);

__device__ GreyPlane plane_of(const Pyramid& pyramid, const PlacedExtremum& extremum) {
  const PyramidOctave& octave = pyramid.octave[extremum.octave];
  return {octave.row(extremum.at.layer, 0), octave.stride, octave.width_px, octave.height_px};
}

struct AngleMemory {
  float votes[kVoteNumbers * kLanes];
  float ring[kAngleBins], smooth[kAngleBins];
};

__device__ float warp_max(float value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
  }
  return value;
}

/// Calls f(bin) for the bins of a lane: one, or two.
template <class Function>
__device__ void for_bins(const Function& f) {
  for (int bin = lane_index(); bin < kAngleBins; bin += kWarp) f(bin);
}

/// Writes the directions of the maxima in ascending order; returns how many there are. The first
/// bin's may lie before it, at the end of the turn, and comes last then.
__device__ int write_peaks(const float* smooth, float share, float* turns) {
  static_assert(kAngleBins > kWarp && kAngleBins <= 2 * kWarp);
  float highest = 0;
  for_bins([&](int bin) { highest = fmaxf(highest, smooth[bin]); });
  const float least = share * warp_max(highest);
  float near = 0, far = 0;
  const int second = lane_index() + kWarp;
  const bool is_near = is_peak(smooth, lane_index(), least, near);
  const bool is_far = second < kAngleBins && is_peak(smooth, second, least, far);
  const unsigned nears = __ballot_sync(kAllLanes, is_near);
  const unsigned fars = __ballot_sync(kAllLanes, is_far);
  const bool wraps = __shfl_sync(kAllLanes, static_cast<int>(is_near && near > 0.5f), 0) != 0;
  const int count = __popc(nears) + __popc(fars);
  const int before = wraps ? -1 : 0;
  if (is_near) {
    const bool last = wraps && lane_index() == 0;
    turns[last ? count - 1 : __popc(nears & lanes_before()) + before] = near;
  }
  if (is_far) turns[__popc(nears) + __popc(fars & lanes_before()) + before] = far;
  return count;
}

/// A warp looks at an extremum; those behind the last have no direction.
__global__ void __launch_bounds__(kAngleWarps* kWarp)
    direction_kernel(const Pyramid pyramid, float share, const std::int32_t* total,
                     const PlacedExtremum* extrema, std::int64_t capacity, std::int32_t* counts,
                     float* turns) {
  __shared__ AngleMemory memory[kAngleWarps];
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t index = std::int64_t{blockIdx.x} * kAngleWarps + warp;
  if (index >= capacity) return;
  if (index >= *total) {
    if (lane_index() == 0) counts[index] = 0;
    return;
  }
  AngleMemory& own = memory[warp];
  const PlacedExtremum extremum = extrema[index];
  const Extremum& at = extremum.at;
  vote_for_angles(plane_of(pyramid, extremum), {at.u, at.v, at.sigma, at.column, at.row},
                  lane_index(), own.votes);
  __syncwarp();
  for_bins([&](int bin) { own.ring[bin] = vote_of(own.votes, bin); });
  __syncwarp();
  for_bins([&](int bin) { own.smooth[bin] = smooth_vote(own.ring, bin); });
  __syncwarp();
  const int count = write_peaks(own.smooth, share, turns + index * kMostPeaks);
  if (lane_index() == 0) counts[index] = count;
}

/// Puts the directions of an extremum into the list of all.
struct ListDirections {
  const std::int32_t* total;
  const std::int32_t* first;  ///< directions before those of each extremum, and of all
  const float* turns;
  std::int64_t extrema;
  View<PlacedDirection> directions;
  SiftCounts* counts;

  SEXTANT_HD void operator()(std::int64_t i) const {
    if (i == 0) {
      counts->extrema = *total;
      counts->keypoints = first[extrema];
    }
    const std::int64_t begin = first[i], end = first[i + 1];
    for (std::int64_t k = begin; k < end && k < directions.size; ++k) {
      directions[k] = {static_cast<std::int32_t>(i), turns[i * kMostPeaks + (k - begin)]};
    }
  }
};

/// A key that is smaller for a larger response, and the largest of all where there is no keypoint.
struct RankDirection {
  const SiftCounts* counts;
  const PlacedExtremum* extrema;
  const PlacedDirection* directions;
  std::uint32_t* keys;
  std::uint32_t* values;

  __host__ __device__ void operator()(std::int64_t i) const {
    values[i] = static_cast<std::uint32_t>(i);
    keys[i] = 0xffffffffu;
    if (i >= counts->keypoints) return;
    const float response = extrema[directions[i].extremum].at.response;
#if defined(__CUDA_ARCH__)
    keys[i] = ~__float_as_uint(response);  // bits of numbers that are not negative ascend
#endif
  }
};

/// Marks what came to one of the first places.
struct MarkKept {
  const std::uint32_t* values;
  std::int64_t most;
  std::int32_t* kept;
  SEXTANT_HD void operator()(std::int64_t i) const { kept[values[i]] = i < most; }
};
struct GatherKept {
  const std::int32_t* kept;
  const std::int32_t* place;
  const PlacedDirection* from;
  PlacedDirection* to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (kept[i]) to[place[i]] = from[i];
  }
};

/// How many keypoints are written.
struct Written {
  const SiftCounts* counts;
  std::int32_t most;
  SEXTANT_HD std::int64_t count() const {
    return counts->keypoints < most ? counts->keypoints : most;
  }
};

struct WriteKeypoint {
  Written written;
  bool doubled;
  const PlacedExtremum* extrema;
  const PlacedDirection* directions;
  SiftKeypoint* to;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (i >= written.count()) return;
    const PlacedExtremum& extremum = extrema[directions[i].extremum];
    to[i] = in_photo(doubled, extremum.octave, extremum.at, directions[i].turns);
  }
};

/// A block is a warp: so small, as many fit into a multiprocessor's memory, and each begins with
/// the next keypoint when it is done.
template <class Number>
__global__ void __launch_bounds__(kWarp)
    describe_kernel(const Pyramid pyramid, const Written written, bool root,
                    const PlacedExtremum* extrema, const PlacedDirection* directions, Number* to) {
  __shared__ alignas(16) float cells[kSiftLength * kLanes];
  __shared__ DescriptorWindow::Span spans[kMostWindowRows];
  const std::int64_t index = blockIdx.x;
  if (index >= written.count()) return;
  const PlacedDirection direction = directions[index];
  const PlacedExtremum extremum = extrema[direction.extremum];
  const Extremum& at = extremum.at;
  const DescriptorWindow window(plane_of(pyramid, extremum), at.u, at.v, at.sigma, direction.turns);
  for (int i = lane_index(); i < kSiftLength * kLanes / 4; i += kWarp) {
    reinterpret_cast<float4*>(cells)[i] = float4{0, 0, 0, 0};
  }
  for (int row = lane_index(); row < window.rows(); row += kWarp) spans[row] = window.span(row);
  __syncwarp();
  window.add(spans, lane_index(), cells);
  __syncwarp();
  constexpr int kEach = kSiftLength / kWarp;
  float numbers[kEach];
  float sum_sq = 0;
  SEXTANT_UNROLL
  for (int i = 0; i < kEach; ++i) {
    numbers[i] = sum_of_lanes(cells, kEach * lane_index() + i, lane_index());
    sum_sq += numbers[i] * numbers[i];
  }
  const float most = most_number(warp_sum(sum_sq));
  float clamped_sq = 0, sum = 0;
  SEXTANT_UNROLL
  for (int i = 0; i < kEach; ++i) {
    numbers[i] = numbers[i] < most ? numbers[i] : most;
    clamped_sq += numbers[i] * numbers[i];
    sum += numbers[i];
  }
  clamped_sq = warp_sum(clamped_sq);
  sum = warp_sum(sum);
  const float scale = descriptor_scale(root, clamped_sq, sum);
  Number* const row = to + index * kSiftLength + kEach * lane_index();
  SEXTANT_UNROLL
  for (int i = 0; i < kEach; ++i) {
    const float number = scaled_number(root, numbers[i], scale);
    if constexpr (std::is_same_v<Number, std::uint8_t>) {
      row[i] = descriptor_byte(number);
    } else {
      row[i] = number;
    }
  }
}

template <class Number>
void launch_describe(const Context& context, const SiftJob& job, const Written& written,
                     const View<PlacedExtremum>& extrema, const View<PlacedDirection>& directions,
                     Number* to) {
  // Twelve warps share a multiprocessor if it gives them what memory it has.
  check_cuda(
      cudaFuncSetAttribute(describe_kernel<Number>, cudaFuncAttributePreferredSharedMemoryCarveout,
                           cudaSharedmemCarveoutMaxShared),
      "cudaFuncSetAttribute");
  describe_kernel<<<static_cast<unsigned>(written.most), kWarp, 0, cuda_stream(context)>>>(
      job.pyramid, written, job.options.root, extrema.data, directions.data, to);
  check_launch("describe_kernel");
}

}  // namespace

void find_directions_cuda(const Context& context, const SiftJob& job, const FoundWords& found,
                          const View<PlacedExtremum>& extrema,
                          const View<PlacedDirection>& directions, Workspace& workspace) {
  const std::int64_t capacity = extrema.size;
  const std::int32_t* const total = found.first.data + found.first.size - 1;
  const View<std::int32_t> counts = workspace.take<std::int32_t>(context, capacity);
  const View<std::int32_t> first = workspace.take<std::int32_t>(context, capacity + 1);
  const View<float> turns = workspace.take<float>(context, capacity * kMostPeaks);
  const auto blocks = static_cast<unsigned>((capacity + kAngleWarps - 1) / kAngleWarps);
  direction_kernel<<<blocks, kAngleWarps * kWarp, 0, cuda_stream(context)>>>(
      job.pyramid, static_cast<float>(job.options.orientation_peak), total, extrema.data, capacity,
      counts.data, turns.data);
  check_launch("direction_kernel");
  exclusive_scan<std::int32_t>(context, counts, first, workspace);
  for_each(context, capacity,
           ListDirections{total, first.data, turns.data, capacity, directions, job.counts});
}

View<PlacedDirection> keep_strongest_cuda(const Context& context, const SiftJob& job,
                                          const View<PlacedExtremum>& extrema,
                                          const View<PlacedDirection>& directions,
                                          Workspace& workspace) {
  const std::int64_t size = directions.size;
  if (job.options.most == 0 || job.options.most >= size) return directions;
  const View<std::uint32_t> keys = workspace.take<std::uint32_t>(context, size);
  const View<std::uint32_t> values = workspace.take<std::uint32_t>(context, size);
  const View<std::int32_t> kept = workspace.take<std::int32_t>(context, size);
  const View<std::int32_t> place = workspace.take<std::int32_t>(context, size);
  const View<PlacedDirection> strongest = workspace.take<PlacedDirection>(context, size);
  for_each(context, size,
           RankDirection{job.counts, extrema.data, directions.data, keys.data, values.data});
  sort_pairs(context, keys, values, {}, workspace);
  for_each(context, size, MarkKept{values.data, job.options.most, kept.data});
  exclusive_scan<std::int32_t>(context, kept, place, workspace);
  for_each(context, size, GatherKept{kept.data, place.data, directions.data, strongest.data});
  return strongest;
}

void describe_cuda(const Context& context, const SiftJob& job, const View<PlacedExtremum>& extrema,
                   const View<PlacedDirection>& directions, const FeatureRows& to) {
  const auto size = static_cast<std::int32_t>(directions.size);
  const int most = job.options.most;
  const Written written{job.counts, most > 0 && most < size ? most : size};
  for_each(
      context, written.most,
      WriteKeypoint{written, job.pyramid.doubled, extrema.data, directions.data, to.keypoints});
  if (to.bytes != nullptr) launch_describe(context, job, written, extrema, directions, to.bytes);
  if (to.floats != nullptr) launch_describe(context, job, written, extrema, directions, to.floats);
}

}  // namespace sextant::detail::sift
