// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/resolution.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "sextant/core/context/state.h"
#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/surface/resolution/tile.h"

namespace sextant {

using namespace detail::resolution;

namespace {

/// Counts the links of a tile.
struct CountLinks {
  const StatisticsJob& job;

  template <class Set>
  void operator()(Set, int left, int top, std::uint32_t* counts) const {
    LinkTile<detail::FloatLanes<Set::kFloats, Set>>(job, left, top).count(counts);
  }
};

/// What a tile adds to the statistics. Sixteen lanes for every set, so that sums have the same
/// bits.
struct SumLinks {
  const StatisticsJob& job;

  template <class Set>
  void operator()(Set, int left, int top, float longest_m, StatisticsSums& sums) const {
    sums = LinkTile<detail::FloatLanes<16, Set>>(job, left, top).sum(longest_m);
  }
};

std::int64_t tiles_across(const StatisticsJob& job) {
  return (job.points.width + kLinkTileWidth - 1) / kLinkTileWidth;
}
std::int64_t tiles_down(const StatisticsJob& job) {
  return (job.points.height + kLinkTileHeight - 1) / kLinkTileHeight;
}

/// Calls work(left, top, tile) for every tile of the image, on the context's threads.
template <class Work>
void for_each_tile(const Context& context, const StatisticsJob& job, const Work& work) {
  const std::int64_t across = tiles_across(job);
  for_each_chunk(context, tiles_down(job), 1, [&](std::int64_t row, std::int64_t) {
    for (std::int64_t column = 0; column < across; ++column) {
      work(static_cast<int>(column) * kLinkTileWidth, static_cast<int>(row) * kLinkTileHeight,
           row * across + column);
    }
  });
}

/// The length below which half of the links lie; NaN without links.
float median_link(const Context& context, const StatisticsJob& job) {
  const CountLinks count_links{job};
  std::fill_n(job.histogram, kLinkBins, 0u);
  for_each_tile(context, job, [&](int left, int top, std::int64_t) {
    std::uint32_t counts[kLinkBins] = {};
    detail::run_widest(count_links, left, top, counts);
    for (int bin = 0; bin < kLinkBins; ++bin) {
      if (counts[bin] == 0) continue;
      std::atomic_ref(job.histogram[bin]).fetch_add(counts[bin], std::memory_order_relaxed);
    }
  });
  std::uint64_t all = 0;
  for (int bin = 0; bin < kLinkBins; ++bin) all += job.histogram[bin];
  std::uint64_t below = 0;
  for (int bin = 0; bin < kLinkBins; ++bin) {
    below += job.histogram[bin];
    if (2 * below >= all && below > 0) return link_length_of_bin(bin);
  }
  return NAN;
}

void surface_statistics_cpu(const Context& context, const StatisticsJob& job) {
  float median_m = NAN;
  float longest_m = std::numeric_limits<float>::max();
  if (job.mode == StatisticsMode::kRobust) {
    median_m = median_link(context, job);
    longest_m = kLongestLinkInMedians * median_m;
  }
  const SumLinks sum_links{job};
  for_each_tile(context, job, [&](int left, int top, std::int64_t tile) {
    detail::run_widest(sum_links, left, top, longest_m, job.partial[tile]);
  });
  StatisticsSums sums;
  const std::int64_t tiles = tiles_across(job) * tiles_down(job);
  for (std::int64_t tile = 0; tile < tiles; ++tile) sums = sums + job.partial[tile];
  *job.result = finished_statistics(sums, median_m);
}

}  // namespace

SurfaceStatistics surface_statistics(const Context& context, ImageView<const Vec3f> points,
                                     ImageView<const Vec3f> normals,
                                     const StatisticsOptions& options) {
  Buffer<SurfaceStatistics> result(context, 1);
  Workspace workspace;
  surface_statistics_into(context, points, normals, options, result, workspace);
  return to_host(context, result)[0];
}

void surface_statistics_into(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, const StatisticsOptions& options,
                             View<SurfaceStatistics> result, Workspace& workspace) {
  check_options(options);
  require_on(context, points, "points");
  require_same_size(context, normals, points, "normals", "points");
  require_room(context, result, 1, "result");
  // Indices and the stride of a launch fit 32 bits.
  require(points.pixels() <= INT32_MAX - (1 << 20), "points: ", points.width, " x ", points.height,
          " are too many");
  const Workspace::Scope scope(workspace);
  StatisticsJob job{points, normals, options.mode, nullptr, nullptr, 0, result.data};
  job.blocks = kStatisticsBlocksPerMultiprocessor * detail::multiprocessors(context);
  const std::int64_t parts = context.is_cuda() ? job.blocks : tiles_across(job) * tiles_down(job);
  job.histogram = workspace.take<std::uint32_t>(context, kLinkBins + 1).data;
  job.partial = workspace.take<StatisticsSums>(context, parts).data;
  detail::on_device(
      context, [&] { surface_statistics_cuda(context, job); },
      [&] { surface_statistics_cpu(context, job); });
}

}  // namespace sextant
