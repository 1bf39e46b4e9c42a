// SPDX-License-Identifier: Apache-2.0
#include "sextant/render/rasterize.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/render/rasterize/job.h"
#include "sextant/render/rasterize/math.h"

namespace sextant {

using namespace detail::rasterize;

namespace {

void check_size(int width, int height, int views) {
  require(width >= 0 && height >= 0 && views >= 0, "render: ", views, " views of ", width, " x ",
          height, " px; sizes must not be negative");
  require(width <= kMaxImageSidePx && height <= kMaxImageSidePx, "render: ", width, " x ", height,
          " px is more than ", kMaxImageSidePx,
          " px on a side; render the picture in parts, each with its principal point shifted");
}

void check_render_options(const RenderOptions& options) {
  check_options(options);
  require(options.far_m > options.near_m, "far_m: ", options.far_m,
          " is not above near_m = ", options.near_m);
}

void check_undistorted(const Camera& camera, std::size_t number) {
  check_camera(camera);
  require(
      camera.distortion.is_zero(), "cameras[", number,
      "]: has lens distortion (k1 = ", camera.distortion.k1,
      "); straight edges must stay straight: render with the distortion set to zero and compare "
      "with an undistorted image");
}

/// Returns the number of triangles of all instances.
std::int64_t check_instances(const RenderScene& scene, std::span<const Instance> instances,
                             int views) {
  std::int64_t primitives = 0;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const Instance& instance = instances[i];
    require(instance.mesh >= 0 && instance.mesh < scene.mesh_count(), "instances[", i, "]: mesh ",
            instance.mesh, " of ", scene.mesh_count());
    require(instance.view >= 0 && instance.view < views, "instances[", i, "]: view ", instance.view,
            " of ", views);
    primitives += scene.triangle_counts()[static_cast<std::size_t>(instance.mesh)];
  }
  check_primitives(primitives);
  return primitives;
}

/// A buffer of exactly the size that is asked for, or none.
template <class T>
T* fit(const Context& context, bool wanted, std::int64_t size, Buffer<T>& buffer) {
  if (!wanted) {
    buffer = {};
    return nullptr;
  }
  if (buffer.size() != size || buffer.device() != context.device()) {
    buffer = Buffer<T>(context, size);
  }
  return buffer.data();
}

Vec3f towards_light(const RenderOptions& options) {
  const double right = options.light_right_rad;
  const double up = options.light_up_rad;
  return {static_cast<float>(std::sin(right) * std::cos(up)), static_cast<float>(-std::sin(up)),
          static_cast<float>(-std::cos(right) * std::cos(up))};
}

/// The arguments have been checked; `primitive_bound` is at least the number of triangles.
void render_checked(const Context& context, const RenderScene& scene, View<const Camera> cameras,
                    View<const Instance> instances, std::int64_t primitive_bound,
                    const RenderOptions& options, Rendering& out, Workspace& workspace) {
  RasterJob job;
  job.scene = scene.view();
  job.cameras = cameras.data;
  job.camera_count = cameras.size;
  job.instances = instances.data;
  job.instance_count = instances.size;
  job.width = out.width;
  job.height = out.height;
  job.views = out.views;
  job.near_m = options.near_m;
  job.far_m = options.far_m;
  job.cull_back_faces = options.cull_back_faces;
  job.ambient = options.ambient;
  job.towards_light = towards_light(options);
  job.depth_m = fit(context, options.depth, out.pixels(), out.depth_m);
  job.normals = fit(context, options.normals, out.pixels(), out.normals);
  job.colors = fit(context, options.colors, out.pixels(), out.colors);
  job.object_ids = fit(context, options.object_ids, out.pixels(), out.object_ids);
  const bool anything = job.depth_m != nullptr || job.needs_primitives();
  if (out.pixels() == 0 || !anything) return;
  detail::on_device(
      context, [&] { rasterize_cuda(context, job, primitive_bound, workspace); },
      [&] { rasterize_cpu(context, job, workspace); });
}

void check_scene(const Context& context, const RenderScene& scene) {
  require(scene.mesh_count() == 0 || scene.device() == context.device(), "scene: lies on ",
          to_string(scene.device()), " but the context runs on ", to_string(context.device()),
          "; make it with that context");
}

Rendering render_views(const Context& context, const RenderScene& scene,
                       std::span<const Camera> cameras, int views,
                       std::span<const Instance> instances, const RenderOptions& options) {
  check_render_options(options);
  check_scene(context, scene);
  for (std::size_t i = 0; i < cameras.size(); ++i) check_undistorted(cameras[i], i);
  for (std::size_t i = 1; i < cameras.size(); ++i) {
    require(cameras[i].width == cameras[0].width && cameras[i].height == cameras[0].height,
            "cameras[", i, "]: image size ", cameras[i].width, " x ", cameras[i].height,
            " px differs from that of the first, ", cameras[0].width, " x ", cameras[0].height,
            " px; all views of a batch have one size");
  }
  Rendering out;
  out.width = cameras.empty() ? 0 : cameras[0].width;
  out.height = cameras.empty() ? 0 : cameras[0].height;
  out.views = views;
  check_size(out.width, out.height, out.views);
  const std::int64_t primitives = check_instances(scene, instances, views);

  const Buffer<Camera> local_cameras = copy(context, view_of(cameras));
  const Buffer<Instance> local_instances = copy(context, view_of(instances));
  Workspace workspace;
  render_checked(context, scene, local_cameras, local_instances, primitives, options, out,
                 workspace);
  return out;
}

}  // namespace

Rendering render(const Context& context, const RenderScene& scene, const Camera& camera,
                 std::span<const Instance> instances, const RenderOptions& options) {
  int views = 1;
  for (const Instance& instance : instances) {
    require(instance.view < INT32_MAX, "instances: view ", instance.view, " is out of range");
    views = std::max(views, instance.view + 1);
  }
  return render_views(context, scene, {&camera, 1}, views, instances, options);
}

Rendering render(const Context& context, const RenderScene& scene, std::span<const Camera> cameras,
                 std::span<const Instance> instances, const RenderOptions& options) {
  require(cameras.size() <= INT32_MAX, "cameras: ", cameras.size(), " are too many");
  return render_views(context, scene, cameras, static_cast<int>(cameras.size()), instances,
                      options);
}

void render_into(const Context& context, const RenderScene& scene, View<const Camera> cameras,
                 View<const Instance> instances, const RenderOptions& options, Rendering& out,
                 Workspace& workspace) {
  check_render_options(options);
  check_scene(context, scene);
  check_size(out.width, out.height, out.views);
  require(cameras.size == 1 || cameras.size == out.views, "cameras: ", cameras.size,
          " given; there must be one, or one for each of the ", out.views, " views");
  if (!cameras.empty()) require_on(context, cameras, "cameras");
  if (!instances.empty()) require_on(context, instances, "instances");
  std::int64_t bound = 0;
  if (context.is_cuda()) {
    // The instances cannot be looked at without waiting for them; the host counts when it has them.
    const auto counts = scene.triangle_counts();
    const std::int64_t largest =
        counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    require(instances.size <= kMaxPrimitives, "instances: ", instances.size,
            " are too many; split the batch");
    bound = largest * instances.size;
    check_primitives(bound);
  }
  render_checked(context, scene, cameras, instances, bound, options, out, workspace);
}

Rendering to_host(const Context& context, const Rendering& rendering) {
  return {rendering.width,
          rendering.height,
          rendering.views,
          to_host_buffer(context, rendering.depth_m),
          to_host_buffer(context, rendering.normals),
          to_host_buffer(context, rendering.colors),
          to_host_buffer(context, rendering.object_ids)};
}

}  // namespace sextant
