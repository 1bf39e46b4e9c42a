// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "sextant/io/geometry_file.h"

namespace sextant::measure {

/// The points of a file of the captured data, without holes. The data lies beside a checkout or
/// where SEXTANT_SHARED_DATA points; there is nothing where the file is missing.
inline std::optional<std::vector<Vec3f>> stored_points(const std::string& relative) {
  const char* root = std::getenv("SEXTANT_SHARED_DATA");
  const std::filesystem::path file =
      std::filesystem::path(root ? root : SEXTANT_SOURCE_DIR "/../shared/data") / relative;
  if (!std::filesystem::exists(file)) return std::nullopt;
  std::vector<Vec3f> points;
  const TriangleMesh mesh = read_geometry(file);
  for (const Vec3f& p : mesh.vertices.points.host()) {
    if (is_finite(p)) points.push_back(p);
  }
  return points;
}

}  // namespace sextant::measure
