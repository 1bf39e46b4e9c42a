// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/shot.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/descriptor/scale/scale.h"
#include "sextant/descriptor/shot/color_math.h"
#include "sextant/descriptor/shot/job.h"
#include "sextant/geometry/neighbours/queries.h"

namespace sextant {

using namespace detail::shot;

namespace {

/// The tables of color_math.h, filled once.
struct KeptTables {
  float linear_of[kSrgbSteps];
  float root_of[kRootSteps];
  KeptTables() {
    for (int i = 0; i < kSrgbSteps; ++i) linear_of[i] = linear_of_srgb(i);
    for (int i = 0; i < kRootSteps; ++i) root_of[i] = cube_root_of(i);
  }
};

struct TableReader {
  const KeptTables* tables;
  float linear(int level) const { return tables->linear_of[level]; }
  float root(int step) const { return tables->root_of[step]; }
};

/// The colours as SHOT compares them, in the workspace.
View<Vec3f> to_lab(const Context& context, View<const Rgb8> colors, Workspace& workspace) {
  static const KeptTables tables;
  const View<Vec3f> lab = workspace.take<Vec3f>(context, colors.size);
  detail::on_device(
      context,
      [&] {
        detail::for_each_on_cuda(context, colors.size,
                                 LabOfColor<ComputedTables>{colors.data, {}, lab.data});
      },
      [&] {
        for_each(context, colors.size,
                 LabOfColor<TableReader>{colors.data, TableReader{&tables}, lab.data});
      });
  return lab;
}

bool has_shape(const ShotOptions& options) { return options.content != ShotContent::kColor; }
bool has_color(const ShotOptions& options) { return options.content != ShotContent::kShape; }
int shape_bins(const ShotOptions& options) { return options.bins == ShotBins::kPaper ? 10 : 11; }
float frame_radius(const ShotOptions& options) {
  return options.frame_radius_m > 0.0f ? options.frame_radius_m : options.radius_m;
}

void check_surface(const Context& context, const ShotSurface& surface, const ShotOptions& options) {
  check_options(options);
  require_on(context, surface.points, "surface.points");
  require_room(context, surface.normals, surface.points.size, "surface.normals");
  if (!has_color(options)) return;
  require_room(context, surface.colors, surface.points.size, "surface.colors",
               "; without colours describe the shape alone");
}

void check_keypoints(const Context& context, const ShotKeypoints& keypoints,
                     const ShotOptions& options) {
  require_on(context, keypoints.points, "keypoints.points");
  const std::int64_t count = keypoints.points.size;
  if (!keypoints.frames.empty()) {
    require_room(context, keypoints.frames, 3 * count, "keypoints.frames");
  }
  if (has_color(options)) require_room(context, keypoints.colors, count, "keypoints.colors");
}

void check_into(const Context& context, const NeighbourGrid& grid, const ShotSurface& surface,
                std::int64_t keypoints, const ShotOptions& options, const ShotResult& result) {
  check_surface(context, surface, options);
  detail::scale::require_resolved(options.radius_m, "radius_m");
  detail::neighbours::check_grid(context, grid, surface.points.size);
  require_room(context, result.values, keypoints * shot_length(options), "values");
  require_room(context, result.status, keypoints, "status");
  if (!result.frames.empty()) require_room(context, result.frames, 3 * keypoints, "frames");
}

ShotJob job_for(const NeighbourGrid& grid, const ShotSurface& surface, const ShotOptions& options,
                const ShotResult& result) {
  ShotJob job;
  job.grid = grid.view();
  job.normals = surface.normals.data;
  job.radius_m = options.radius_m;
  job.frame_radius_m = frame_radius(options);
  job.bins = options.bins;
  job.shape = has_shape(options);
  job.exact = options.mode == ShotMode::kExact;
  job.most_neighbours = options.most_neighbours;
  job.sphere = shot_sphere(options.radius_m, options.wrap28, job.exact);
  job.shape_bins = shape_bins(options);
  job.color_base = job.shape ? kShotVolumes * job.shape_bins : 0;
  job.length = shot_length(options);
  job.values = result.values.data;
  job.frames = result.frames.data;
  job.status = result.status.data;
  return job;
}

void run(const Context& context, const ShotJob& job, Workspace& workspace) {
  detail::on_device(
      context, [&] { compute_shot_cuda(context, job, workspace); },
      [&] { compute_shot_cpu(context, job); });
}

/// The options with a radius for the surface.
ShotOptions resolved_for(const Context& context, const ShotSurface& surface,
                         const ShotOptions& options) {
  check_surface(context, surface, options);
  if (options.radius_m > 0.0f) return options;
  return resolved(options, detail::scale::resolution_of(context, surface.points));
}

NeighbourGrid grid_for(const Context& context, const ShotSurface& surface,
                       const ShotOptions& options) {
  const float radius_m = max_of(options.radius_m, frame_radius(options));
  return build_neighbour_grid(context, surface.points, detail::scale::cells_for_sphere(radius_m));
}

ShotDescriptors room_for(const Context& context, std::int64_t keypoints,
                         const ShotOptions& options) {
  ShotDescriptors result;
  result.length = shot_length(options);
  result.values = Buffer<float>(context, keypoints * result.length);
  result.frames = Buffer<Vec3f>(context, 3 * keypoints);
  result.status = Buffer<ShotStatus>(context, keypoints);
  return result;
}

}  // namespace

ShotOptions resolved(const ShotOptions& options, float resolution_m) {
  return detail::scale::with_radius(options, resolution_m);
}

ShotCounts counts_of(View<const ShotStatus> status) {
  require_on(Context::cpu(1), status, "status");
  ShotCounts counts;
  for (const ShotStatus one : status) {
    counts.described += one == ShotStatus::kDescribed;
    counts.not_finite += one == ShotStatus::kNotFinite;
    counts.no_frame += one == ShotStatus::kNoFrame;
    counts.too_few += one == ShotStatus::kTooFew;
    counts.no_vote += one == ShotStatus::kNoVote;
  }
  return counts;
}

int shot_length(const ShotOptions& options) {
  return kShotVolumes *
         ((has_shape(options) ? shape_bins(options) : 0) + (has_color(options) ? kColorBins : 0));
}

void compute_shot_into(const Context& context, const NeighbourGrid& grid,
                       const ShotSurface& surface, const ShotKeypoints& keypoints,
                       const ShotOptions& options, const ShotResult& result, Workspace& workspace) {
  check_into(context, grid, surface, keypoints.points.size, options, result);
  check_keypoints(context, keypoints, options);
  const Workspace::Scope scope(workspace);
  ShotJob job = job_for(grid, surface, options, result);
  job.queries =
      detail::neighbours::ordered_queries(context, grid.view(), keypoints.points, workspace).data;
  job.count = keypoints.points.size;
  if (!keypoints.frames.empty()) job.given_frames = keypoints.frames.data;
  if (has_color(options)) {
    job.lab = to_lab(context, surface.colors, workspace).data;
    job.keypoint_lab = to_lab(context, keypoints.colors, workspace).data;
  }
  run(context, job, workspace);
}

void compute_shot_into(const Context& context, const NeighbourGrid& grid,
                       const ShotSurface& surface, const ShotOptions& options,
                       const ShotResult& result, Workspace& workspace) {
  check_into(context, grid, surface, grid.size(), options, result);
  const Workspace::Scope scope(workspace);
  ShotJob job = job_for(grid, surface, options, result);
  job.queries = job.grid.points;
  job.count = grid.size();
  if (has_color(options)) {
    job.lab = to_lab(context, surface.colors, workspace).data;
    job.keypoint_lab = job.lab;
  }
  run(context, job, workspace);
}

ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             const ShotKeypoints& keypoints, const ShotOptions& options) {
  const ShotOptions given = resolved_for(context, surface, options);
  const NeighbourGrid grid = grid_for(context, surface, given);
  ShotDescriptors result = room_for(context, keypoints.points.size, given);
  Workspace workspace;
  compute_shot_into(context, grid, surface, keypoints, given,
                    {result.values, result.frames, result.status}, workspace);
  result.counts = counts_of(to_host_buffer(context, result.status));
  return result;
}

ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             View<const std::int32_t> keypoints, const ShotOptions& options) {
  check_surface(context, surface, options);
  require_on(context, keypoints, "keypoints");
  const bool color = has_color(options);
  Buffer<Vec3f> points(context, keypoints.size);
  Buffer<Rgb8> colors(context, color ? keypoints.size : 0);
  detail::for_each_anywhere(
      context, keypoints.size,
      GatherKeypoint{surface.points.data, color ? surface.colors.data : nullptr,
                     surface.points.size, keypoints.data, points.data(), colors.data()});
  return compute_shot(context, surface, ShotKeypoints{points, colors, {}}, options);
}

ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             const ShotOptions& options) {
  const ShotOptions given = resolved_for(context, surface, options);
  const NeighbourGrid grid = grid_for(context, surface, given);
  ShotDescriptors result = room_for(context, surface.points.size, given);
  Workspace workspace;
  compute_shot_into(context, grid, surface, given, {result.values, result.frames, result.status},
                    workspace);
  result.counts = counts_of(to_host_buffer(context, result.status));
  return result;
}

}  // namespace sextant
