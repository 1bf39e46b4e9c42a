// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/refine.h"

#include "sextant/recognize/photo_poses/hypotheses.h"

namespace sextant::detail::photo_poses {

std::optional<PhotoHypothesis> refined(const Problem& problem, const PhotoHypothesis& pose,
                                       std::uint64_t number) {
  const PhotoPoseOptions& o = problem.options;
  SampleSearch search;
  search.stream = (std::uint64_t{1} << 40) + number;  // apart from those of clusters
  search.trials = o.refine_trials;
  search.sample = o.refine_sample;
  search.limit_px_sq = o.refine_px_sq;
  search.least = o.refine_points;
  search.first_success = o.first_success;
  search.objective = o.refine_objective;
  search.fit = {o.refine_steps, o.squared_residuals};
  if (!o.refine_random_start) search.start = pose.world_from_object;
  std::optional<SampledPose> best = search_by_least_squares(problem, pose.matches, search);
  if (!o.refine_random_start && !o.first_success) {
    // The pose may be so good that samples of it are worse.
    SampledPose straight{pose.world_from_object,
                         agreeing(problem, pose.world_from_object, pose.matches,
                                  max_of(o.agree_px_sq, o.refine_px_sq))};
    if (straight.agreeing.size() >= 3) {
      const PhotoFit fit = fit_pose(problem, straight.agreeing, straight.world_from_object,
                                    o.refine_objective, search.fit);
      straight.world_from_object = fit.world_from_object;
      straight.agreeing =
          agreeing(problem, fit.world_from_object, pose.matches, search.limit_px_sq);
      if (straight.agreeing.size() >= 3) {
        fit_to_agreeing(problem, pose.matches, search.limit_px_sq, o.refine_objective, search.fit,
                        straight);
      }
      const std::size_t least =
          best ? best->agreeing.size() + 1 : static_cast<std::size_t>(o.refine_points);
      if (straight.agreeing.size() >= least) best = std::move(straight);
    }
  }
  if (!best) return std::nullopt;
  return PhotoHypothesis{pose.object, -1, best->world_from_object, std::move(best->agreeing), 0};
}

void finish(const Problem& problem, PhotoHypothesis& pose, bool fit) {
  const PhotoPoseOptions& o = problem.options;
  const std::vector<std::int32_t> claimed = std::move(pose.matches);
  SampledPose best{pose.world_from_object,
                   agreeing(problem, pose.world_from_object, claimed, o.refine_px_sq)};
  if (fit && best.agreeing.size() >= 4) {
    const PoseObjective objective = o.polish ? PoseObjective::kReprojection : o.refine_objective;
    fit_to_agreeing(problem, claimed, o.refine_px_sq, objective,
                    {o.refine_steps, !o.polish && o.squared_residuals}, best);
  }
  pose.world_from_object = best.world_from_object;
  pose.matches = std::move(best.agreeing);
}

}  // namespace sextant::detail::photo_poses
