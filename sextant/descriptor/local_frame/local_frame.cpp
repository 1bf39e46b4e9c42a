// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/local_frame.h"

#include <algorithm>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/descriptor/local_frame/lanes.h"
#include "sextant/descriptor/scale/scale.h"
#include "sextant/geometry/neighbours/queries.h"

namespace sextant {

using namespace detail::local_frame;

namespace detail::local_frame {

PrincipalAxes principal_axes_cpu(const FrameSums& sums) { return principal_axes(sums); }

bool positive_in_the_middle(const neighbours::CandidateTile& tile, const Vec3f& p, float radius_sq,
                            const Vec3d& axis) {
  struct Neighbour {
    float distance_sq;
    std::int32_t index;
    Vec3f v;
  };
  const neighbours::CandidateColumns from = columns_of(tile, nullptr, 0);
  std::vector<Neighbour> order;
  for (std::int64_t i = 0; i < from.count; ++i) {
    const Vec3f q{from.x[i], from.y[i], from.z[i]};
    const float distance_sq = squared_distance(q, p);
    if (distance_sq < radius_sq && !(q == p))
      order.push_back({distance_sq, tile.indices()[i], q - p});
  }
  const auto nearer = [](const Neighbour& a, const Neighbour& b) {
    return a.distance_sq != b.distance_sq ? a.distance_sq < b.distance_sq : a.index < b.index;
  };
  const auto first = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2) - kTiePoints / 2;
  const auto last = first + kTiePoints;
  std::nth_element(order.begin(), first, order.end(), nearer);
  std::nth_element(first, last - 1, order.end(), nearer);
  int positive = 0;
  for (auto it = first; it != last; ++it) positive += along(it->v, axis) > 0;
  return positive > kTiePoints / 2;
}

}  // namespace detail::local_frame

namespace {

using detail::neighbours::FloatColumns;

/// The frames of queries begin .. end - 1.
struct FramesOfRange {
  LocalFrameJob job;

  template <class Set>
  void operator()(Set, std::int64_t begin, std::int64_t end) const {
    using detail::neighbours::CandidateTile;
    CandidateTile held;
    FloatColumns rows;
    auto gathered = [&](const CandidateTile& tile) {
      rows.reserve(detail::neighbours::kPayload, tile.count());
    };
    auto found = [&](const GridPoint& query, const CandidateTile& tile, float) {
      const std::int64_t count = detail::neighbours::select_within<Set>(
          columns_of(tile, nullptr, 0), query.position, job.radius_m * job.radius_m, rows);
      store_frame(frame_from_rows<Set>(rows, count, tile, query.position, job.radius_m),
                  job.frames + 3 * std::int64_t{query.index});
    };
    auto none = [&](const GridPoint& query) {
      store_frame({}, job.frames + 3 * std::int64_t{query.index});
    };
    detail::neighbours::search_cells_within(job.grid, job.queries, begin, end, job.radius_m, held,
                                            gathered, found, none);
  }
};

void compute_cpu(const Context& context, const LocalFrameJob& job) {
  const FramesOfRange frames{job};
  for_each_chunk(context, job.count, kKeypointGrain, [&](std::int64_t begin, std::int64_t end) {
    detail::run_widest(frames, begin, end);
  });
}

void compute(const Context& context, const LocalFrameJob& job, Workspace& workspace) {
  detail::on_device(
      context, [&] { compute_local_frames_cuda(context, job, workspace); },
      [&] { compute_cpu(context, job); });
}

void check(const Context& context, const NeighbourGrid& grid, const LocalFrameOptions& options,
           std::int64_t keypoints, View<Vec3f> frames) {
  check_options(options);
  detail::scale::require_resolved(options.radius_m, "radius_m");
  detail::neighbours::check_grid(context, grid);
  require_room(context, frames, 3 * keypoints, "frames");
}

/// The options with a radius for the surface.
LocalFrameOptions resolved_for(const Context& context, View<const Vec3f> surface,
                               const LocalFrameOptions& options) {
  check_options(options);
  if (options.radius_m > 0.0f) return options;
  return resolved(options, detail::scale::resolution_of(context, surface));
}

}  // namespace

LocalFrameOptions resolved(const LocalFrameOptions& options, float resolution_m) {
  return detail::scale::with_radius(options, resolution_m);
}

void compute_local_frames_into(const Context& context, const NeighbourGrid& grid,
                               View<const Vec3f> keypoints, const LocalFrameOptions& options,
                               View<Vec3f> frames, Workspace& workspace) {
  check(context, grid, options, keypoints.size, frames);
  const Workspace::Scope scope(workspace);
  const View<GridPoint> ordered =
      detail::neighbours::ordered_queries(context, grid.view(), keypoints, workspace);
  compute(context, {grid.view(), ordered.data, keypoints.size, options.radius_m, frames.data},
          workspace);
}

void compute_local_frames_into(const Context& context, const NeighbourGrid& grid,
                               const LocalFrameOptions& options, View<Vec3f> frames,
                               Workspace& workspace) {
  check(context, grid, options, grid.size(), frames);
  const NeighbourGridView view = grid.view();
  compute(context, {view, view.points, grid.size(), options.radius_m, frames.data}, workspace);
}

Buffer<Vec3f> compute_local_frames(const Context& context, View<const Vec3f> surface,
                                   View<const Vec3f> keypoints, const LocalFrameOptions& options) {
  const LocalFrameOptions given = resolved_for(context, surface, options);
  const NeighbourGrid grid =
      build_neighbour_grid(context, surface, detail::scale::cells_for_sphere(given.radius_m));
  Buffer<Vec3f> frames(context, 3 * keypoints.size);
  Workspace workspace;
  compute_local_frames_into(context, grid, keypoints, given, frames, workspace);
  return frames;
}

Buffer<Vec3f> compute_local_frames(const Context& context, View<const Vec3f> surface,
                                   const LocalFrameOptions& options) {
  const LocalFrameOptions given = resolved_for(context, surface, options);
  const NeighbourGrid grid =
      build_neighbour_grid(context, surface, detail::scale::cells_for_sphere(given.radius_m));
  Buffer<Vec3f> frames(context, 3 * surface.size);
  Workspace workspace;
  compute_local_frames_into(context, grid, given, frames, workspace);
  return frames;
}

}  // namespace sextant
