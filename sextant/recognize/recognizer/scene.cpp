// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/scene.h"

#include <algorithm>
#include <cstring>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/reduce/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/depth/deproject.h"
#include "sextant/recognize/recognizer/scene_math.h"
#include "sextant/surface/normals.h"

namespace sextant::detail::recognizer {

namespace {

// What sensors err by; a frame of nothing but clutter, or a rendered one, tells something else.
constexpr float kLeastGrain_px = 2, kMostGrain_px = 16, kMostReach_px = 32;
constexpr float kLeastNoise_per_m = 3e-4f, kMostNoise_per_m = 5e-3f;

float median_of(ImageView<const float> depth_m) {
  std::vector<float> values;
  for (int v = 0; v < depth_m.height; v += 4) {
    for (int u = 0; u < depth_m.width; u += 4) {
      if (is_depth(depth_m(u, v))) values.push_back(depth_m(u, v));
    }
  }
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

template <class T>
void fit_image(const Context& context, int width, int height, Image<T>& image) {
  if (image.width() == width && image.height() == height && image.device() == context.device()) {
    return;
  }
  image = Image<T>(context, width, height);
}

/// Marks the pixels of the plane that holds most points, where it holds enough of them.
void mark_dominant_plane(const Context& context, SceneFrame& scene, float share,
                         Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t size = scene.points.pixels().size();
  make_room(context, size, scene.on_plane);
  const View<std::int32_t> before = workspace.take<std::int32_t>(context, size + 1);
  const PlaneSearch search{scene.points.pixels().data(),
                           scene.normals.pixels().data(),
                           size,
                           scene.noise,
                           before.data,
                           workspace.take<std::uint32_t>(context, size).data,
                           workspace.take<std::uint32_t>(context, kPlaneJudges).data,
                           workspace.take<std::int32_t>(context, kPlaneTries).data,
                           workspace.take<Plane>(context, 1).data,
                           scene.on_plane.data()};
  for_each_anywhere(context, size + 1, MarkUsable{search});
  exclusive_scan<std::int32_t>(context, before, before, workspace);
  for_each_anywhere(context, size, ListUsable{search});
  for_each_anywhere(context, kPlaneJudges, DrawJudge{search});
  for_each_anywhere(context, kPlaneTries * CountTry::kParts, CountTry{search});
  for_each_anywhere(context, 1, ChoosePlane{search});
  const View<JudgeSum> held = workspace.take<JudgeSum>(context, 1);
  const View<JudgeScatter> scatter = workspace.take<JudgeScatter>(context, 1);
  for (int refit = 0; refit < 3; ++refit) {
    transform_reduce_anywhere(context, kPlaneJudges, SumOfJudge{search}, AddJudges{}, JudgeSum{},
                              held, workspace);
    transform_reduce_anywhere(context, kPlaneJudges, ScatterOfJudge{search, held.data}, AddJudges{},
                              JudgeScatter{}, scatter, workspace);
    for_each_anywhere(context, 1, RefitPlane{search, held.data, scatter.data});
  }
  const View<std::int32_t> all_held = workspace.take<std::int32_t>(context, 1);
  transform_reduce_anywhere(context, size, IsHeld{search}, Add{}, std::int32_t{0}, all_held,
                            workspace);
  for_each_anywhere(context, size, MarkPlane{search, all_held.data, share});
}

/// The noise that the options give, or else the frame's own.
DepthNoise noise_of(const noise::FrameNoise& found, const RecognizeOptions& options) {
  DepthNoise result;
  result.floor_m = options.noise_floor_m;
  for (int k = 0; k < noise::kDepthBins; ++k) {
    result.per_m[k] = options.noise_per_m > 0
                          ? options.noise_per_m
                          : clamp(found.sigma_per_m[k], kLeastNoise_per_m, kMostNoise_per_m);
    const float reach_px = found.density_per_m[k] / max_of(found.sigma_per_m[k], 1e-9f);
    result.grain_px[k] = clamp(reach_px, kLeastGrain_px, kMostGrain_px);
    result.reach_px[k] = clamp(reach_px, kLeastGrain_px, kMostReach_px);
  }
  return result;
}

/// The given map on the context's device.
ImageView<const float> given_there(const Context& context, ImageView<const float> depth_m,
                                   SceneFrame& scene) {
  if (context.is_cpu()) return depth_m;
  if (scene.upload.size() != depth_m.pixels()) {
    scene.upload = Buffer<float>::pinned(context, depth_m.pixels());
  }
  fit_image(context, depth_m.width, depth_m.height, scene.given_m);
  const auto row_size = static_cast<std::size_t>(depth_m.width);
  for (int v = 0; v < depth_m.height; ++v) {
    std::memcpy(scene.upload.data() + static_cast<std::size_t>(v) * row_size, depth_m.row(v),
                row_size * sizeof(float));
  }
  copy_async<float>(context, scene.upload, scene.given_m.pixels());
  return scene.given_m;
}

}  // namespace

SceneFrame prepare_scene(const Context& context, ImageView<const float> depth_m,
                         const Camera& camera, const RecognizeOptions& options) {
  SceneFrame scene;
  Workspace workspace;
  prepare_scene_into(context, depth_m, camera, options, scene, workspace);
  return scene;
}

void prepare_scene_into(const Context& context, ImageView<const float> depth_m,
                        const Camera& camera, const RecognizeOptions& options, SceneFrame& scene,
                        Workspace& workspace) {
  check_camera(camera);
  require(camera.distortion.is_zero(),
          "camera: has lens distortion; undistort the depth map first (sextant depth)");
  require_same_size(Context::cpu(1), depth_m, camera, "depth_m", "camera");
  const Workspace::Scope scope(workspace);
  const ImageView<const float> given_m = given_there(context, depth_m, scene);
  scene.given_width = depth_m.width;
  scene.median_depth_m = median_of(depth_m);
  const double native_m = scene.median_depth_m / camera.fx_px;
  scene.averaged = native_m > 0 ? clamp(static_cast<int>(std::lround(options.pitch_m / native_m)),
                                        1, kMostAveraged)
                                : 1;
  const int side = scene.averaged;
  // A block's centre lies at (side - 1) / 2 of its first pixel.
  const double shift = 0.5 * (side - 1);
  Camera working = camera;
  working.width = depth_m.width / side;
  working.height = depth_m.height / side;
  working.fx_px /= side;
  working.fy_px /= side;
  working.cx_px = (camera.cx_px - shift) / side;
  working.cy_px = (camera.cy_px - shift) / side;
  scene.camera = cast<float>(working);
  fit_image(context, working.width, working.height, scene.depth_m);
  fit_image(context, working.width, working.height, scene.points);
  fit_image(context, working.width, working.height, scene.normals);
  for_each_pixel_anywhere(context, working.width, working.height,
                          AveragePixel{given_m, side, scene.depth_m});
  deproject_into(context, scene.depth_m, working, scene.points.pixels());
  const View<std::int32_t> measured = workspace.take<std::int32_t>(context, 1);
  transform_reduce_anywhere(context, scene.depth_m.pixels().size(),
                            IsMeasured{scene.depth_m.pixels().data()}, Add{}, std::int32_t{0},
                            measured, workspace);
  const noise::FrameNoise* found = noise::estimate_frame_noise(
      context, scene.points, {.sigma_per_m = options.noise_per_m, .grain_px = 1}, workspace);
  const View<FrameFacts> facts = workspace.take<FrameFacts>(context, 1);
  for_each_anywhere(context, 1, GatherFacts{found, measured.data, facts.data});
  const FrameFacts known = to_host(context, facts)[0];
  scene.measured = known.measured;
  scene.noise = noise_of(known.noise, options);
  const double pitch_m = native_m * side;
  NormalsOptions normals;
  normals.radius_px =
      pitch_m > 0 ? clamp(static_cast<int>(std::lround(options.normal_radius_m / pitch_m)), 2, 10)
                  : 3;
  scene.normal_radius_px = normals.radius_px;
  normals.depth_gate_m =
      std::max(2 * options.normal_radius_m, 6 * scene.noise.sigma_m(scene.median_depth_m));
  normals.relative_depth_gate = 0;
  estimate_normals_into(context, scene.points, normals, scene.normals);
  mark_dominant_plane(context, scene, options.plane_share, workspace);
}

int proposing_step(const SceneFrame& scene, float leaf_m) {
  const float pitch_m = scene.median_depth_m / scene.camera.fx_px;
  return clamp(static_cast<int>(leaf_m / (4 * std::max(pitch_m, 1e-9f))), 1, 8);
}

PointSamples sample_scene(const Context& context, const SceneFrame& scene,
                          ImageView<const std::uint8_t> mask, float leaf_m, float diameter_m) {
  const ProposingPixels pixels{scene.view(), scene.on_plane.data(), mask, scene.averaged};
  const int step = proposing_step(scene, leaf_m);
  std::vector<Vec3f> p, n;
  for (int v = 0; v < scene.camera.height; v += step) {
    for (int u = 0; u < scene.camera.width; u += step) {
      if (!pixels.has(u, v, diameter_m)) continue;
      p.push_back(scene.points(u, v));
      n.push_back(scene.normals(u, v));
    }
  }
  return sample_points(context, view_of(p), view_of(n), {.leaf_m = leaf_m});
}

}  // namespace sextant::detail::recognizer
