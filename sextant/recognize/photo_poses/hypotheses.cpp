// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/hypotheses.h"

#include "sextant/core/random.h"
#include "sextant/pose/backprojection.h"
#include "sextant/pose/p3p.h"

namespace sextant::detail::photo_poses {
namespace {

/// Streams of random numbers: 16 for each cluster or pose, apart for each step.
constexpr std::uint64_t kStreams = 16;
/// Draws of a trial: a few for a sample, drawn again where places coincide, and a rotation.
constexpr std::uint64_t kDrawsPerTrial = 64;
constexpr int kMostRedraws = 4;
constexpr int kMostSample = 20;

/// Different places of 0 … count - 1. False where they could not be had.
bool draw_different(const Random& random, std::uint64_t& draw, std::uint32_t count, int sample,
                    std::uint32_t* places) {
  if (count < static_cast<std::uint32_t>(sample)) return false;
  for (int i = 0; i < sample; ++i) {
    // The k-th of those that are left, found by stepping over the ones that are taken.
    std::uint32_t place = random.below(count - static_cast<std::uint32_t>(i), draw++);
    std::uint32_t sorted[kMostSample];
    std::copy(places, places + i, sorted);
    std::sort(sorted, sorted + i);
    for (int k = 0; k < i; ++k) place += place >= sorted[k] ? 1 : 0;
    places[i] = place;
  }
  return true;
}

/// A sample of matches with different places and points.
bool draw_sample(const Problem& problem, const Random& random, std::uint64_t& draw,
                 std::span<const std::int32_t> matches, std::uint32_t among, int sample,
                 std::int32_t* drawn) {
  for (int attempt = 0; attempt < kMostRedraws; ++attempt) {
    std::uint32_t places[kMostSample];
    if (!draw_different(random, draw, among, sample, places)) return false;
    for (int i = 0; i < sample; ++i) drawn[i] = matches[places[i]];
    if (all_different(problem, drawn, sample)) return true;
  }
  return false;
}

/// Trials after which one sample of agreeing matches alone has been drawn with a probability of
/// 0.99, from a share of them.
int trials_for(double share, int sample, int most) {
  const double miss = std::log1p(-std::pow(min_of(share, 1.0), sample));
  if (!(miss < 0)) return most;
  const double trials = std::ceil(-4.605170185988091 / max_of(miss, -700.0));
  return trials < most ? static_cast<int>(max_of(trials, 1.0)) : most;
}

/// The matches that agree with a pose in one camera are counted for every trial.
class OneCamera {
 public:
  OneCamera(const Problem& problem, std::span<const std::int32_t> matches)
      : view_(problem.views[static_cast<std::size_t>(
            problem.matches[static_cast<std::size_t>(matches[0])].camera)]) {
    for (const std::int32_t m : matches) {
      const PhotoObservation& o = problem.matches[static_cast<std::size_t>(m)];
      points_.push_back(o.point_m);
      // In units of the focal lengths about the axis: the loop below has no camera in it.
      rays_.push_back({(o.at_px.x - view_.cx_px), (o.at_px.y - view_.cy_px)});
    }
  }

  int count(const Rigid3d& camera_from_object, double limit_px_sq) const {
    int agreeing = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Vec3d p = camera_from_object * points_[i];
      const double du = view_.fx_px * p.x - rays_[i].x * p.z;
      const double dv = view_.fy_px * p.y - rays_[i].y * p.z;
      agreeing += p.z >= kNearestDepth_m && du * du + dv * dv < limit_px_sq * p.z * p.z ? 1 : 0;
    }
    return agreeing;
  }

  const PinholeView& view() const { return view_; }

 private:
  const PinholeView& view_;
  std::vector<Vec3d> points_;
  std::vector<Vec2d> rays_;
};

/// Draws begin among the matches that stand out most and spread over all of them in the first half
/// of the trials.
std::uint32_t drawn_among(std::size_t count, int trial, int trials) {
  const double reached = 2.0 * (trial + 1) / trials;
  const double first = min_of(20.0, static_cast<double>(count));
  const double among = first + reached * (static_cast<double>(count) - first);
  return static_cast<std::uint32_t>(min_of(among, static_cast<double>(count)));
}

Rigid3d random_start(const Problem& problem, std::int32_t match, const Random& random,
                     std::uint64_t draw) {
  const double q[4] = {random.uniform(draw), random.uniform(draw + 1), random.uniform(draw + 2),
                       random.uniform(draw + 3)};
  const Rigid3d camera_from_object{
      to_matrix(normalized(Quaternion<double>{q[0], q[1], q[2], q[3]})), {0, 0, 0.5}};
  const PhotoObservation& o = problem.matches[static_cast<std::size_t>(match)];
  return inverse(problem.views[static_cast<std::size_t>(o.camera)].camera_from_world) *
         camera_from_object;
}

}  // namespace

PhotoFit fit_pose(const Problem& problem, std::span<const std::int32_t> matches,
                  const Rigid3d& start, PoseObjective objective, const PhotoFitOptions& options) {
  std::vector<PhotoObservation> observations;
  observations.reserve(matches.size());
  for (const std::int32_t m : matches) {
    observations.push_back(problem.matches[static_cast<std::size_t>(m)]);
  }
  return objective == PoseObjective::kReprojection
             ? fit_reprojection(problem.views, observations, start, options)
             : fit_backprojection(problem.views, observations, start, options);
}

void fit_to_agreeing(const Problem& problem, std::span<const std::int32_t> matches,
                     double limit_px_sq, PoseObjective objective, const PhotoFitOptions& options,
                     SampledPose& pose) {
  for (int round = 0; round < 5; ++round) {
    const PhotoFit fit =
        fit_pose(problem, pose.agreeing, pose.world_from_object, objective, options);
    std::vector<std::int32_t> agree =
        agreeing(problem, fit.world_from_object, matches, limit_px_sq);
    if (agree.size() < pose.agreeing.size()) break;
    const bool same = agree == pose.agreeing;
    pose = {fit.world_from_object, std::move(agree)};
    if (same) break;
  }
}

std::optional<SampledPose> search_by_least_squares(const Problem& problem,
                                                   std::span<const std::int32_t> matches,
                                                   const SampleSearch& search) {
  const Random random{problem.options.seed, search.stream};
  const auto count = static_cast<std::uint32_t>(matches.size());
  const int sample = min_of(min_of(search.sample, kMostSample), static_cast<int>(count));
  SampledPose best;
  if (sample < 3) return std::nullopt;
  for (int trial = 0; trial < search.trials; ++trial) {
    std::uint64_t draw = static_cast<std::uint64_t>(trial) * 2 * kDrawsPerTrial;
    std::int32_t drawn[kMostSample];
    if (!draw_sample(problem, random, draw, matches, count, sample, drawn)) continue;
    const Rigid3d start =
        search.start ? *search.start : random_start(problem, drawn[0], random, draw);
    const PhotoFit fit = fit_pose(problem, {drawn, static_cast<std::size_t>(sample)}, start,
                                  search.objective, search.fit);
    std::vector<std::int32_t> agree =
        agreeing(problem, fit.world_from_object, matches, search.limit_px_sq);
    if (agree.size() <= best.agreeing.size()) continue;
    best = {fit.world_from_object, std::move(agree)};
    if (search.first_success && best.agreeing.size() >= static_cast<std::size_t>(search.least)) {
      break;
    }
  }
  if (best.agreeing.size() < static_cast<std::size_t>(search.least)) return std::nullopt;
  fit_to_agreeing(problem, matches, search.limit_px_sq, search.objective, search.fit, best);
  return best;
}

std::optional<SampledPose> search_by_p3p(const Problem& problem,
                                         std::span<const std::int32_t> matches,
                                         const SampleSearch& search) {
  if (matches.size() < 3) return std::nullopt;
  const Random random{problem.options.seed, search.stream};
  const OneCamera camera(problem, matches);
  // Those that stand out most come first.
  std::vector<std::int32_t> sorted(matches.begin(), matches.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
    return problem.ratios[static_cast<std::size_t>(a)] <
           problem.ratios[static_cast<std::size_t>(b)];
  });
  int most = -1, trials = search.trials;
  Rigid3d best;
  for (int trial = 0; trial < trials; ++trial) {
    std::uint64_t draw = static_cast<std::uint64_t>(trial) * kDrawsPerTrial;
    std::int32_t drawn[3];
    const std::uint32_t among = drawn_among(sorted.size(), trial, search.trials);
    if (!draw_sample(problem, random, draw, sorted, among, 3, drawn)) continue;
    Vec3d points[3], rays[3];
    for (int i = 0; i < 3; ++i) {
      const PhotoObservation& o = problem.matches[static_cast<std::size_t>(drawn[i])];
      points[i] = o.point_m;
      rays[i] = ray_of(camera.view(), o.at_px);
    }
    const P3pSolutions solutions = solve_p3p(points, rays);
    for (int i = 0; i < solutions.count; ++i) {
      const int count = camera.count(solutions.camera_from_object[i], search.limit_px_sq);
      if (count <= most) continue;
      most = count;
      best = solutions.camera_from_object[i];
      if (count < search.least) continue;
      trials = trials_for(static_cast<double>(count) / static_cast<double>(sorted.size()), 3,
                          search.trials);
    }
    if (search.first_success && most >= search.least) break;
  }
  if (most < 3) return std::nullopt;
  SampledPose pose{inverse(camera.view().camera_from_world) * best, {}};
  pose.agreeing = agreeing(problem, pose.world_from_object, matches, search.limit_px_sq);
  if (pose.agreeing.size() < 3) return std::nullopt;
  fit_to_agreeing(problem, matches, search.limit_px_sq, search.objective, search.fit, pose);
  if (pose.agreeing.size() < static_cast<std::size_t>(search.least)) return std::nullopt;
  return pose;
}

std::vector<PhotoHypothesis> cluster_poses(const Problem& problem, const PhotoCluster& cluster,
                                           std::uint64_t number) {
  const PhotoPoseOptions& o = problem.options;
  std::vector<PhotoHypothesis> poses;
  std::vector<std::int32_t> left = cluster.matches;
  SampleSearch search;
  search.trials = o.trials;
  search.sample = o.sample;
  search.limit_px_sq = o.agree_px_sq;
  search.least = o.agree_points;
  search.first_success = o.first_success;
  search.fit = {o.fit_steps, o.squared_residuals};
  for (int run = 0; run < o.objects_per_cluster; ++run) {
    if (left.size() < static_cast<std::size_t>(o.agree_points)) break;
    search.stream = number * kStreams * 64 + static_cast<std::uint64_t>(run);
    const std::optional<SampledPose> pose = o.sampling == PoseSampling::kP3p
                                                ? search_by_p3p(problem, left, search)
                                                : search_by_least_squares(problem, left, search);
    if (!pose) break;
    poses.push_back({cluster.object, cluster.photo, pose->world_from_object, pose->agreeing, 0});
    std::vector<std::int32_t> rest;
    std::set_difference(left.begin(), left.end(), pose->agreeing.begin(), pose->agreeing.end(),
                        std::back_inserter(rest));
    left = std::move(rest);
  }
  return poses;
}

}  // namespace sextant::detail::photo_poses
