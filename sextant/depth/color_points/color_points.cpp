// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/color_points.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/depth/color_points/math.h"

namespace sextant {

using namespace detail::color_points;

namespace {

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
  require_on(context, points, "points");
  require_on(context, registered, "registered");
  require_room(context, colors, points.size, "colors");
  require(registered.pixels() == points.size, "registered: ", registered.width, " x ",
          registered.height, " px for ", points.size,
          " points; an image of another camera needs its ColorCamera");
  detail::for_each_pixel_anywhere(context, registered.width, registered.height,
                                  RegisteredColor{points, registered, colors});
}

void color_points_into(const Context& context, View<const Vec3f> points,
                       ImageView<const Rgb8> image, const ColorCamera& camera, View<Rgb8> colors) {
  require_on(context, points, "points");
  require_room(context, colors, points.size, "colors");
  check_camera(camera.camera);
  check_rigid(camera.color_from_points);
  require_same_size(context, image, camera.camera, "image", "camera");
  const ProjectedColor color{points, image, cast<float>(camera.camera),
                             cast<float>(camera.color_from_points), colors};
  detail::for_each_anywhere(context, points.size, color);
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
