// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/cloud_pairs.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"
#include "sextant/descriptor/cloud_pairs/math.h"

namespace sextant {

using namespace detail::cloud_pairs;

Buffer<PointPair> find_cloud_pairs(const Context& context, View<const Vec3f> points,
                                   View<const Vec3f> normals, float resolution_m,
                                   const PairsOptions& options) {
  check_options(options);
  require_on(context, points, "points");
  const float most_m = options.most_resolutions * resolution_m;
  // Without a radius nothing is found, whatever the cells.
  const NeighbourGrid grid = build_neighbour_grid(context, points,
                                                  most_m > 0.0f && most_m < 1e18f
                                                      ? NeighbourGridOptions::for_radius(most_m)
                                                      : NeighbourGridOptions{});
  const detail::pairs::Lookers lookers = detail::pairs::lookers_of(points.size, options);
  Buffer<PointPair> pairs(context, lookers.samples * kPartnersPerPoint);
  Buffer<std::int32_t> count(context, 1);
  PairsWorkspace workspace;
  find_cloud_pairs_into(context, grid, points, normals, resolution_m, options, pairs, count,
                        workspace);
  const std::int64_t found = to_host(context, count)[0];
  return copy(context, pairs.view().subview(0, found));
}

void find_cloud_pairs_into(const Context& context, const NeighbourGrid& grid,
                           View<const Vec3f> points, View<const Vec3f> normals, float resolution_m,
                           const PairsOptions& options, View<PointPair> pairs,
                           View<std::int32_t> count, PairsWorkspace& workspace) {
  check_options(options);
  require_on(context, points, "points");
  require_on(context, normals, "normals");
  require_on(context, pairs, "pairs");
  require_on(context, count, "count");
  require(count.size == 1, "count: room for ", count.size, " elements instead of 1");
  require(normals.size == points.size, "normals: ", normals.size, " for ", points.size, " points");
  require(grid.view().frame != nullptr, "grid: is empty; use build_neighbour_grid");
  require(grid.device() == context.device(), "grid: lies on ", to_string(grid.device()),
          " but the context runs on ", to_string(context.device()));
  require(grid.size() == points.size, "grid: of ", grid.size(), " points instead of ", points.size);
  require(points.size <= INT32_MAX / kPartnersPerPoint, "points: ", points.size, " are too many");
  const detail::pairs::Lookers lookers = detail::pairs::lookers_of(points.size, options);
  detail::pairs::make_pair_room(context, lookers, workspace);
  const detail::pairs::PairLimits limits = detail::pairs::limits_of(options);
  const CloudPartners search{grid.view(),
                             points.data,
                             normals.data,
                             options.most_resolutions * resolution_m,
                             detail::pairs::PairTest(limits, resolution_m),
                             lookers,
                             workspace.partners.data()};
  if (context.is_cpu()) {
    constexpr std::int64_t kGrain = 128;
    for_each_chunk(context, lookers.samples, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) search(i);
    });
  } else if constexpr (kBuiltWithCuda) {
    find_cloud_partners_cuda(context, search);
  }
  detail::pairs::list_pairs(context, lookers, workspace, pairs, count);
}

}  // namespace sextant
