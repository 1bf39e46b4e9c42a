// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/cloud_pairs.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/cloud_pairs/math.h"
#include "sextant/descriptor/pairs/list.h"
#include "sextant/geometry/neighbours/queries.h"

namespace sextant {

using namespace detail::cloud_pairs;
using namespace detail::pairs;

namespace {

/// Points look at hundreds of others: few make a chunk.
void find_partners_cpu(const Context& context, const CloudPartners& search) {
  constexpr std::int64_t kGrain = 128;
  for_each_chunk(context, search.lookers.samples, kGrain,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) search(i);
                 });
}

}  // namespace

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
  return found_pairs(context, points.size, options,
                     [&](View<PointPair> pairs, View<std::int32_t> count, Workspace& workspace) {
                       find_cloud_pairs_into(context, grid, points, normals, resolution_m, options,
                                             pairs, count, workspace);
                     });
}

void find_cloud_pairs_into(const Context& context, const NeighbourGrid& grid,
                           View<const Vec3f> points, View<const Vec3f> normals, float resolution_m,
                           const PairsOptions& options, View<PointPair> pairs,
                           View<std::int32_t> count, Workspace& workspace) {
  check_options(options);
  detail::neighbours::check_grid(context, grid, points.size);
  require_on(context, points, "points");
  require_room(context, normals, points.size, "normals");
  check_search(context, points.size, pairs, count);
  const Workspace::Scope scope(workspace);
  const Lookers lookers = lookers_of(points.size, options);
  const PairList list = make_list(context, lookers, pairs, count, workspace);
  const CloudPartners search{grid.view(),
                             points.data,
                             normals.data,
                             options.most_resolutions * resolution_m,
                             PairTest(limits_of(options), resolution_m),
                             lookers,
                             list.partners};
  detail::on_device(
      context, [&] { detail::for_each_on_cuda(context, lookers.samples, search); },
      [&] { find_partners_cpu(context, search); });
  write_list(context, list, workspace);
}

}  // namespace sextant
