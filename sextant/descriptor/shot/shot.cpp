// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/shot.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"
#include "sextant/descriptor/shot/color_math.h"
#include "sextant/descriptor/shot/job.h"
#include "sextant/geometry/neighbours/queries.h"

namespace sextant {

using namespace detail::shot;

namespace {

/// The tables of shot_color_math.h, filled once.
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

Buffer<Vec3f> to_lab(const Context& context, View<const Rgb8> colors) {
  Buffer<Vec3f> lab(context, colors.size);
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      colors_to_lab_cuda(context, colors, lab);
      return lab;
    }
  }
  static const KeptTables tables;
  for_each(context, colors.size,
           LabOfColor<TableReader>{colors.data, TableReader{&tables}, lab.data()});
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
  require_on(context, surface.normals, "surface.normals");
  const std::int64_t count = surface.points.size;
  require(surface.normals.size == count, "surface.normals: ", surface.normals.size, " normals for ",
          count, " points");
  if (!has_color(options)) return;
  require_on(context, surface.colors, "surface.colors");
  require(surface.colors.size == count, "surface.colors: ", surface.colors.size, " colours for ",
          count, " points; without colours describe the shape alone");
}

void check_result(const Context& context, const ShotResult& result, std::int64_t keypoints,
                  int length) {
  require_on(context, result.values, "values");
  require_on(context, result.status, "status");
  require(result.values.size == keypoints * length, "values: room for ", result.values.size,
          " numbers instead of ", keypoints, " x ", length);
  require(result.status.size == keypoints, "status: room for ", result.status.size, " instead of ",
          keypoints);
  if (result.frames.empty()) return;
  require_on(context, result.frames, "frames");
  require(result.frames.size == 3 * keypoints, "frames: room for ", result.frames.size,
          " axes instead of 3 x ", keypoints);
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

void run(const Context& context, const ShotJob& job) {
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return compute_shot_cuda(context, job);
  }
  compute_shot_cpu(context, job);
}

/// Half the radius: fewer candidates lie in vain around a keypoint's sphere.
NeighbourGrid grid_for(const Context& context, const ShotSurface& surface,
                       const ShotOptions& options) {
  check_surface(context, surface, options);
  const float radius_m = max_of(options.radius_m, frame_radius(options));
  return build_neighbour_grid(context, surface.points,
                              NeighbourGridOptions::for_radius(0.5f * radius_m));
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

void count_by_status(const Context& context, ShotDescriptors& result) {
  for (const ShotStatus status : to_host(context, result.status)) {
    ShotCounts& counts = result.counts;
    switch (status) {
      case ShotStatus::kDescribed:
        ++counts.described;
        break;
      case ShotStatus::kNotFinite:
        ++counts.not_finite;
        break;
      case ShotStatus::kNoFrame:
        ++counts.no_frame;
        break;
      case ShotStatus::kTooFew:
        ++counts.too_few;
        break;
      case ShotStatus::kNoVote:
        ++counts.no_vote;
        break;
    }
  }
}

}  // namespace

int shot_length(const ShotOptions& options) {
  return kShotVolumes *
         ((has_shape(options) ? shape_bins(options) : 0) + (has_color(options) ? kColorBins : 0));
}

void compute_shot_into(const Context& context, const NeighbourGrid& grid,
                       const ShotSurface& surface, const ShotKeypoints& keypoints,
                       const ShotOptions& options, const ShotResult& result) {
  check_surface(context, surface, options);
  detail::neighbours::check_grid(context, grid, surface.points.size);
  const std::int64_t count = keypoints.points.size;
  check_result(context, result, count, shot_length(options));
  ShotJob job = job_for(grid, surface, options, result);
  Workspace workspace;
  job.queries =
      detail::neighbours::ordered_queries(context, grid.view(), keypoints.points, workspace).data;
  job.count = count;
  if (!keypoints.frames.empty()) {
    require_on(context, keypoints.frames, "keypoints.frames");
    require(keypoints.frames.size == 3 * count, "keypoints.frames: ", keypoints.frames.size,
            " axes instead of 3 x ", count);
    job.given_frames = keypoints.frames.data;
  }
  Buffer<Vec3f> lab, keypoint_lab;
  if (has_color(options)) {
    require_on(context, keypoints.colors, "keypoints.colors");
    require(keypoints.colors.size == count, "keypoints.colors: ", keypoints.colors.size,
            " colours for ", count, " keypoints");
    lab = to_lab(context, surface.colors);
    keypoint_lab = to_lab(context, keypoints.colors);
    job.lab = lab.data();
    job.keypoint_lab = keypoint_lab.data();
  }
  run(context, job);
}

void compute_shot_into(const Context& context, const NeighbourGrid& grid,
                       const ShotSurface& surface, const ShotOptions& options,
                       const ShotResult& result) {
  check_surface(context, surface, options);
  detail::neighbours::check_grid(context, grid, surface.points.size);
  check_result(context, result, grid.size(), shot_length(options));
  ShotJob job = job_for(grid, surface, options, result);
  job.queries = job.grid.points;
  job.count = grid.size();
  Buffer<Vec3f> lab;
  if (has_color(options)) {
    lab = to_lab(context, surface.colors);
    job.lab = lab.data();
    job.keypoint_lab = lab.data();
  }
  run(context, job);
}

ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             const ShotKeypoints& keypoints, const ShotOptions& options) {
  const NeighbourGrid grid = grid_for(context, surface, options);
  ShotDescriptors result = room_for(context, keypoints.points.size, options);
  compute_shot_into(context, grid, surface, keypoints, options,
                    {result.values, result.frames, result.status});
  count_by_status(context, result);
  return result;
}

ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             View<const std::int32_t> keypoints, const ShotOptions& options) {
  check_surface(context, surface, options);
  require_on(context, keypoints, "keypoints");
  const bool color = has_color(options);
  Buffer<Vec3f> points(context, keypoints.size);
  Buffer<Rgb8> colors(context, color ? keypoints.size : 0);
  const GatherKeypoint gather{surface.points.data, color ? surface.colors.data : nullptr,
                              surface.points.size, keypoints.data,
                              points.data(),       colors.data()};
  bool gathered = false;
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      gather_keypoints_cuda(context, keypoints.size, gather);
      gathered = true;
    }
  }
  if (!gathered) for_each(context, keypoints.size, gather);
  return compute_shot(context, surface, ShotKeypoints{points, colors, {}}, options);
}

ShotDescriptors compute_shot(const Context& context, const ShotSurface& surface,
                             const ShotOptions& options) {
  const NeighbourGrid grid = grid_for(context, surface, options);
  ShotDescriptors result = room_for(context, surface.points.size, options);
  compute_shot_into(context, grid, surface, options, {result.values, result.frames, result.status});
  count_by_status(context, result);
  return result;
}

}  // namespace sextant
