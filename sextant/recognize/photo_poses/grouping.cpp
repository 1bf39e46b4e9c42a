// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/grouping.h"

#include <sstream>

namespace sextant::detail::photo_poses {
namespace {

/// What a pose projects near the features that its object's points were matched with.
struct Claims {
  std::vector<std::int32_t> matches;
  std::vector<double> errors_sq_px;
  double rank = 0;
};

Claims claims_of(const Problem& problem, const PhotoHypothesis& pose) {
  const double limit = static_cast<double>(problem.options.gamma_px) * problem.options.gamma_px;
  const std::vector<Rigid3d> in_cameras = poses_in_cameras(problem, pose.world_from_object);
  Claims claims;
  for (const std::int32_t m : problem.of_object[static_cast<std::size_t>(pose.object)]) {
    const double error = error_sq_px(problem, in_cameras, m);
    if (!(error < limit)) continue;
    claims.matches.push_back(m);
    claims.errors_sq_px.push_back(error);
  }
  claims.rank = rank_of(problem.options, claims.errors_sq_px);
  return claims;
}

double q_score(const PhotoPoseOptions& options, std::span<const double> errors_sq_px) {
  const double sigma_sq = static_cast<double>(options.sigma_px) * options.sigma_px;
  double sum = 0;
  for (const double error : errors_sq_px) sum += 1 / (1 + error / sigma_sq);
  return sum;
}

/// The pose that gets each feature; -1 for none.
std::vector<std::int32_t> owners_of_features(const Problem& problem,
                                             const std::vector<Claims>& claims,
                                             double agree_px_sq) {
  struct Best {
    std::int32_t pose = -1;
    bool agrees = false;
    double rank = 0;
  };
  std::vector<Best> best(static_cast<std::size_t>(problem.feature_count));
  for (std::size_t p = 0; p < claims.size(); ++p) {
    for (std::size_t i = 0; i < claims[p].matches.size(); ++i) {
      const auto match = static_cast<std::size_t>(claims[p].matches[i]);
      Best& owner = best[static_cast<std::size_t>(problem.features[match])];
      const bool agrees = problem.options.nearest_first && claims[p].errors_sq_px[i] < agree_px_sq;
      const bool better = agrees != owner.agrees ? agrees : claims[p].rank > owner.rank;
      if (owner.pose < 0 || better) {
        owner = {static_cast<std::int32_t>(p), agrees, claims[p].rank};
      }
    }
  }
  std::vector<std::int32_t> owners;
  for (const Best& owner : best) owners.push_back(owner.pose);
  return owners;
}

std::string why_dropped(std::size_t left, std::size_t before, double score,
                        const GroupLimits& limits) {
  std::ostringstream reason;
  if (left < static_cast<std::size_t>(limits.points)) {
    reason << left << " of the " << before
           << " features near it were left by better poses, fewer than " << limits.points;
  } else {
    reason << "Q-score " << score << " of its " << left << " features is below " << limits.score;
  }
  return reason.str();
}

}  // namespace

void drop(std::vector<DroppedPose>& dropped, PhotoHypothesis pose, std::string reason) {
  dropped.push_back({std::move(pose), std::move(reason)});
}

double rank_of(const PhotoPoseOptions& options, std::span<const double> errors_sq_px) {
  if (options.ranking == PoseRanking::kQScore) return q_score(options, errors_sq_px);
  double count = 0, sum = 0;
  for (const double error : errors_sq_px) {
    if (!(error < static_cast<double>(options.agree_px_sq))) continue;
    count += 1;
    sum += std::sqrt(error);
  }
  if (options.ranking == PoseRanking::kCount) return count;
  // Fewer than three agree with anything.
  if (count < 3) return -INFINITY;
  return options.ranking == PoseRanking::kReprojectionSum ? -sum : -sum / count;
}

std::vector<PhotoHypothesis> group_by_projection(const Problem& problem,
                                                 std::vector<PhotoHypothesis> poses,
                                                 const GroupLimits& limits,
                                                 std::vector<DroppedPose>& dropped) {
  std::vector<std::int64_t> costs;
  for (const PhotoHypothesis& pose : poses) {
    costs.push_back(
        static_cast<std::int64_t>(problem.of_object[static_cast<std::size_t>(pose.object)].size()));
  }
  std::vector<Claims> claims(poses.size());
  for_largest_first(problem.context, costs,
                    [&](std::size_t p) { claims[p] = claims_of(problem, poses[p]); });
  const std::vector<std::int32_t> owners = owners_of_features(problem, claims, limits.agree_px_sq);

  std::vector<PhotoHypothesis> kept;
  for (std::size_t p = 0; p < poses.size(); ++p) {
    Claims left;
    for (std::size_t i = 0; i < claims[p].matches.size(); ++i) {
      const std::int32_t m = claims[p].matches[i];
      const auto feature = static_cast<std::size_t>(problem.features[static_cast<std::size_t>(m)]);
      if (owners[feature] != static_cast<std::int32_t>(p)) continue;
      left.matches.push_back(m);
      left.errors_sq_px.push_back(claims[p].errors_sq_px[i]);
    }
    poses[p].q_score = q_score(problem.options, left.errors_sq_px);
    if (left.matches.size() < static_cast<std::size_t>(limits.points) ||
        poses[p].q_score < limits.score) {
      dropped.push_back({poses[p], why_dropped(left.matches.size(), claims[p].matches.size(),
                                               poses[p].q_score, limits)});
      continue;
    }
    poses[p].matches = std::move(left.matches);
    kept.push_back(std::move(poses[p]));
  }
  return kept;
}

}  // namespace sextant::detail::photo_poses
