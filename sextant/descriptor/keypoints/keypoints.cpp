// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/keypoints.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/parcel.h"
#include "sextant/core/reduce/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/core/sort.h"
#include "sextant/descriptor/keypoints/math.h"
#include "sextant/descriptor/local_frame/lanes.h"
#include "sextant/descriptor/scale/scale.h"
#include "sextant/geometry/cloud/bounds_math.h"
#include "sextant/geometry/gather/list.h"
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

void find_saliencies_cpu(const Context& context, const NeighbourGridView& grid,
                         const IssLimits& limits, double* saliency) {
  const SaliencyOfRange range{grid, limits, saliency};
  for_each_chunk(
      context, grid.size, detail::local_frame::kKeypointGrain,
      [&](std::int64_t begin, std::int64_t end) { detail::run_widest(range, begin, end); });
}

void find_bounds(const Context& context, View<const Vec3f> points, View<Bounds> bounds,
                 Workspace& workspace) {
  detail::transform_reduce_anywhere(context, points.size, detail::cloud::PointBounds{points.data},
                                    detail::cloud::JoinBounds{}, Bounds{}, bounds, workspace);
}

void check_outputs(const Context& context, std::int64_t points, View<std::int32_t> indices,
                   View<std::int32_t> count) {
  require_room(context, indices, points, "indices");
  require_room(context, count, 1, "count");
}

float longest_edge(const Bounds& box) {
  const Vec3f extent = box.high - box.low;
  return max_of(max_of(extent.x, extent.y), extent.z);
}

/// One point in a hundred may lie outside the voxels, and shares one with others at their border.
constexpr std::size_t kPointsToOutside = 100;

/// Where voxels begin when a few points lie so far away that those of the whole box are too many:
/// so that the median lies in their middle.
Bounds box_of_most(const Context& context, View<const Vec3f> points, const Bounds& box,
                   float leaf_m) {
  std::vector<Vec3f> finite = to_host(context, points);
  std::erase_if(finite, [](const Vec3f& p) { return !is_finite(p); });
  const float half_m = 0.5f * kMostVoxels * leaf_m;
  Bounds most = box;
  for (float Vec3f::*axis : {&Vec3f::x, &Vec3f::y, &Vec3f::z}) {
    const auto middle = finite.begin() + static_cast<std::ptrdiff_t>(finite.size() / 2);
    std::nth_element(finite.begin(), middle, finite.end(),
                     [axis](const Vec3f& a, const Vec3f& b) { return a.*axis < b.*axis; });
    most.low.*axis = max_of(box.low.*axis, (*middle).*axis - half_m);
    most.high.*axis = min_of(box.high.*axis, (*middle).*axis + half_m);
  }
  const auto outside = std::count_if(finite.begin(), finite.end(), [&](const Vec3f& p) {
    return p.x < most.low.x || p.y < most.low.y || p.z < most.low.z || p.x > most.high.x ||
           p.y > most.high.y || p.z > most.high.z;
  });
  require(static_cast<std::size_t>(outside) <= finite.size() / kPointsToOutside, "leaf_m: ", leaf_m,
          " makes more than ", kMostVoxels, " voxels along ", longest_edge(box),
          " m; take a larger one");
  return most;
}

/// Sorted by distance and then, without disturbing that order, by voxel: the first point of a voxel
/// is its nearest, and of equal ones the first.
void first_of_voxels(const Context& context, View<const Vec3f> points, float leaf_m,
                     View<const Bounds> bounds, View<std::int32_t> indices,
                     View<std::int32_t> count, Workspace& workspace) {
  const VoxelGrid grid = voxel_grid(leaf_m);
  const View<std::uint32_t> order = workspace.take<std::uint32_t>(context, points.size);
  const View<std::uint64_t> keys = workspace.take<std::uint64_t>(context, points.size);
  const View<std::int32_t> marks = workspace.take<std::int32_t>(context, points.size);
  {
    const Workspace::Scope distances(workspace);
    const View<float> distances_sq = workspace.take<float>(context, points.size);
    detail::for_each_anywhere(context, points.size,
                              DistanceToCentre{points.data, grid, distances_sq.data, order.data});
    sort_pairs<float>(context, distances_sq, order, {}, workspace);
  }
  detail::for_each_anywhere(context, points.size,
                            KeyInOrder{points.data, grid, bounds.data, order.data, keys.data});
  sort_pairs<std::uint64_t>(context, keys, order, {}, workspace);
  detail::for_each_anywhere(context, points.size, MarkFirst{keys.data, order.data, marks.data});
  detail::gather::list_marked(context, marks, indices, count, workspace);
}

}  // namespace

UniformKeypointOptions resolved(const UniformKeypointOptions& options, float resolution_m) {
  UniformKeypointOptions result = options;
  result.leaf_m = detail::scale::resolved_length(options.leaf_m, options.leaf_resolutions,
                                                 resolution_m, "leaf_m");
  return result;
}

IssOptions resolved(const IssOptions& options, float resolution_m) {
  IssOptions result = options;
  result.salient_radius_m = detail::scale::resolved_length(
      options.salient_radius_m, options.salient_resolutions, resolution_m, "salient_radius_m");
  result.non_max_radius_m = detail::scale::resolved_length(
      options.non_max_radius_m, options.non_max_resolutions, resolution_m, "non_max_radius_m");
  return result;
}

void uniform_keypoints_into(const Context& context, View<const Vec3f> points,
                            const UniformKeypointOptions& options, View<std::int32_t> indices,
                            View<std::int32_t> count, Workspace& workspace) {
  check_options(options);
  detail::scale::require_resolved(options.leaf_m, "leaf_m");
  require_on(context, points, "points");
  require(points.size <= INT32_MAX, "points: ", points.size, " are too many");
  check_outputs(context, points.size, indices, count);
  const Workspace::Scope scope(workspace);
  const View<Bounds> bounds = workspace.take<Bounds>(context, 1);
  find_bounds(context, points, bounds, workspace);
  first_of_voxels(context, points, options.leaf_m, bounds, indices, count, workspace);
}

Buffer<std::int32_t> uniform_keypoints(const Context& context, View<const Vec3f> points,
                                       const UniformKeypointOptions& options) {
  check_options(options);
  const UniformKeypointOptions given =
      options.leaf_m > 0.0f ? options
                            : resolved(options, detail::scale::resolution_of(context, points));
  Buffer<std::int32_t> indices(context, points.size);
  Parcel found;
  const auto count = found.add<std::int32_t>(1);
  const auto box = found.add<Bounds>(1);
  found.allocate(context);
  Workspace workspace;
  uniform_keypoints_into(context, points, given, indices, found[count], workspace);
  find_bounds(context, points, found[box], workspace);
  const Parcel on_host = to_host(context, found);
  const Bounds all = on_host[box][0];
  std::int64_t keypoints = on_host[count][0];
  if (!all.empty() && !(longest_edge(all) * voxel_grid(given.leaf_m).inverse < kMostVoxels - 1)) {
    const Buffer<Bounds> most =
        copy(context, std::vector<Bounds>{box_of_most(context, points, all, given.leaf_m)});
    first_of_voxels(context, points, given.leaf_m, most, indices, found[count], workspace);
    keypoints = to_host(context, found[count])[0];
  }
  return copy(context, indices.view().subview(0, keypoints));
}

void iss_keypoints_into(const Context& context, const NeighbourGrid& grid,
                        const IssOptions& options, View<std::int32_t> indices,
                        View<std::int32_t> count, Workspace& workspace) {
  check_options(options);
  detail::scale::require_resolved(options.salient_radius_m, "salient_radius_m");
  detail::scale::require_resolved(options.non_max_radius_m, "non_max_radius_m");
  detail::neighbours::check_grid(context, grid);
  check_outputs(context, grid.size(), indices, count);
  const Workspace::Scope scope(workspace);
  const IssLimits limits{options.salient_radius_m, options.non_max_radius_m,
                         static_cast<double>(options.most_ratio_21),
                         static_cast<double>(options.most_ratio_32), options.least_neighbours};
  const NeighbourGridView view = grid.view();
  const View<double> saliency = workspace.take<double>(context, view.size);
  detail::on_device(
      context,
      [&] {
        detail::for_each_on_cuda(context, view.size, IssSaliency{view, limits, saliency.data});
      },
      [&] { find_saliencies_cpu(context, view, limits, saliency.data); });
  const View<std::int32_t> marks = workspace.take<std::int32_t>(context, view.size);
  detail::for_each_anywhere(context, view.size,
                            MarkMostSalient{view, limits, saliency.data, marks.data});
  detail::gather::list_marked(context, marks, indices, count, workspace);
}

Buffer<std::int32_t> iss_keypoints(const Context& context, View<const Vec3f> points,
                                   const IssOptions& options) {
  check_options(options);
  const bool has_both = options.salient_radius_m > 0.0f && options.non_max_radius_m > 0.0f;
  const IssOptions given =
      has_both ? options : resolved(options, detail::scale::resolution_of(context, points));
  const NeighbourGrid grid = build_neighbour_grid(
      context, points, NeighbourGridOptions::for_radius(0.5f * given.salient_radius_m));
  Buffer<std::int32_t> indices(context, points.size);
  Buffer<std::int32_t> count(context, 1);
  Workspace workspace;
  iss_keypoints_into(context, grid, given, indices, count, workspace);
  return copy(context, indices.view().subview(0, to_host(context, count)[0]));
}

}  // namespace sextant
