// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/view_tensors.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/surface_from_depth.h"
#include "sextant/depth/valid_depth.h"
#include "sextant/descriptor/surface_descriptors.h"
#include "sextant/descriptor/view_tensors/math.h"
#include "sextant/surface/surface_operations.h"

namespace sextant {

namespace {

template <class T>
Image<T> every(const Context& context, ImageView<const T> from, int step) {
  Image<T> kept(context, (from.width + step - 1) / step, (from.height + step - 1) / step);
  detail::for_each_pixel_anywhere(context, kept.width(), kept.height(),
                                  detail::view_tensors::KeepEvery<T>{from, step, kept.view()});
  return kept;
}

/// The median of valid depths, of some 20 000 pixels; 0 where there are none.
float median_depth_m(const Context& context, ImageView<const float> depth_m) {
  const int step = std::max(1, std::min(depth_m.width, depth_m.height) / 120);
  const Image<float> host = to_host(context, every<float>(context, depth_m, step));
  std::vector<float> depths;
  for (int v = 0; v < host.height(); ++v) {
    for (int u = 0; u < host.width(); ++u) {
      if (is_valid_depth(host(u, v))) depths.push_back(host(u, v));
    }
  }
  if (depths.empty()) return 0.0f;
  const auto middle = depths.begin() + static_cast<std::ptrdiff_t>(depths.size() / 2);
  std::nth_element(depths.begin(), middle, depths.end());
  return *middle;
}

int rounded(double value, int low, int high) {
  return static_cast<int>(std::lround(clamp(value, double(low), double(high))));
}

/// The camera whose pixels are every step-th of this one's.
Camera thinned(Camera camera, int step) {
  camera.width = (camera.width + step - 1) / step;
  camera.height = (camera.height + step - 1) / step;
  for (double* length_px : {&camera.fx_px, &camera.fy_px, &camera.cx_px, &camera.cy_px}) {
    *length_px /= step;
  }
  return camera;
}

/// The surface with every step-th of its pixels, with their points and normals.
Surface thinned(const Context& context, const Surface& surface, int step) {
  Image<Vec3f> points = every<Vec3f>(context, surface.point_image(), step);
  Image<Vec3f> normals = every<Vec3f>(context, surface.normal_image(), step);
  Surface kept;
  kept.width = points.width();
  kept.height = points.height();
  kept.points = std::move(points.pixels());
  kept.normals = std::move(normals.pixels());
  kept.camera = thinned(*surface.camera, step);
  kept.camera_rows = surface.camera_rows;
  kept.points_from_camera = surface.points_from_camera;
  return kept;
}

}  // namespace

ViewTensorOptions paper_view_tensors() {
  ViewTensorOptions options;
  options.bin_resolutions = 2.0f;
  options.least_angle_rad = 0.2617994f;
  options.normal_resolutions = 3.0f;
  return options;
}

Surface view_surface(const Context& context, ImageView<const float> depth_m, const Camera& camera,
                     const ViewTensorOptions& options) {
  check_options(options);
  check_camera(camera);
  require(depth_m.width == camera.width && depth_m.height == camera.height,
          "depth_m: ", depth_m.width, " x ", depth_m.height, " pixels, but the camera has ",
          camera.width, " x ", camera.height);
  const double median_m = static_cast<double>(median_depth_m(context, depth_m));
  if (!(median_m > 0)) return surface_from_depth(context, depth_m, camera);
  // How many pixels a resolution takes.
  const double density =
      static_cast<double>(options.resolution_m) * std::sqrt(camera.fx_px * camera.fy_px) / median_m;
  const int filter_px = rounded(static_cast<double>(options.filter_resolutions) * density, 0, 15);
  const int step = rounded(density, 1, std::max(1, std::min(depth_m.width, depth_m.height)));
  Image<float> filtered_m;
  if (filter_px > 0) {
    filtered_m = bilateral_filter(context, depth_m,
                                  {.radius_px = filter_px, .sigma_space_px = 0.9 * filter_px});
    if (step > 1) filtered_m = every<float>(context, filtered_m.view(), step);
  } else {
    filtered_m = every<float>(context, depth_m, step);
  }
  Surface surface = surface_from_depth(context, filtered_m, thinned(camera, step));
  SurfaceNormalsOptions normals;
  normals.organised.radius_px =
      rounded(static_cast<double>(options.normal_resolutions) * density / step, 1, 10);
  estimate_normals(context, surface, normals);
  // Normals are those of all pixels; triangles and pairs may do with fewer.
  const int coarse = rounded(static_cast<double>(options.mesh_resolutions) * density / step, 1,
                             std::max(1, std::min(depth_m.width, depth_m.height) / step));
  if (coarse > 1) surface = thinned(context, surface, coarse);
  triangulate(context, surface);
  return surface;
}

TensorSet view_tensors(const Context& context, const Surface& surface,
                       const ViewTensorOptions& options) {
  check_options(options);
  if (surface.normals.empty() || surface.cells.empty()) {
    return TensorSet(context, 0, TensorOptions{}.bins);
  }
  const PairsOptions pair_options{.least_resolutions = options.least_pair_resolutions,
                                  .most_resolutions = options.most_pair_resolutions,
                                  .least_angle_rad = options.least_angle_rad};
  const Buffer<PointPair> pairs = find_pairs(context, surface.point_image(), surface.normal_image(),
                                             options.resolution_m, pair_options);
  const OrganisedSurface organised{surface.point_image(), surface.normal_image(), surface.cells};
  return compute_tensors(context, organised,
                         select_pairs(context, pairs, options.tensors, options.seed),
                         options.resolution_m, {.bin_resolutions = options.bin_resolutions});
}

TensorSet view_tensors(const Context& context, ImageView<const float> depth_m, const Camera& camera,
                       const ViewTensorOptions& options) {
  return view_tensors(context, view_surface(context, depth_m, camera, options), options);
}

}  // namespace sextant
