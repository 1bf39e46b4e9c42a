// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/several_views.h"

#include <sstream>

#include "sextant/pose/mean_pose.h"
#include "sextant/recognize/photo_poses/hypotheses.h"

namespace sextant::detail::photo_poses {

int supporting_views(const Problem& problem, const PhotoHypothesis& pose) {
  std::vector<int> counts(problem.views.size());
  for (const std::int32_t m : pose.matches) {
    ++counts[static_cast<std::size_t>(problem.matches[static_cast<std::size_t>(m)].camera)];
  }
  return static_cast<int>(
      std::count_if(counts.begin(), counts.end(), [](int n) { return n >= 3; }));
}

std::string doubt_of_views(const Problem& problem, const PhotoHypothesis& pose,
                           std::span<const PhotoHypothesis> hypotheses) {
  const PhotoPoseOptions& o = problem.options;
  std::ostringstream doubt;
  const int cameras = static_cast<int>(problem.views.size());
  if (cameras < 2) return {};
  const int views = supporting_views(problem, pose);
  if (views < min_of(o.least_views, cameras)) {
    doubt << views << " of " << cameras << " photographs support it, fewer than "
          << min_of(o.least_views, cameras);
    return doubt.str();
  }
  // The poses that went into this one: most of what agreed with them lies near it.
  const double gamma_sq = static_cast<double>(o.gamma_px) * o.gamma_px;
  std::size_t joined = 0, agree = 0;
  for (const PhotoHypothesis& h : hypotheses) {
    if (h.object != pose.object) continue;
    const std::size_t near = agreeing(problem, pose.world_from_object, h.matches, gamma_sq).size();
    if (2 * near <= h.matches.size()) continue;
    joined += h.matches.size();
    agree += agreeing(problem, pose.world_from_object, h.matches, o.agree_px_sq).size();
  }
  if (static_cast<double>(agree) <
      static_cast<double>(o.least_share) * static_cast<double>(joined)) {
    doubt << agree << " of " << joined
          << " points of the poses of single photographs agree, fewer than "
          << std::lround(100 * static_cast<double>(o.least_share)) << " %";
  }
  return doubt.str();
}

std::vector<PhotoHypothesis> generalised_poses(const Problem& problem) {
  const PhotoPoseOptions& o = problem.options;
  std::vector<std::int64_t> costs;
  for (const auto& matches : problem.of_object) {
    costs.push_back(static_cast<std::int64_t>(matches.size()));
  }
  std::vector<std::vector<PhotoHypothesis>> found(costs.size());
  for_largest_first(problem.context, costs, [&](std::size_t object) {
    SampleSearch search;
    search.trials = o.generalised_trials;
    search.sample = o.sample;
    search.limit_px_sq = o.agree_px_sq;
    search.least = o.agree_points;
    search.first_success = o.first_success;
    search.objective = PoseObjective::kBackprojection;
    search.fit = {o.fit_steps, false};
    std::vector<std::int32_t> left = problem.of_object[object];
    for (int run = 0; run < o.objects_per_cluster; ++run) {
      search.stream = (std::uint64_t{2} << 40) + object * 1024 + static_cast<std::uint64_t>(run);
      const std::optional<SampledPose> pose = search_by_least_squares(problem, left, search);
      if (!pose) break;
      found[object].push_back(
          {static_cast<std::int32_t>(object), -1, pose->world_from_object, pose->agreeing, 0});
      std::vector<std::int32_t> rest;
      std::set_difference(left.begin(), left.end(), pose->agreeing.begin(), pose->agreeing.end(),
                          std::back_inserter(rest));
      left = std::move(rest);
    }
  });
  std::vector<PhotoHypothesis> poses;
  for (auto& of_object : found) {
    for (PhotoHypothesis& pose : of_object) poses.push_back(std::move(pose));
  }
  return poses;
}

std::vector<PhotoHypothesis> averaged_poses(const Problem& problem,
                                            std::vector<PhotoHypothesis> poses) {
  const PhotoPoseOptions& o = problem.options;
  std::stable_sort(poses.begin(), poses.end(),
                   [](const PhotoHypothesis& a, const PhotoHypothesis& b) {
                     return a.object != b.object ? a.object < b.object : a.q_score > b.q_score;
                   });
  std::vector<bool> used(poses.size(), false);
  std::vector<PhotoHypothesis> means;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    if (used[i]) continue;
    std::vector<Rigid3d> near;
    std::vector<double> weights;
    PhotoHypothesis mean = poses[i];
    mean.matches.clear();
    for (std::size_t j = i; j < poses.size() && poses[j].object == poses[i].object; ++j) {
      if (used[j]) continue;
      const Rigid3d apart = inverse(poses[i].world_from_object) * poses[j].world_from_object;
      if (norm(apart.translation) > static_cast<double>(o.average_m) ||
          rotation_angle(apart.rotation) > static_cast<double>(o.average_rad)) {
        continue;
      }
      used[j] = true;
      near.push_back(poses[j].world_from_object);
      weights.push_back(max_of(poses[j].q_score, 1e-9));
      mean.matches.insert(mean.matches.end(), poses[j].matches.begin(), poses[j].matches.end());
    }
    mean.photo = -1;
    mean.world_from_object = mean_pose(near, weights);
    mean.q_score = 0;
    for (const double weight : weights) mean.q_score += weight;
    std::sort(mean.matches.begin(), mean.matches.end());
    mean.matches.erase(std::unique(mean.matches.begin(), mean.matches.end()), mean.matches.end());
    means.push_back(std::move(mean));
  }
  return means;
}

}  // namespace sextant::detail::photo_poses
