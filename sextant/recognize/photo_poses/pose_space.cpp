// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/grouping.h"

namespace sextant::detail::photo_poses {
namespace {

const char* const kOutranked = "another pose of its group ranks higher";

/// A place and a quaternion, in units of the kernel's radii.
struct Place7 {
  double x[7];
};

double distance_sq(const Place7& a, const Place7& b) {
  double sum = 0;
  for (int i = 0; i < 7; ++i) sum += (a.x[i] - b.x[i]) * (a.x[i] - b.x[i]);
  return sum;
}

Place7 place_of(const PhotoPoseOptions& o, const Rigid3d& pose) {
  const Quaternion<double> q = to_quaternion(pose.rotation);  // of the hemisphere w >= 0
  const double m = static_cast<double>(o.group_m), u = static_cast<double>(o.group_quaternion);
  const Vec3d t = pose.translation / m;
  return {{t.x, t.y, t.z, q.w / u, q.x / u, q.y / u, q.z / u}};
}

/// Where a pose climbs to, within 100 steps.
Place7 mode_of(const std::vector<Place7>& places, Place7 at) {
  for (int round = 0; round < 100; ++round) {
    Place7 sum{};
    double count = 0;
    for (const Place7& place : places) {
      if (distance_sq(place, at) > 1) continue;
      for (int i = 0; i < 7; ++i) sum.x[i] += place.x[i];
      count += 1;
    }
    if (!(count > 0)) break;
    for (double& entry : sum.x) entry /= count;
    const double moved_sq = distance_sq(sum, at);
    at = sum;
    if (moved_sq < 1e-12) break;
  }
  return at;
}

}  // namespace

std::vector<PhotoHypothesis> group_in_pose_space(const Problem& problem,
                                                 std::vector<PhotoHypothesis> poses,
                                                 const GroupLimits& limits,
                                                 std::vector<DroppedPose>& dropped) {
  const PhotoPoseOptions& o = problem.options;
  const double gamma_sq = static_cast<double>(o.gamma_px) * o.gamma_px;
  std::vector<PhotoHypothesis> best_of_modes;
  std::vector<Place7> modes;
  std::vector<double> ranks;
  for (std::size_t first = 0; first < poses.size();) {
    // The poses of one object stand together.
    std::size_t last = first;
    std::vector<Place7> places;
    while (last < poses.size() && poses[last].object == poses[first].object) {
      places.push_back(place_of(o, poses[last++].world_from_object));
    }
    const std::size_t first_mode = modes.size();
    for (std::size_t p = first; p < last; ++p) {
      const Place7 mode = mode_of(places, places[p - first]);
      const std::vector<Rigid3d> in_cameras = poses_in_cameras(problem, poses[p].world_from_object);
      std::vector<double> errors;
      std::vector<std::int32_t> near;
      for (const std::int32_t m : problem.of_object[static_cast<std::size_t>(poses[p].object)]) {
        const double error = error_sq_px(problem, in_cameras, m);
        if (!(error < gamma_sq)) continue;
        errors.push_back(error);
        near.push_back(m);
      }
      const double rank = rank_of(o, errors);
      poses[p].matches = std::move(near);
      std::size_t k = first_mode;
      while (k < modes.size() && distance_sq(modes[k], mode) > 0.0625) ++k;
      if (k == modes.size()) {
        modes.push_back(mode);
        ranks.push_back(rank);
        best_of_modes.push_back(poses[p]);
      } else if (rank > ranks[k]) {
        drop(dropped, best_of_modes[k], kOutranked);
        ranks[k] = rank;
        best_of_modes[k] = poses[p];
      } else {
        drop(dropped, poses[p], kOutranked);
      }
    }
    first = last;
  }
  std::vector<PhotoHypothesis> kept;
  for (PhotoHypothesis& pose : best_of_modes) {
    const std::vector<Rigid3d> in_cameras = poses_in_cameras(problem, pose.world_from_object);
    pose.q_score = 0;
    for (const std::int32_t m : pose.matches) {
      pose.q_score += 1 / (1 + error_sq_px(problem, in_cameras, m) /
                                   (static_cast<double>(o.sigma_px) * o.sigma_px));
    }
    const bool few = pose.matches.size() < static_cast<std::size_t>(limits.points);
    if (few || pose.q_score < limits.score) {
      drop(dropped, std::move(pose),
           few ? "its group has too few features" : "its group's Q-score is too small");
    } else {
      kept.push_back(std::move(pose));
    }
  }
  return kept;
}

}  // namespace sextant::detail::photo_poses
