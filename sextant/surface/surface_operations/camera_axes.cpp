// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/surface_operations/camera_axes.h"

#include "sextant/geometry/transform.h"

namespace sextant::detail::surface_operations {

namespace {

bool is_identity(const Rigid3d& pose) {
  const Mat3d one = Mat3d::identity();
  return pose.translation == Vec3d{} && pose.rotation.row[0] == one.row[0] &&
         pose.rotation.row[1] == one.row[1] && pose.rotation.row[2] == one.row[2];
}

}  // namespace

CameraAxes::CameraAxes(const Context& context, const Surface& surface,
                       const Rigid3d& points_from_camera)
    : surface_(surface),
      points_from_camera_(points_from_camera),
      elsewhere_(!is_identity(points_from_camera)) {
  if (!elsewhere_) return;
  const Rigid3d camera_from_points = inverse(points_from_camera);
  points_ = transform_points(context, camera_from_points, surface.points);
  if (surface.normals.empty()) return;
  normals_ = turn_directions(context, camera_from_points.rotation, surface.normals);
}

ImageView<const Vec3f> CameraAxes::points() const {
  if (!elsewhere_) return surface_.point_image();
  return {points_.data(), surface_.width, surface_.height, surface_.width, points_.device()};
}

ImageView<const Vec3f> CameraAxes::normals() const {
  const ImageView<const Vec3f> given = surface_.normal_image();
  if (!elsewhere_) return given;
  return {normals_.data(), given.width, given.height, given.width, normals_.device()};
}

void CameraAxes::turn_back(const Context& context, View<Vec3f> directions) const {
  if (elsewhere_) {
    turn_directions_into(context, points_from_camera_.rotation, directions, directions);
  }
}

void CameraAxes::move_back(const Context& context, View<Vec3f> points) const {
  if (elsewhere_) transform_points_into(context, points_from_camera_, points, points);
}

void CameraAxes::move_back(std::vector<SurfaceRegion>& regions) const {
  if (!elsewhere_) return;
  const Rigid3d& pose = points_from_camera_;
  const auto moved = [&](const Vec3f& p) { return cast<float>(pose * cast<double>(p)); };
  const auto turned = [&](const Vec3f& d) { return cast<float>(pose.rotation * cast<double>(d)); };
  for (SurfaceRegion& region : regions) {
    region.centre_m = moved(region.centre_m);
    region.model_centre_m = moved(region.model_centre_m);
    region.normal = turned(region.normal);
    region.offset_m += static_cast<float>(dot(cast<double>(region.normal), pose.translation));
    region.axis = turned(region.axis);
    const Vec3f size{std::abs(region.axis.x), std::abs(region.axis.y), std::abs(region.axis.z)};
    const float largest = size.x >= size.y && size.x >= size.z ? region.axis.x
                          : size.y >= size.z                   ? region.axis.y
                                                               : region.axis.z;
    if (largest < 0) region.axis = -region.axis;
  }
}

}  // namespace sextant::detail::surface_operations
