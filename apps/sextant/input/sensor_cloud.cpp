// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/sensor_cloud.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/command/command.h"
#include "sextant/geometry/file_normals.h"
#include "sextant/geometry/no_returns.h"
#include "sextant/io/depth_file.h"

namespace sextant::app {

namespace {

Vec3d position_of(const Rigid3d& points_from_camera) { return points_from_camera.translation; }
Vec3d forward_of(const Rigid3d& points_from_camera) {
  return points_from_camera.rotation.column(2);
}

bool in_camera_axes(const Surface& surface) {
  const Rigid3d& pose = surface.points_from_camera;
  return norm(pose.translation) == 0 && rotation_angle(pose.rotation) == 0;
}

nlohmann::json numbers(const Vec3d& v) { return {v.x, v.y, v.z}; }

/// No depth camera sees what lies so near or far: the file is in another unit than metres.
void doubt_unit(const std::string& file, const Surface& surface) {
  const Vec3f sensor = cast<float>(position_of(surface.points_from_camera));
  const Vec3f forward = cast<float>(forward_of(surface.points_from_camera));
  Image<float> depth_m(Context::cpu(), surface.width, surface.height);
  const auto points = surface.points.host();
  std::transform(points.begin(), points.end(), depth_m.pixels().host().begin(),
                 [&](const Vec3f& p) { return dot(forward, p - sensor); });
  if (believable_depth(depth_m)) return;
  note(
      fmt::format("{}: its median depth is {:.4g} m, which is not between {} and {} m; if the file "
                  "is in millimetres, pass --unit-m 0.001",
                  file, median_depth_m(depth_m), kNearestMedian_m, kFarthestMedian_m));
}

/// Makes the normals of a file what all operations expect, and doubts their signs where points have
/// no triangles that tell them.
void prepare_normals(const std::string& file, Surface& surface) {
  const UnitNormals made = make_unit_normals(surface);
  if (made.dropped) {
    note(file + ": its normals have no directions and are left out");
    return;
  }
  if (made.zero > 0) {
    note(fmt::format("{}: {} of its normals have no direction and are left out", file, made.zero));
  }
  if (surface.triangles.empty() && share_of_opposite_normals(surface) > kMostOppositeNormals) {
    note(
        file +
        ": its normals point to either side at random, so signs of curvatures and descriptors mean "
        "nothing; 'sextant normals' makes some that agree");
  }
}

}  // namespace

void prepare_cloud(const std::string& file, Surface& surface) {
  prepare_normals(file, surface);
  if (surface.triangles.empty()) {
    const std::int64_t cleared = clear_no_returns(surface);
    if (cleared > 0) {
      note(
          fmt::format("{}: {} points that lie in one place with {} and more others are taken as "
                      "no return of the sensor",
                      file, cleared, kMostCopies));
    }
  }
  if (!surface.organised()) return;
  look_at_rows(Context::cpu(), surface);
  if (*surface.camera_rows) doubt_unit(file, surface);
  if (!*surface.camera_rows) {
    note(file + ": its rows are not those of a camera, so its points are taken in any order");
  } else if (!in_camera_axes(surface)) {
    const Vec3d at = position_of(surface.points_from_camera);
    const Vec3d along = forward_of(surface.points_from_camera);
    note(
        fmt::format("{}: its rows are those of a camera at ({:.3f}, {:.3f}, {:.3f}) m that looks "
                    "along ({:.3f}, {:.3f}, {:.3f}), which is taken as the sensor",
                    file, at.x, at.y, at.z, along.x, along.y, along.z));
  }
}

nlohmann::json rows_to_json(const Surface& surface) {
  if (!surface.organised() || !surface.camera_rows) return nullptr;
  if (!*surface.camera_rows) return {{"of_camera", false}};
  return {{"of_camera", true},
          {"camera_position_m", numbers(position_of(surface.points_from_camera))},
          {"camera_forward", numbers(forward_of(surface.points_from_camera))}};
}

}  // namespace sextant::app
