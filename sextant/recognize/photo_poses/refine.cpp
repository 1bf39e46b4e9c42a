// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/refine.h"

#include "sextant/core/eigen3.h"
#include "sextant/recognize/photo_poses/hypotheses.h"

namespace sextant::detail::photo_poses {
namespace {

/// I - 2 n nᵀ: what a mirror with this normal does.
Mat3d mirror(const Vec3d& n) {
  return {{Vec3d{1, 0, 0} - n * (2 * n.x), Vec3d{0, 1, 0} - n * (2 * n.y),
           Vec3d{0, 0, 1} - n * (2 * n.z)}};
}

/// Seen from far off, points of a plane look the same where the plane is turned the other way: as
/// if a mirror stood behind them, across the line of sight. The pose that does this to the plane
/// that fits the matches' points best, their middle staying where it is.
Rigid3d turned_over(const Problem& problem, const SampledPose& pose) {
  const auto count = static_cast<double>(pose.agreeing.size());
  const auto observation = [&](std::int32_t m) -> const PhotoObservation& {
    return problem.matches[static_cast<std::size_t>(m)];
  };
  Vec3d middle;
  for (const std::int32_t m : pose.agreeing) middle += observation(m).point_m / count;
  Sym3d moments{};
  for (const std::int32_t m : pose.agreeing) {
    const Vec3d p = observation(m).point_m - middle;
    moments = moments + Sym3d{p.x * p.x, p.x * p.y, p.x * p.z, p.y * p.y, p.y * p.z, p.z * p.z};
  }
  const Vec3d normal = eigen(moments).vectors.row[0];
  const PinholeView& view =
      problem.views[static_cast<std::size_t>(observation(pose.agreeing.front()).camera)];
  const Vec3d at = pose.world_from_object * middle;
  const Vec3d sight = normalized(at - inverse(view.camera_from_world).translation);
  const Mat3d rotation = mirror(sight) * pose.world_from_object.rotation * mirror(normal);
  return renormalized(Rigid3d{rotation, at - rotation * middle});
}

double q_score(const Problem& problem, const Rigid3d& pose, std::span<const std::int32_t> matches) {
  const std::vector<Rigid3d> in_cameras = poses_in_cameras(problem, pose);
  const double sigma_sq = static_cast<double>(problem.options.sigma_px) * problem.options.sigma_px;
  double sum = 0;
  for (const std::int32_t m : matches) {
    sum += 1 / (1 + error_sq_px(problem, in_cameras, m) / sigma_sq);
  }
  return sum;
}

/// Takes the pose turned over where it fits the matches better.
void try_turned_over(const Problem& problem, std::span<const std::int32_t> matches,
                     const SampleSearch& search, SampledPose& best) {
  if (best.agreeing.size() < 4) return;
  // The distances in the photographs decide between the two, so they are what is minimised.
  SampledPose other = best;
  other.world_from_object = fit_pose(problem, best.agreeing, turned_over(problem, best),
                                     PoseObjective::kReprojection, search.fit)
                                .world_from_object;
  other.agreeing = agreeing(problem, other.world_from_object, matches, search.limit_px_sq);
  if (other.agreeing.size() < static_cast<std::size_t>(search.least)) return;
  fit_to_agreeing(problem, matches, search.limit_px_sq, PoseObjective::kReprojection, search.fit,
                  other);
  if (q_score(problem, other.world_from_object, matches) >
      q_score(problem, best.world_from_object, matches)) {
    best = std::move(other);
  }
}

}  // namespace

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
  if (o.turn_over) try_turned_over(problem, pose.matches, search, *best);
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
