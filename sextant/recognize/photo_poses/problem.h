// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sextant/core/for_each.h"
#include "sextant/pose/photo_observation.h"
#include "sextant/recognize/photo_poses.h"

namespace sextant::detail::photo_poses {

/// What all steps work on.
struct Problem {
  const Context& context;
  const PhotoPoseOptions& options;
  std::vector<PinholeView> views;
  std::vector<PhotoObservation> matches;  ///< one for each PhotoMatch
  std::vector<float> ratios;              ///< of the matches
  std::vector<std::int32_t> features;     ///< the same for matches of the same feature
  std::int32_t feature_count = 0;
  std::vector<std::vector<std::int32_t>> of_object;  ///< matches of each object that are finite
};

/// A pose seen from each camera.
inline std::vector<Rigid3d> poses_in_cameras(const Problem& problem, const Rigid3d& pose) {
  std::vector<Rigid3d> poses;
  poses.reserve(problem.views.size());
  for (const PinholeView& view : problem.views) poses.push_back(view.camera_from_world * pose);
  return poses;
}

/// Squared distance of one match under a pose.
inline double error_sq_px(const Problem& problem, const std::vector<Rigid3d>& in_cameras,
                          std::int32_t match) {
  const PhotoObservation& o = problem.matches[static_cast<std::size_t>(match)];
  const auto camera = static_cast<std::size_t>(o.camera);
  return squared_error_px(problem.views[camera], in_cameras[camera], o.point_m, o.at_px);
}

/// The matches that a pose brings within this squared distance, in the order of the list.
std::vector<std::int32_t> agreeing(const Problem& problem, const Rigid3d& pose,
                                   std::span<const std::int32_t> matches, double limit_px_sq);

/// Whether `count` matches of the list have different places in the photographs and points.
bool all_different(const Problem& problem, const std::int32_t* matches, int count);

/// Calls function(i) for each of `costs`, the largest first, on the context's threads: whoever is
/// free takes the next, so that the last ones are short.
template <class Function>
void for_largest_first(const Context& context, const std::vector<std::int64_t>& costs,
                       const Function& function) {
  std::vector<std::size_t> order(costs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  for_each_chunk(context, static_cast<std::int64_t>(order.size()), 1,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     function(order[static_cast<std::size_t>(i)]);
                   }
                 });
}

}  // namespace sextant::detail::photo_poses
