// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/pairs.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"
#include "sextant/core/scan.h"
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

void make_pair_room(const Context& context, const Lookers& lookers, PairsWorkspace& workspace) {
  make_room(context, lookers.samples * kPartnersPerPoint, workspace.partners);
  make_room(context, lookers.samples + 1, workspace.first);
}

PatchBounds* make_patch_room(const Context& context, ImageView<const Vec3f> points,
                             PairsWorkspace& workspace) {
  const std::int64_t patches = PairPatchGrid(points.width, points.height).size();
  make_room(context, patches * static_cast<std::int64_t>(sizeof(PatchBounds)), workspace.patches);
  return reinterpret_cast<PatchBounds*>(workspace.patches.data());
}

void list_pairs(const Context& context, const Lookers& lookers, PairsWorkspace& workspace,
                View<PointPair> pairs, View<std::int32_t> count) {
  const PairList list{
      lookers,   workspace.partners.data(), workspace.first.data(), pairs.data, count.data,
      pairs.size};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return list_pairs_cuda(context, list);
  }
  const View<std::int32_t> first = workspace.first.view().subview(0, lookers.samples + 1);
  for_each(context, first.size, [&](std::int64_t row) { list.count_row(row); });
  exclusive_scan<std::int32_t>(context, first, first);
  for_each(context, first.size, [&](std::int64_t row) { list.write_row(row); });
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

}  // namespace

Buffer<PointPair> find_pairs(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, float resolution_m,
                             const PairsOptions& options) {
  SurfaceStatistics statistics;
  statistics.resolution_m = resolution_m;
  const Buffer<SurfaceStatistics> on_device =
      copy(context, std::vector<SurfaceStatistics>{statistics});
  const Lookers lookers = lookers_of(points.pixels(), options);
  Buffer<PointPair> pairs(context, lookers.samples * kPartnersPerPoint);
  Buffer<std::int32_t> count(context, 1);
  PairsWorkspace workspace;
  find_pairs_into(context, points, normals, on_device, options, pairs, count, workspace);
  const std::int64_t found = to_host(context, count)[0];
  return copy(context, pairs.view().subview(0, found));
}

void find_pairs_into(const Context& context, ImageView<const Vec3f> points,
                     ImageView<const Vec3f> normals, View<const SurfaceStatistics> statistics,
                     const PairsOptions& options, View<PointPair> pairs, View<std::int32_t> count,
                     PairsWorkspace& workspace) {
  check_options(options);
  require_on(context, points, "points");
  require_on(context, normals, "normals");
  require_on(context, statistics, "statistics");
  require_on(context, pairs, "pairs");
  require_on(context, count, "count");
  require(statistics.size == 1, "statistics: ", statistics.size, " elements instead of 1");
  require(count.size == 1, "count: room for ", count.size, " elements instead of 1");
  require(normals.width == points.width && normals.height == points.height,
          "normals: ", normals.width, " x ", normals.height, " for ", points.width, " x ",
          points.height, " points");
  require(points.pixels() <= INT32_MAX / kPartnersPerPoint, "points: ", points.width, " x ",
          points.height, " are too many");
  const Lookers lookers = lookers_of(points.pixels(), options);
  make_pair_room(context, lookers, workspace);
  PairsJob job{points,
               normals,
               statistics.data,
               limits_of(options),
               options.window_px,
               lookers,
               workspace.partners.data()};
  const bool dense = lookers.samples == lookers.points;
  if (context.is_cpu()) {
    if (dense) {
      find_partners_dense(context, job);
    } else {
      find_partners_sampled(context, job);
    }
  } else if constexpr (kBuiltWithCuda) {
    if (dense) job.patches = make_patch_room(context, points, workspace);
    find_partners_cuda(context, job);
  }
  list_pairs(context, lookers, workspace, pairs, count);
}

Buffer<PointPair> select_pairs(const Context& context, View<const PointPair> pairs,
                               std::int64_t amount, std::uint64_t seed) {
  require(amount >= 0, "amount: ", amount, " is negative");
  require(pairs.size <= INT32_MAX, "pairs: ", pairs.size, " are too many");
  const Buffer<std::int32_t> count =
      copy(context, std::vector<std::int32_t>{static_cast<std::int32_t>(pairs.size)});
  Buffer<PointPair> selected(context, min_of(amount, pairs.size));
  Buffer<std::int32_t> selected_count(context, 1);
  select_pairs_into(context, pairs, count, seed, selected, selected_count);
  return selected;
}

void select_pairs_into(const Context& context, View<const PointPair> pairs,
                       View<const std::int32_t> count, std::uint64_t seed, View<PointPair> selected,
                       View<std::int32_t> selected_count) {
  require_on(context, pairs, "pairs");
  require_on(context, count, "count");
  require_on(context, selected, "selected");
  require_on(context, selected_count, "selected_count");
  require(count.size == 1, "count: ", count.size, " elements instead of 1");
  require(selected_count.size == 1, "selected_count: room for ", selected_count.size,
          " elements instead of 1");
  require(selected.size < INT32_MAX, "selected: room for ", selected.size, " is too much");
  const SelectPair select{pairs, count.data, seed, selected, selected_count.data};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return select_pairs_cuda(context, select);
  }
  for_each(context, selected.size + 1, select);
}

}  // namespace sextant
