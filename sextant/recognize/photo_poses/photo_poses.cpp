// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses.h"

#include <algorithm>
#include <sstream>

#include "sextant/core/eigen3.h"
#include "sextant/pose/reprojection.h"
#include "sextant/recognize/photo_poses/grouping.h"
#include "sextant/recognize/photo_poses/hypotheses.h"
#include "sextant/recognize/photo_poses/outline.h"
#include "sextant/recognize/photo_poses/refine.h"
#include "sextant/recognize/photo_poses/score.h"
#include "sextant/recognize/photo_poses/several_views.h"
#include "sextant/recognize/recognizer/step_clock.h"

namespace sextant {
namespace {

using namespace detail::photo_poses;

/// Bounds memory and time where an object has matches without end.
constexpr std::size_t kMostPosesOfObject = 2000;
constexpr std::size_t kMostRejected = 1000;

void check_match(const PhotoMatch& m, std::size_t index, std::size_t cameras, std::size_t objects) {
  require(m.photo >= 0 && static_cast<std::size_t>(m.photo) < cameras, "matches: number ", index,
          " is of photograph ", m.photo, ", but there are ", cameras, " cameras");
  require(m.object >= 0 && static_cast<std::size_t>(m.object) < objects, "matches: number ", index,
          " is of object ", m.object, ", but there are ", objects);
}

/// Numbers the features of all photographs.
void number_features(std::span<const PhotoMatch> matches, Problem& problem) {
  std::vector<std::size_t> order(matches.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto before = [&](std::size_t a, std::size_t b) {
    return matches[a].photo != matches[b].photo ? matches[a].photo < matches[b].photo
                                                : matches[a].feature < matches[b].feature;
  };
  std::stable_sort(order.begin(), order.end(), before);
  problem.features.resize(matches.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || before(order[i - 1], order[i])) ++problem.feature_count;
    problem.features[order[i]] = problem.feature_count - 1;
  }
}

Problem make_problem(const Context& context, std::span<const PhotoMatch> matches,
                     std::span<const PosedCamera> cameras, std::size_t objects,
                     const PhotoPoseOptions& options) {
  Problem problem{context, options, {}, {}, {}, {}, 0, {}};
  for (const PosedCamera& camera : cameras) {
    check_camera(camera.camera);
    problem.views.push_back(pinhole_view(camera));
  }
  problem.of_object.resize(objects);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const PhotoMatch& m = matches[i];
    check_match(m, i, cameras.size(), objects);
    const Vec2d at{static_cast<double>(m.at_px.x), static_cast<double>(m.at_px.y)};
    problem.matches.push_back({cast<double>(m.point_m), at, m.photo});
    problem.ratios.push_back(std::isfinite(m.ratio) ? m.ratio : 1.0f);
    if (is_finite(m.point_m) && std::isfinite(m.at_px.x) && std::isfinite(m.at_px.y)) {
      problem.of_object[static_cast<std::size_t>(m.object)].push_back(static_cast<std::int32_t>(i));
    }
  }
  number_features(matches, problem);
  return problem;
}

/// Step 4: the poses of all clusters, of each object those that most matches agree with.
std::vector<PhotoHypothesis> poses_of_clusters(const Problem& problem,
                                               const std::vector<PhotoCluster>& clusters,
                                               std::vector<DroppedPose>& dropped) {
  std::vector<std::int64_t> costs;
  for (const PhotoCluster& c : clusters) {
    costs.push_back(static_cast<std::int64_t>(c.matches.size()));
  }
  std::vector<std::vector<PhotoHypothesis>> found(clusters.size());
  for_largest_first(problem.context, costs,
                    [&](std::size_t i) { found[i] = cluster_poses(problem, clusters[i], i); });
  std::vector<PhotoHypothesis> poses;
  for (auto& of_cluster : found) {
    for (PhotoHypothesis& pose : of_cluster) poses.push_back(std::move(pose));
  }
  std::vector<PhotoHypothesis> kept;
  for (auto first = poses.begin(); first != poses.end();) {
    const auto last = std::find_if(
        first, poses.end(), [&](const PhotoHypothesis& p) { return p.object != first->object; });
    if (static_cast<std::size_t>(last - first) > kMostPosesOfObject) {
      std::stable_sort(first, last, [](const PhotoHypothesis& a, const PhotoHypothesis& b) {
        return a.matches.size() > b.matches.size();
      });
    }
    std::size_t taken = 0;
    for (; first != last; ++first) {
      if (taken++ < kMostPosesOfObject) {
        kept.push_back(std::move(*first));
      } else {
        drop(dropped, std::move(*first), "the object has too many poses");
      }
    }
  }
  return kept;
}

std::vector<PhotoHypothesis> group(const Problem& problem, std::vector<PhotoHypothesis> poses,
                                   const GroupLimits& limits, std::vector<DroppedPose>& dropped) {
  return problem.options.grouping == PoseGrouping::kProjection
             ? group_by_projection(problem, std::move(poses), limits, dropped)
             : group_in_pose_space(problem, std::move(poses), limits, dropped);
}

/// Step 6: the poses with their refined forms after them, object by object.
std::vector<PhotoHypothesis> with_refined(const Problem& problem,
                                          const std::vector<PhotoHypothesis>& poses,
                                          std::vector<PhotoHypothesis>& added) {
  std::vector<std::int64_t> costs;
  for (const PhotoHypothesis& pose : poses) {
    costs.push_back(static_cast<std::int64_t>(pose.matches.size()));
  }
  std::vector<std::optional<PhotoHypothesis>> found(poses.size());
  for_largest_first(problem.context, costs,
                    [&](std::size_t i) { found[i] = refined(problem, poses[i], i); });
  std::vector<PhotoHypothesis> both;
  for (std::size_t i = 0; i < poses.size(); ++i) {
    both.push_back(poses[i]);
    if (!found[i]) continue;
    both.push_back(*found[i]);
    added.push_back(std::move(*found[i]));
  }
  return both;
}

/// Steps 5 to 7.
std::vector<PhotoHypothesis> joined_and_refined(const Problem& problem,
                                                std::vector<PhotoHypothesis> poses,
                                                std::vector<DroppedPose>& dropped,
                                                PhotoTrace& trace,
                                                detail::recognizer::StepClock& clock) {
  const PhotoPoseOptions& o = problem.options;
  poses = group(problem, std::move(poses), {o.group_points, o.group_score, o.agree_px_sq}, dropped);
  trace.grouped.insert(trace.grouped.end(), poses.begin(), poses.end());
  clock.stop("group poses");
  std::vector<PhotoHypothesis> added;
  const std::vector<PhotoHypothesis> before = poses;
  poses = with_refined(problem, poses, added);
  trace.refined.insert(trace.refined.end(), added.begin(), added.end());
  clock.stop("refine poses");
  poses =
      group(problem, std::move(poses), {o.final_points, o.final_score, o.refine_px_sq}, dropped);
  clock.stop("group again");
  // The code of MOPED leaves the poses as they are; the paper fits them where features moved.
  std::vector<std::int64_t> costs(poses.size(), 1);
  for_largest_first(problem.context, costs, [&](std::size_t i) {
    const bool fit =
        o.polish || (!o.refine_random_start &&
                     std::none_of(before.begin(), before.end(), [&](const PhotoHypothesis& b) {
                       return b.object == poses[i].object && b.matches == poses[i].matches;
                     }));
    finish(problem, poses[i], fit);
  });
  clock.stop("fit poses");
  return poses;
}

/// Single photographs by themselves, and the means of their poses.
std::vector<PhotoHypothesis> averaged(const Problem& problem,
                                      const std::vector<PhotoHypothesis>& poses,
                                      std::vector<DroppedPose>& dropped, PhotoTrace& trace,
                                      detail::recognizer::StepClock& clock) {
  std::vector<PhotoHypothesis> all;
  for (std::size_t photo = 0; photo < problem.views.size(); ++photo) {
    Problem single = problem;
    for (auto& matches : single.of_object) {
      std::erase_if(matches, [&](std::int32_t m) {
        return static_cast<std::size_t>(problem.matches[static_cast<std::size_t>(m)].camera) !=
               photo;
      });
    }
    std::vector<PhotoHypothesis> own;
    for (const PhotoHypothesis& pose : poses) {
      if (static_cast<std::size_t>(pose.photo) == photo) own.push_back(pose);
    }
    for (PhotoHypothesis& pose :
         joined_and_refined(single, std::move(own), dropped, trace, clock)) {
      all.push_back(std::move(pose));
    }
  }
  std::vector<PhotoHypothesis> means = averaged_poses(problem, std::move(all));
  for (PhotoHypothesis& mean : means) {
    const double limit = problem.options.agree_px_sq;
    mean.matches = agreeing(problem, mean.world_from_object, mean.matches, limit);
  }
  return means;
}

double largest_turn_rad(const std::array<double, 36>& covariance) {
  const auto& c = covariance;
  const double largest = eigen(Sym3d{c[0], c[1], c[2], c[7], c[8], c[14]}).values[2];
  return std::sqrt(max_of(largest, 0.0));
}

PhotoDetection detection_of(const Problem& problem, const PhotoHypothesis& pose,
                            const PhotoObject& object) {
  PhotoDetection found;
  found.object = object.name;
  found.object_index = pose.object;
  found.world_from_object = pose.world_from_object;
  found.centre_m = object.centre_m;
  found.terms = terms_of(problem, pose);
  found.inliers = pose.matches;
  found.views = supporting_views(problem, pose);
  std::vector<PhotoObservation> observations;
  for (const std::int32_t m : pose.matches) {
    observations.push_back(problem.matches[static_cast<std::size_t>(m)]);
  }
  PhotoCovarianceOptions covariance;
  covariance.open_m = max_of(object.diameter_m, 1e-6);
  found.covariance = photo_covariance(problem.views, observations, pose.world_from_object,
                                      found.centre_m, covariance);
  found.terms.turn_rad = largest_turn_rad(found.covariance);
  found.score = score_of(found.terms);
  return found;
}

std::string doubt_of(const Problem& problem, const PhotoHypothesis& pose,
                     const PhotoDetection& found, std::span<const PhotoHypothesis> hypotheses) {
  const PhotoPoseOptions& o = problem.options;
  std::ostringstream doubt;
  if (pose.matches.size() < static_cast<std::size_t>(o.final_points)) {
    doubt << pose.matches.size() << " features agree with it, fewer than " << o.final_points;
  } else if (std::string views = doubt_of_views(problem, pose, hypotheses);
             !views.empty() && o.fusion == PhotoFusion::kCombined) {
    doubt << views;
  } else if (!(found.score >= static_cast<double>(o.accept))) {
    doubt << "score " << found.score << " is below " << o.accept;
  }
  return doubt.str();
}

/// Step 8: what is accepted, and what is not and why.
void judge_poses(const Problem& problem, const std::vector<PhotoHypothesis>& poses,
                 std::span<const PhotoObject> objects, std::span<const PhotoHypothesis> hypotheses,
                 PhotoPoses& result) {
  std::vector<PhotoHypothesis> accepted;
  std::vector<PhotoDetection> detections;
  for (const PhotoHypothesis& pose : poses) {
    PhotoDetection found =
        detection_of(problem, pose, objects[static_cast<std::size_t>(pose.object)]);
    found.reason = doubt_of(problem, pose, found, hypotheses);
    if (!found.reason.empty()) {
      result.rejected.push_back(std::move(found));
      continue;
    }
    accepted.push_back(pose);
    detections.push_back(std::move(found));
  }
  std::vector<std::int32_t> covering(accepted.size(), -1);
  if (problem.options.once_in_a_place) covering = covering_poses(problem, accepted);
  for (std::size_t i = 0; i < detections.size(); ++i) {
    if (covering[i] >= 0) {
      std::ostringstream reason;
      reason << "most of its features lie within the outline of a pose of the same object with "
             << accepted[static_cast<std::size_t>(covering[i])].matches.size();
      detections[i].reason = reason.str();
    }
    (covering[i] < 0 ? result.detections : result.rejected).push_back(std::move(detections[i]));
  }
}

bool higher(const PhotoDetection& a, const PhotoDetection& b) {
  return a.score != b.score ? a.score > b.score : a.object_index < b.object_index;
}

}  // namespace

PhotoPoseOptions photo_pose_options(PhotoPreset preset) {
  PhotoPoseOptions o;
  if (preset == PhotoPreset::kDefault) return o;
  o.sampling = PoseSampling::kRandomStart;
  o.first_success = true;
  o.nearest_first = false;
  o.polish = false;
  o.turn_over = false;
  o.once_in_a_place = false;
  if (preset == PhotoPreset::kPaper) return o;
  o.clustering = PlaceClustering::kAgglomerative;
  o.cluster_radius_px = 200;
  o.trials = 600;
  o.fit_steps = 200;
  o.squared_residuals = true;
  o.agree_points = 7;
  o.sigma_px = 1;
  o.group_points = 5;
  o.refine_objective = PoseObjective::kReprojection;
  o.refine_trials = 100;
  o.refine_sample = 6;
  o.refine_random_start = true;
  o.refine_points = 9;
  o.final_points = 7;
  return o;
}

PhotoPoses find_photo_poses(const Context& context, std::span<const PhotoMatch> matches,
                            std::span<const PosedCamera> cameras,
                            std::span<const PhotoObject> objects, const PhotoPoseOptions& options,
                            const Progress& progress, PhotoTrace* trace) {
  require(context.is_cpu(), "find_photo_poses: runs on the CPU, the context on ",
          to_string(context.device()), "; give it Context::cpu()");
  check_options(options);
  require(matches.size() <= INT32_MAX, "matches: ", matches.size(), " are too many");
  PhotoPoses result;
  PhotoTrace own_trace;
  PhotoTrace& steps = trace ? *trace : own_trace;
  steps = {};
  detail::recognizer::StepClock clock(context, result.times);
  const Problem problem = make_problem(context, matches, cameras, objects.size(), options);
  std::vector<DroppedPose> dropped;
  std::vector<PhotoHypothesis> poses;
  report(progress, 0, 3);
  if (options.fusion == PhotoFusion::kGeneralised) {
    steps.hypotheses = generalised_poses(problem);
  } else {
    steps.clusters = make_clusters(problem);
    clock.stop("cluster matches");
    steps.hypotheses = poses_of_clusters(problem, steps.clusters, dropped);
  }
  clock.stop("poses of clusters");
  report(progress, 1, 3);
  if (options.fusion == PhotoFusion::kAveraged && cameras.size() > 1) {
    poses = averaged(problem, steps.hypotheses, dropped, steps, clock);
  } else {
    poses = joined_and_refined(problem, steps.hypotheses, dropped, steps, clock);
  }
  report(progress, 2, 3);
  judge_poses(problem, poses, objects, steps.hypotheses, result);
  std::stable_sort(result.detections.begin(), result.detections.end(), higher);
  for (DroppedPose& d : dropped) {
    if (result.rejected.size() >= kMostRejected) break;
    finish(problem, d.pose, false);
    PhotoDetection found =
        detection_of(problem, d.pose, objects[static_cast<std::size_t>(d.pose.object)]);
    found.reason = std::move(d.reason);
    result.rejected.push_back(std::move(found));
  }
  std::stable_sort(result.rejected.begin(), result.rejected.end(), higher);
  if (result.rejected.size() > kMostRejected) result.rejected.resize(kMostRejected);
  clock.stop("score poses");
  report(progress, 3, 3);
  return result;
}

}  // namespace sextant
