// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/keypoints.h"

#include "sextant/core/build_config.h"
#include "sextant/descriptor/keypoints/math.h"
#include "sextant/descriptor/local_frame/lanes.h"
#include "sextant/geometry/neighbours/queries.h"

namespace sextant {

using namespace detail::keypoints;

namespace {

using detail::local_frame::kFour;

/// Compiled once, outside the loops over lanes.
__attribute__((noinline)) double saliency_cpu(const Sym3d& scatter, std::int64_t neighbours,
                                              const IssLimits& limits) {
  return saliency_of(scatter, neighbours, limits);
}

/// The saliencies of the grid's points begin .. end - 1, as IssSaliency finds them one by one.
struct SaliencyOfRange {
  NeighbourGridView grid;
  IssLimits limits;
  double* saliency;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    using detail::neighbours::CandidateTile;
    CandidateTile held;
    detail::neighbours::FloatColumns rows;
    std::int64_t at = begin;
    auto gathered = [&](const CandidateTile& tile) {
      rows.reserve(detail::neighbours::kPayload, tile.count());
    };
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float radius_sq) {
      const std::int64_t count = detail::neighbours::select_within<Set>(
          detail::local_frame::columns_of(tile, nullptr, 0), query.position, radius_sq, rows);
      saliency[at++] = saliency_cpu(scatter<Set>(rows, count), count, limits);
    };
    auto none = [&](const GridPoint&) { saliency[at++] = 0.0; };
    detail::neighbours::search_cells_within(grid, grid.points, begin, end, limits.salient_radius_m,
                                            held, gathered, found, none);
  }

 private:
  template <class Set>
  static Sym3d scatter(const detail::neighbours::FloatColumns& rows, std::int64_t count) {
    using Four = detail::local_frame::FourDoubles<Set>;
    Four xx, xy, xz, yy, yz, zz;
    for (std::int64_t i = 0; i < count; i += kFour) {
      const Four x = detail::local_frame::load_four<Set>(rows.column(detail::neighbours::kDx) + i);
      const Four y = detail::local_frame::load_four<Set>(rows.column(detail::neighbours::kDy) + i);
      const Four z = detail::local_frame::load_four<Set>(rows.column(detail::neighbours::kDz) + i);
      xx += x * x;
      xy += x * y;
      xz += x * z;
      yy += y * y;
      yz += y * z;
      zz += z * z;
    }
    return {xx.sum(), xy.sum(), xz.sum(), yy.sum(), yz.sum(), zz.sum()};
  }
};

void check_outputs(const Context& context, std::int64_t points, View<std::int32_t> indices,
                   View<std::int64_t> count) {
  require_on(context, indices, "indices");
  require_on(context, count, "count");
  require(indices.size == points, "indices: room for ", indices.size, " instead of ", points);
  require(count.size == 1, "count: room for ", count.size, " numbers instead of 1");
}

/// The filled part of the indices, in memory of its own size.
Buffer<std::int32_t> filled(const Context& context, const Buffer<std::int32_t>& indices,
                            const Buffer<std::int64_t>& count) {
  const std::int64_t size = to_host(context, count)[0];
  return copy(context, indices.view().subview(0, size));
}

}  // namespace

void uniform_keypoints_into(const Context& context, View<const Vec3f> points,
                            const UniformKeypointOptions& options, View<std::int32_t> indices,
                            View<std::int64_t> count) {
  check_options(options);
  require_on(context, points, "points");
  require(points.size <= INT32_MAX, "points: ", points.size, " are too many");
  check_outputs(context, points.size, indices, count);
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return uniform_keypoints_cuda(context, points, options.leaf_m, indices, count);
    }
  }
  choose_uniform(context, points, options.leaf_m, indices, count);
}

Buffer<std::int32_t> uniform_keypoints(const Context& context, View<const Vec3f> points,
                                       const UniformKeypointOptions& options) {
  check_options(options);
  const Bounds box = bounds(context, points);
  const VoxelGrid grid = voxel_grid(options.leaf_m);
  if (!box.empty()) {
    const Vec3f extent = box.high - box.low;
    const float longest = max_of(max_of(extent.x, extent.y), extent.z);
    require(longest * grid.inverse < kMostVoxels - 1.0f, "leaf_m: ", options.leaf_m,
            " makes more than ", kMostVoxels, " voxels along ", longest,
            " m; take a larger one or leave out far points");
  }
  Buffer<std::int32_t> indices(context, points.size);
  Buffer<std::int64_t> count(context, 1);
  uniform_keypoints_into(context, points, options, indices, count);
  return filled(context, indices, count);
}

void iss_keypoints_into(const Context& context, const NeighbourGrid& grid,
                        const IssOptions& options, View<std::int32_t> indices,
                        View<std::int64_t> count) {
  check_options(options);
  detail::neighbours::check_grid(context, grid);
  check_outputs(context, grid.size(), indices, count);
  const IssLimits limits{options.salient_radius_m, options.non_max_radius_m,
                         static_cast<double>(options.most_ratio_21),
                         static_cast<double>(options.most_ratio_32), options.least_neighbours};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return iss_keypoints_cuda(context, grid.view(), limits, indices, count);
    }
  }
  Buffer<double> saliency(context, grid.size());
  const SaliencyOfRange range{grid.view(), limits, saliency.data()};
  for_each_chunk(
      context, grid.size(), detail::local_frame::kKeypointGrain,
      [&](std::int64_t begin, std::int64_t end) { detail::run_widest(range, begin, end); });
  choose_most_salient(context, grid.view(), limits, saliency.data(), indices, count);
}

Buffer<std::int32_t> iss_keypoints(const Context& context, View<const Vec3f> points,
                                   const IssOptions& options) {
  check_options(options);
  const NeighbourGrid grid = build_neighbour_grid(
      context, points, NeighbourGridOptions::for_radius(0.5f * options.salient_radius_m));
  Buffer<std::int32_t> indices(context, points.size);
  Buffer<std::int64_t> count(context, 1);
  iss_keypoints_into(context, grid, options, indices, count);
  return filled(context, indices, count);
}

}  // namespace sextant
