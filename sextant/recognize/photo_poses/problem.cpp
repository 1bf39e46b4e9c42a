// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/problem.h"

namespace sextant::detail::photo_poses {

std::vector<std::int32_t> agreeing(const Problem& problem, const Rigid3d& pose,
                                   std::span<const std::int32_t> matches, double limit_px_sq) {
  const std::vector<Rigid3d> in_cameras = poses_in_cameras(problem, pose);
  std::vector<std::int32_t> result;
  for (const std::int32_t match : matches) {
    if (error_sq_px(problem, in_cameras, match) < limit_px_sq) result.push_back(match);
  }
  return result;
}

bool all_different(const Problem& problem, const std::int32_t* matches, int count) {
  for (int i = 1; i < count; ++i) {
    const PhotoObservation& a = problem.matches[static_cast<std::size_t>(matches[i])];
    for (int j = 0; j < i; ++j) {
      const PhotoObservation& b = problem.matches[static_cast<std::size_t>(matches[j])];
      if (a.camera == b.camera && (a.at_px == b.at_px || a.point_m == b.point_m)) return false;
    }
  }
  return true;
}

}  // namespace sextant::detail::photo_poses
