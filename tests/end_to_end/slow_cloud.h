// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/random.h"
#include "sextant/io/ply.h"

namespace sextant::testing {

/// A cloud of many points, and work on it that lasts for minutes.
inline void write_slow_cloud(const std::filesystem::path& path) {
  std::vector<Vec3f> points;
  for (std::uint64_t i = 0; i < 500000; ++i) {
    const Random random{7, i};
    points.push_back({random.uniform(0), random.uniform(1), random.uniform(2)});
  }
  Cloud cloud;
  cloud.points = copy(Context::cpu(), points);
  write_ply(path, cloud);
}
inline constexpr const char* kSlowNormals =
    "normals slow.ply --method voting --search brute_force --sigma-m 0.1 -o out.ply --device cpu";

}  // namespace sextant::testing
