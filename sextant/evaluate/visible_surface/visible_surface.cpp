// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/visible_surface.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/evaluate/visible_surface/math.h"

namespace sextant {

using namespace detail::visible_surface;

namespace {

RenderOptions depth_only() { return {}; }

std::vector<Instance> instances_of(std::span<const DrawnPose> poses) {
  std::vector<Instance> instances;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    instances.push_back(
        {poses[i].mesh, static_cast<std::int32_t>(i), 0, cast<float>(poses[i].camera_from_object)});
  }
  return instances;
}

/// Draws each pose into a view of its own.
void draw(const Context& context, const RenderScene& scene, const Camera& camera,
          std::span<const DrawnPose> poses, VisibleSurfaceMemory& memory) {
  memory.rendering.width = camera.width;
  memory.rendering.height = camera.height;
  memory.rendering.views = static_cast<int>(poses.size());
  const Buffer<Camera> cameras = copy(context, std::vector<Camera>{camera});
  const Buffer<Instance> instances = copy(context, instances_of(poses));
  render_into(context, scene, cameras, instances, depth_only(), memory.rendering, memory.workspace);
}

void check_inputs(const Context& context, const RenderScene& scene, std::span<const Bounds> bounds,
                  const Camera& camera, ImageView<const float> measured_m,
                  std::span<const DrawnPose> poses) {
  check_camera(camera);
  require(camera.distortion.is_zero(),
          "camera: is distorted; undistort the depth map first, surfaces are drawn by a pinhole");
  require_same_size(context, measured_m, camera, "measured_m", "camera");
  require(bounds.size() == static_cast<std::size_t>(scene.mesh_count()), "bounds: ", bounds.size(),
          " for ", scene.mesh_count(), " meshes");
  for (const DrawnPose& pose : poses) {
    require(pose.mesh >= 0 && pose.mesh < scene.mesh_count(), "poses: mesh ", pose.mesh,
            " is not in 0..", scene.mesh_count() - 1);
  }
}

PixelBox united(const PixelBox& a, const PixelBox& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
          std::max(a.bottom, b.bottom)};
}

/// Where the box lies in pixels, cut to a frame of the image's size beyond each side.
PixelBox wide_box(const Camera& camera, const Bounds& bounds, const Rigid3d& camera_from_object) {
  const double low_u = -camera.width, low_v = -camera.height;
  const double high_u = 2.0 * camera.width, high_v = 2.0 * camera.height;
  double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d p = camera_from_object * Vec3d{(corner & 1) ? bounds.high.x : bounds.low.x,
                                               (corner & 2) ? bounds.high.y : bounds.low.y,
                                               (corner & 4) ? bounds.high.z : bounds.low.z};
    const Vec2d pixel = project(camera, p);
    if (!(std::isfinite(pixel.x) && std::isfinite(pixel.y))) {
      return {-camera.width, -camera.height, 2 * camera.width, 2 * camera.height};
    }
    left = std::min(left, pixel.x);
    top = std::min(top, pixel.y);
    right = std::max(right, pixel.x);
    bottom = std::max(bottom, pixel.y);
  }
  const auto whole = [](double x, double low, double high) {
    return static_cast<std::int32_t>(std::clamp(x, low, high));
  };
  return {whole(std::floor(left) - 1, low_u, high_u), whole(std::floor(top) - 1, low_v, high_v),
          whole(std::ceil(right) + 2, low_u, high_u), whole(std::ceil(bottom) + 2, low_v, high_v)};
}

PixelBox cut(const PixelBox& box, int width, int height) {
  return {std::clamp(box.left, 0, width), std::clamp(box.top, 0, height),
          std::clamp(box.right, 0, width), std::clamp(box.bottom, 0, height)};
}

void compare_on_cpu(const Context& context, const PairJob& job, View<const SurfacePair> pairs,
                    View<SurfaceCounts> counts) {
  for_each_chunk(context, pairs.size, 1, [&](std::int64_t i, std::int64_t) {
    const SurfacePair& pair = pairs[i];
    SurfaceCounts sum;
    for (int v = pair.box.top; v < pair.box.bottom; ++v) {
      for (int u = pair.box.left; u < pair.box.right; ++u) job.add(pair, u, v, sum);
    }
    counts[i] = sum;
  });
}

void measure_on_cpu(const Context& context, const VisibleJob& job, View<const PixelBox> boxes,
                    View<VisibleCounts> counts) {
  for_each_chunk(context, boxes.size, 1, [&](std::int64_t i, std::int64_t) {
    VisibleCounts sum;
    sum.box = sum.visible_box = VisibleJob::nothing();
    for (int v = boxes[i].top; v < boxes[i].bottom; ++v) {
      for (int u = boxes[i].left; u < boxes[i].right; ++u) {
        job.add(static_cast<int>(i), u, v, sum);
      }
    }
    counts[i] = sum;
  });
}

}  // namespace

PixelBox pixel_box(const Camera& camera, const Bounds& bounds, const Rigid3d& camera_from_object) {
  return cut(wide_box(camera, bounds, camera_from_object), camera.width, camera.height);
}

void compare_surfaces_into(const Context& context, ImageView<const float> measured_m,
                           const Camera& camera, const Rendering& drawn,
                           View<const SurfacePair> pairs, const VisibleSurfaceOptions& options,
                           View<SurfaceCounts> counts) {
  check_options(options);
  require_same_size(context, measured_m, drawn, "measured_m", "drawn");
  require_on(context, pairs, "pairs");
  require_room(context, counts, pairs.size, "counts");
  require(drawn.depth_m.size() == drawn.pixels(), "drawn: has no depth");
  if (pairs.size == 0) return;
  const PairJob job{measured_m,  drawn.depth_m.data(), std::int64_t{drawn.width} * drawn.height,
                    drawn.width, rays_of(camera),      options.delta_m};
  detail::on_device(
      context, [&] { compare_on_cuda(context, job, pairs, counts); },
      [&] { compare_on_cpu(context, job, pairs, counts); });
}

std::vector<SurfaceCounts> compare_surfaces(const Context& context, const RenderScene& scene,
                                            std::span<const Bounds> bounds, const Camera& camera,
                                            ImageView<const float> measured_m,
                                            std::span<const DrawnPose> poses,
                                            std::span<const PosePair> pairs,
                                            const VisibleSurfaceOptions& options,
                                            VisibleSurfaceMemory& memory) {
  check_inputs(context, scene, bounds, camera, measured_m, poses);
  if (pairs.empty()) return {};
  draw(context, scene, camera, poses, memory);
  std::vector<SurfacePair> list;
  const int views = static_cast<int>(poses.size());
  const auto box_of = [&](int view) {
    const DrawnPose& pose = poses[static_cast<std::size_t>(view)];
    return pixel_box(camera, bounds[static_cast<std::size_t>(pose.mesh)], pose.camera_from_object);
  };
  for (const PosePair& pair : pairs) {
    require(pair.estimate >= 0 && pair.estimate < views && pair.truth >= 0 && pair.truth < views,
            "pairs: ", pair.estimate, " and ", pair.truth, " are not both in 0..", views - 1);
    require(pair.diameter_m > 0, "pairs: diameter_m ", pair.diameter_m, " is not positive");
    list.push_back({pair.estimate, pair.truth, pair.diameter_m,
                    united(box_of(pair.estimate), box_of(pair.truth))});
  }
  const Buffer<SurfacePair> on_device = copy(context, list);
  Buffer<SurfaceCounts> counts(context, on_device.size());
  compare_surfaces_into(context, measured_m, camera, memory.rendering, on_device, options, counts);
  return to_host(context, counts);
}

std::vector<VisibleCounts> measure_visible(const Context& context, const RenderScene& scene,
                                           std::span<const Bounds> bounds, const Camera& camera,
                                           ImageView<const float> measured_m,
                                           std::span<const DrawnPose> poses,
                                           const VisibleSurfaceOptions& options,
                                           VisibleSurfaceMemory& memory) {
  check_options(options);
  check_inputs(context, scene, bounds, camera, measured_m, poses);
  if (poses.empty()) return {};
  // The frame around the image is only drawn where something reaches into it.
  std::vector<PixelBox> boxes;
  bool leaves = false;
  for (const DrawnPose& pose : poses) {
    boxes.push_back(
        wide_box(camera, bounds[static_cast<std::size_t>(pose.mesh)], pose.camera_from_object));
    const PixelBox& box = boxes.back();
    leaves |= box.left < 0 || box.top < 0 || box.right > camera.width || box.bottom > camera.height;
  }
  Camera wide = camera;
  const int margin_u = leaves ? camera.width : 0;
  const int margin_v = leaves ? camera.height : 0;
  wide.width += 2 * margin_u;
  wide.height += 2 * margin_v;
  wide.cx_px += margin_u;
  wide.cy_px += margin_v;
  for (PixelBox& box : boxes) {
    box =
        cut({box.left + margin_u, box.top + margin_v, box.right + margin_u, box.bottom + margin_v},
            wide.width, wide.height);
  }
  draw(context, scene, wide, poses, memory);
  const Buffer<PixelBox> on_device = copy(context, boxes);
  Buffer<VisibleCounts> counts(context, on_device.size());
  const VisibleJob job{measured_m,
                       memory.rendering.depth_m.data(),
                       std::int64_t{wide.width} * wide.height,
                       wide.width,
                       margin_u,
                       margin_v,
                       rays_of(camera),
                       options.delta_m};
  detail::on_device(
      context, [&] { measure_on_cuda(context, job, on_device, counts); },
      [&] { measure_on_cpu(context, job, on_device, counts); });
  std::vector<VisibleCounts> result = to_host(context, counts);
  for (VisibleCounts& entry : result) {
    if (entry.all_px == 0) entry.box = {};
    if (entry.visible_px == 0) entry.visible_box = {};
  }
  return result;
}

}  // namespace sextant
