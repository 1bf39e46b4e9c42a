// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/pose_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/core/error.h"

namespace sextant {

Rigid3d checked_pose(const Rigid3d& pose, const std::string& where) {
  const Mat3d product = pose.rotation * transpose(pose.rotation);
  double off = 0;
  for (int i = 0; i < 3; ++i) {
    const Vec3d unit{i == 0 ? 1.0 : 0.0, i == 1 ? 1.0 : 0.0, i == 2 ? 1.0 : 0.0};
    off = std::max(off, norm(product.row[i] - unit));
  }
  require(is_finite(pose.translation) && off < 1e-2 && determinant(pose.rotation) > 0, where,
          ": the pose is no rigid motion; write a rotation and a translation in metres");
  return renormalized(pose);
}

Rigid3d pose_from_json(const nlohmann::json& value, const std::string& where) {
  require(value.is_array() && value.size() == 16, where,
          ": expected 16 numbers, a 4x4 matrix row by row");
  double m[16];
  for (std::size_t i = 0; i < 16; ++i) {
    require(value[i].is_number(), where, ": number ", i + 1, " of the matrix is none");
    m[i] = value[i].get<double>();
  }
  require(std::abs(m[12]) + std::abs(m[13]) + std::abs(m[14]) + std::abs(m[15] - 1) < 1e-6, where,
          ": the last row of the matrix must be 0 0 0 1");
  return checked_pose(
      {{{{m[0], m[1], m[2]}, {m[4], m[5], m[6]}, {m[8], m[9], m[10]}}}, {m[3], m[7], m[11]}},
      where);
}

nlohmann::json pose_to_json(const Rigid3d& pose) {
  nlohmann::json list = nlohmann::json::array();
  const double t[] = {pose.translation.x, pose.translation.y, pose.translation.z};
  for (int i = 0; i < 3; ++i) {
    const Vec3d& row = pose.rotation.row[i];
    for (const double number : {row.x, row.y, row.z, t[i]}) list.push_back(number);
  }
  for (const double number : {0.0, 0.0, 0.0, 1.0}) list.push_back(number);
  return list;
}

}  // namespace sextant
