// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

#include "sextant/geometry/mesh.h"

namespace sextant::fuzz {

inline void check(const Cloud& cloud) { check_cloud(cloud); }
inline void check(const TriangleMesh& mesh) { check_mesh(mesh); }
inline const Cloud& cloud_of(const Cloud& cloud) { return cloud; }
inline const Cloud& cloud_of(const TriangleMesh& mesh) { return mesh.vertices; }

/// Reads the bytes and accepts an Error; whatever was read must fit together, and the pose must be
/// a rigid motion.
template <class Read>
int run_geometry_target(const std::uint8_t* data, std::size_t size, const Read& read) {
  using Result = decltype(read(std::span<const std::byte>()));
  std::optional<Result> result;
  try {
    result.emplace(read(std::as_bytes(std::span(data, size))));
  } catch (const Error&) {
    return 0;
  }
  try {
    check(*result);
  } catch (const Error&) {
    std::abort();
  }
  const Rigid3d& pose = cloud_of(*result).world_from_sensor;
  if (!is_finite(pose.translation) || !(std::abs(determinant(pose.rotation) - 1.0) < 1e-9)) {
    std::abort();
  }
  return 0;
}

}  // namespace sextant::fuzz
