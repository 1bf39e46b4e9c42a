// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/warp.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each.h"
#include "sextant/match/descriptors.h"
#include "sextant/match/photo_matches/on_device.h"

namespace sextant::detail::photo_matches {

namespace {

/// Rows that are looked at in each object: with twins, two of them may be of one point.
constexpr int kNearRows = 2, kNearTwins = 4;
constexpr int kWarps = 8;  ///< of a block that looks at whole objects

/// The pairs of an object follow those of the object before.
struct MakePair {
  const std::int32_t* indices;
  const float* distances_sq;
  int k;
  const std::int32_t* twins;
  std::int64_t count;
  std::int32_t first;
  Pair* pairs;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int32_t* rows = indices + i * k;
    const float* near_sq = distances_sq + i * k;
    const bool exists = rows[0] >= 0;
    pairs[i] = {first + static_cast<std::int32_t>(i % count), rows[0],
                exists ? static_cast<std::int32_t>(near_sq[0]) : 0,
                to_beat_of_object(rows, near_sq, k, twins)};
  }
};

/// A warp looks at all rows of an object where a list did not hold a second point.
__global__ void __launch_bounds__(kWarps* kWarp)
    second_point_kernel(const DeviceJob job, std::int64_t count, Pair* pairs, std::int64_t size) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kWarps + static_cast<int>(threadIdx.x) / kWarp;
  if (i >= size || pairs[i].to_beat_sq != kUnknown) return;
  const std::int64_t object = i / count;
  const std::int32_t begin = object == 0 ? 0 : job.ends[object - 1], end = job.ends[object];
  const std::int32_t twin = job.twins[pairs[i].row];
  const std::uint8_t* const query = job.queries.data + std::int64_t{pairs[i].query} * kSiftLength;
  std::int32_t least = INT32_MAX;
  for (std::int32_t row = begin + lane_index(); row < end; row += kWarp) {
    if (job.twins[row] == twin) continue;
    const std::uint8_t* const other = job.base.data + std::int64_t{row} * kSiftLength;
    std::int32_t sum = 0;
    for (int b = 0; b < kSiftLength; ++b) {
      const std::int32_t difference = std::int32_t{query[b]} - other[b];
      sum += difference * difference;
    }
    least = sum < least ? sum : least;
  }
  least = warp_min(least);
  if (lane_index() == 0) pairs[i].to_beat_sq = least < INT32_MAX ? least : -1;
}

}  // namespace

void pair_each_object_cuda(const Context& context, const DeviceJob& job, std::int64_t first,
                           std::int64_t count, const View<Pair>& pairs, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const bool any_twins = !job.twin_rows.empty();
  const int k = any_twins ? kNearTwins : kNearRows;
  const std::int64_t size = count * job.ends.size;
  const View<std::int32_t> indices = workspace.take<std::int32_t>(context, size * k);
  const View<float> distances_sq = workspace.take<float>(context, size * k);
  nearest_descriptors_into(
      context,
      DescriptorRows<std::uint8_t>{job.queries.subview(first * kSiftLength, count * kSiftLength),
                                   kSiftLength},
      DescriptorRows<std::uint8_t>{job.base, kSiftLength}, job.ends, {k}, indices, distances_sq,
      workspace);
  for_each(context, size,
           MakePair{indices.data, distances_sq.data, k, job.twins.data, count,
                    static_cast<std::int32_t>(first), pairs.data});
  // Without twins a list that is full holds two points.
  if (!any_twins) return;
  second_point_kernel<<<static_cast<unsigned>((size + kWarps - 1) / kWarps), kWarps * kWarp, 0,
                        cuda_stream(context)>>>(job, count, pairs.data, size);
  check_launch("second_point_kernel");
}

}  // namespace sextant::detail::photo_matches
