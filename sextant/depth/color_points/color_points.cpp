// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/color_points.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each/pixels.h"
#include "sextant/depth/color_points/math.h"

namespace sextant {

using namespace detail::color_points;

namespace {

void check_arguments(const Context& context, const View<const Vec3f>& points,
                     const ImageView<const Rgb8>& image, const View<Rgb8>& colors) {
  require_on(context, points, "points");
  require_on(context, image, "image");
  require_on(context, colors, "colors");
  require(colors.size == points.size, "colors: room for ", colors.size, ", but there are ",
          points.size, " points");
}

/// Throws unless the rotation is one, within the rounding of a calibration file.
void check_rigid(const Rigid3d& motion) {
  constexpr double kTolerance = 1e-3;
  const Mat3d identity = motion.rotation * transpose(motion.rotation);
  double error = 0;
  for (int i = 0; i < 3; ++i) {
    error = max_of(error, norm(identity.row[i] - Mat3d::identity().row[i]));
  }
  require(error < kTolerance && determinant(motion.rotation) > 0 && is_finite(motion.translation),
          "color_from_points: is not a rigid motion");
}

}  // namespace

void color_points_into(const Context& context, View<const Vec3f> points,
                       ImageView<const Rgb8> registered, View<Rgb8> colors) {
  check_arguments(context, points, registered, colors);
  require(registered.pixels() == points.size, "registered: ", registered.width, " x ",
          registered.height, " px for ", points.size,
          " points; an image of another camera needs its ColorCamera");
  const RegisteredColor color{points, registered, colors};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return color_points_cuda(context, color);
  }
  detail::for_each_pixel(context, registered.width, registered.height, color);
}

void color_points_into(const Context& context, View<const Vec3f> points,
                       ImageView<const Rgb8> image, const ColorCamera& camera, View<Rgb8> colors) {
  check_arguments(context, points, image, colors);
  check_camera(camera.camera);
  check_rigid(camera.color_from_points);
  require(image.width == camera.camera.width && image.height == camera.camera.height,
          "image: ", image.width, " x ", image.height, " px, but its camera has ",
          camera.camera.width, " x ", camera.camera.height);
  const ProjectedColor color{points, image, cast<float>(camera.camera),
                             cast<float>(camera.color_from_points), colors};
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return color_points_cuda(context, color);
  }
  for_each(context, points.size, color);
}

Buffer<Rgb8> color_points(const Context& context, View<const Vec3f> points,
                          ImageView<const Rgb8> registered) {
  Buffer<Rgb8> colors(context, points.size);
  color_points_into(context, points, registered, colors);
  return colors;
}

Buffer<Rgb8> color_points(const Context& context, View<const Vec3f> points,
                          ImageView<const Rgb8> image, const ColorCamera& camera) {
  Buffer<Rgb8> colors(context, points.size);
  color_points_into(context, points, image, camera, colors);
  return colors;
}

}  // namespace sextant
