// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/pairs.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "sextant/descriptor/pairs/list.h"
#include "sextant/descriptor/pairs/patches_math.h"

namespace sextant {

using namespace detail::pairs;

namespace detail::pairs {

PairLimits limits_of(const PairsOptions& options) {
  return {options.least_resolutions, options.most_resolutions,
          static_cast<float>(std::cos(static_cast<double>(options.least_angle_rad)))};
}

Lookers lookers_of(std::int64_t points, const PairsOptions& options) {
  const bool some = options.samples > 0 && options.samples < points;
  return {points, some ? options.samples : points, options.seed};
}

void check_search(const Context& context, std::int64_t points, View<PointPair> pairs,
                  View<std::int32_t> count) {
  require(points <= INT32_MAX / kPartnersPerPoint, "points: ", points, " are too many");
  require_on(context, pairs, "pairs");
  require_room(context, count, 1, "count");
}

PairList make_list(const Context& context, const Lookers& lookers, View<PointPair> pairs,
                   View<std::int32_t> count, Workspace& workspace) {
  return {lookers,
          workspace.take<std::int32_t>(context, lookers.samples * kPartnersPerPoint).data,
          workspace.take<std::int32_t>(context, lookers.samples + 1).data,
          pairs.data,
          count.data,
          pairs.size};
}

void write_list(const Context& context, const PairList& list, Workspace& workspace) {
  const View<std::int32_t> first{list.first, list.lookers.samples + 1, context.device()};
  for_each_anywhere(context, first.size, CountListed{list});
  exclusive_scan<std::int32_t>(context, first, first, workspace);
  for_each_anywhere(context, first.size, WriteListed{list});
}

Buffer<SurfaceStatistics> statistics_with(const Context& context, float resolution_m) {
  SurfaceStatistics statistics;
  statistics.resolution_m = resolution_m;
  return copy(context, std::vector<SurfaceStatistics>{statistics});
}

}  // namespace detail::pairs

namespace {

void find_partners_sampled(const Context& context, const PairsJob& job) {
  const PairTest test(job.limits, job.statistics->resolution_m);
  constexpr std::int64_t kGrain = 64;
  for_each_chunk(context, job.lookers.samples, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const auto point = static_cast<int>(job.lookers.point_of(row));
      Partners partners(test);
      search_window(job, test, point % job.points.width, point / job.points.width, 0, 1, partners);
      partners.store(job.partners + row * kPartnersPerPoint);
    }
  });
}

bool every_point_looks(const PairsJob& job) { return job.lookers.samples == job.lookers.points; }

void find_partners_cpu(const Context& context, const PairsJob& job) {
  if (every_point_looks(job)) {
    find_partners_dense(context, job);
  } else {
    find_partners_sampled(context, job);
  }
}

}  // namespace

Buffer<PointPair> find_pairs(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, float resolution_m,
                             const PairsOptions& options) {
  const Buffer<SurfaceStatistics> statistics = statistics_with(context, resolution_m);
  return found_pairs(context, points.pixels(), options,
                     [&](View<PointPair> pairs, View<std::int32_t> count, Workspace& workspace) {
                       find_pairs_into(context, points, normals, statistics, options, pairs, count,
                                       workspace);
                     });
}

void find_pairs_into(const Context& context, ImageView<const Vec3f> points,
                     ImageView<const Vec3f> normals, View<const SurfaceStatistics> statistics,
                     const PairsOptions& options, View<PointPair> pairs, View<std::int32_t> count,
                     Workspace& workspace) {
  check_options(options);
  require_on(context, points, "points");
  require_same_size(context, normals, points, "normals", "points");
  require_room(context, statistics, 1, "statistics");
  check_search(context, points.pixels(), pairs, count);
  const Workspace::Scope scope(workspace);
  const Lookers lookers = lookers_of(points.pixels(), options);
  const PairList list = make_list(context, lookers, pairs, count, workspace);
  PairsJob job{points,  normals,      statistics.data, limits_of(options), options.window_px,
               lookers, list.partners};
  detail::on_device(
      context,
      [&] {
        const Workspace::Scope search(workspace);
        if (every_point_looks(job)) {
          const std::int64_t patches = PairPatchGrid(points.width, points.height).size();
          job.patches = workspace.take<PatchBounds>(context, patches).data;
        }
        find_partners_cuda(context, job);
      },
      [&] { find_partners_cpu(context, job); });
  write_list(context, list, workspace);
}

Buffer<PointPair> select_pairs(const Context& context, View<const PointPair> pairs,
                               std::int64_t amount, std::uint64_t seed) {
  require(amount >= 0, "amount: ", amount, " is negative");
  require(pairs.size <= INT32_MAX, "pairs: ", pairs.size, " are too many");
  const Buffer<std::int32_t> count =
      copy(context, std::vector<std::int32_t>{static_cast<std::int32_t>(pairs.size)});
  Buffer<PointPair> selected(context, min_of(amount, pairs.size));
  Buffer<std::int32_t> selected_count(context, 1);
  Workspace workspace;
  select_pairs_into(context, pairs, count, seed, selected, selected_count, workspace);
  return selected;
}

void select_pairs_into(const Context& context, View<const PointPair> pairs,
                       View<const std::int32_t> count, std::uint64_t seed, View<PointPair> selected,
                       View<std::int32_t> selected_count, Workspace& workspace) {
  require_on(context, pairs, "pairs");
  require_room(context, count, 1, "count");
  require_on(context, selected, "selected");
  require_room(context, selected_count, 1, "selected_count");
  require(selected.size < INT32_MAX, "selected: room for ", selected.size, " is too much");
  const Workspace::Scope scope(workspace);
  const View<std::uint64_t> keys = workspace.take<std::uint64_t>(context, pairs.size);
  const View<std::uint32_t> order = workspace.take<std::uint32_t>(context, pairs.size);
  detail::for_each_anywhere(context, pairs.size,
                            KeyPair{pairs, count.data, seed, keys.data, order.data});
  sort_pairs(context, keys, order, {}, workspace);
  detail::for_each_anywhere(context, selected.size + 1,
                            TakePair{pairs, count.data, order.data, selected, selected_count.data});
}

}  // namespace sextant
