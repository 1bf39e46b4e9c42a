// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/core/vec.h"

// nanoflann's searches, compiled apart so that they may use every instruction of the machine, as
// ours do. Each builds its tree anew. Two threads.

namespace sextant::measure {

inline constexpr int kThreads = 2;
inline constexpr int kK = 15;

struct Nearest {
  std::vector<std::uint32_t> indices;
  std::vector<float> distances_sq;
};

/// The kK nearest of every point.
void nanoflann_nearest(const std::vector<Vec3f>& points, Nearest& result);

/// The plane through the kK nearest: covariance about the mean, Eigen's closed-form solver.
void nanoflann_normals(const std::vector<Vec3f>& points, std::vector<Vec3f>& normals);

/// How many points lie within the radius of every point, in all.
std::uint64_t nanoflann_within(const std::vector<Vec3f>& points, float radius_m, bool sorted);

}  // namespace sextant::measure
