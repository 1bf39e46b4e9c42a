// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <filesystem>

#include "sextant/geometry/mesh.h"
#include "sextant/io/points/origin.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::mesh {

inline void require_on_host(const std::filesystem::path& path, Device device) {
  require(device.kind == DeviceKind::kCpu, path.string(), ": what is to be written lies on ",
          to_string(device), "; bring it to the host with sextant::to_host(context, ...)");
}

/// Throws unless the cloud lies on the host and its parts agree.
inline void require_writable(const std::filesystem::path& path, const Cloud& cloud) {
  require_on_host(path, cloud.device());
  check_cloud(cloud);
}
inline void require_writable(const std::filesystem::path& path, const TriangleMesh& mesh) {
  require_on_host(path, mesh.device());
  check_mesh(mesh);
}

/// Attribute names that stand in headers must survive there.
inline void require_plain_name(const std::string& file, const std::string& name) {
  const bool plain =
      !name.empty() && name != "_" && std::none_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 127;
      });
  require(plain, file, ": an attribute named '", text::shown(name),
          "' cannot be written; use a name without spaces");
}

inline bool is_identity(const Rigid3d& pose) {
  const Mat3d identity = Mat3d::identity();
  return pose.translation == Vec3d{} && pose.rotation.row[0] == identity.row[0] &&
         pose.rotation.row[1] == identity.row[1] && pose.rotation.row[2] == identity.row[2];
}

/// A pose as files spell it: tx ty tz qw qx qy qz.
inline std::array<double, 7> pose_numbers(const Rigid3d& pose) {
  const Quaternion<double> q = to_quaternion(pose.rotation);
  const Vec3d& t = pose.translation;
  return {t.x, t.y, t.z, q.w, q.x, q.y, q.z};
}

/// Names for what formats without a place for them leave out.
inline std::vector<std::string> shape_and_pose(const Cloud& cloud) {
  std::vector<std::string> parts;
  if (cloud.organised()) parts.emplace_back("organised size");
  if (!is_identity(points::sensor_in_file(cloud))) parts.emplace_back("sensor pose");
  return parts;
}

}  // namespace sextant::detail::mesh
