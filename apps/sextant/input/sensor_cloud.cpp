// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/input/sensor_cloud.h"

#include <fmt/format.h>

#include "apps/sextant/command/command.h"
#include "sextant/geometry/no_returns.h"

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

}  // namespace

void prepare_cloud(const std::string& file, Surface& surface) {
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
