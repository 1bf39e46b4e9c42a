// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/core/progress.h"
#include "sextant/geometry/posed_camera.h"
#include "sextant/match/photo_matches.h"
#include "sextant/recognize/recognizer.h"

namespace sextant {

/// How the matches of an object in a photograph are parted by their places.
enum class PlaceClustering : std::int32_t {
  kMeanShift,     ///< flat kernel, modes that are near each other are one
  kAgglomerative  ///< that of MOPED's code: groups whose surroundings have nearly the same mean
                  ///< join
};
inline constexpr Choice<PlaceClustering> kPlaceClusterings[] = {
    {"mean_shift", PlaceClustering::kMeanShift},
    {"agglomerative", PlaceClustering::kAgglomerative}};

/// How a pose is made of a few matches.
enum class PoseSampling : std::int32_t {
  kP3p,         ///< closed form of three
  kRandomStart  ///< least squares from a random rotation, half a metre ahead
};
inline constexpr Choice<PoseSampling> kPoseSamplings[] = {
    {"p3p", PoseSampling::kP3p}, {"random_start", PoseSampling::kRandomStart}};

/// What least squares minimise.
enum class PoseObjective : std::int32_t {
  kReprojection,   ///< distances in the photographs, px
  kBackprojection  ///< distances of points from rays, m
};
inline constexpr Choice<PoseObjective> kPoseObjectives[] = {
    {"reprojection", PoseObjective::kReprojection},
    {"backprojection", PoseObjective::kBackprojection}};

/// How poses that mean the same are brought together.
enum class PoseGrouping : std::int32_t {
  kProjection,  ///< each feature goes to the best pose that projects its point nearby
  kPoseSpace    ///< mean shift over places and quaternions
};
inline constexpr Choice<PoseGrouping> kPoseGroupings[] = {{"projection", PoseGrouping::kProjection},
                                                          {"pose_space", PoseGrouping::kPoseSpace}};

/// Which of several poses is best.
enum class PoseRanking : std::int32_t {
  kQScore,            ///< Σ 1 / (1 + d²/σ²)
  kCount,             ///< matches that agree
  kReprojectionSum,   ///< least sum of the distances of those that agree
  kReprojectionMean,  ///< least mean of these
};
inline constexpr Choice<PoseRanking> kPoseRankings[] = {
    {"q_score", PoseRanking::kQScore},
    {"count", PoseRanking::kCount},
    {"reprojection_sum", PoseRanking::kReprojectionSum},
    {"reprojection_mean", PoseRanking::kReprojectionMean}};

/// What is made of several photographs of one moment.
enum class PhotoFusion : std::int32_t {
  kCombined,     ///< poses of single photographs are brought together and fitted to all of them
  kGeneralised,  ///< all matches of an object are one camera with many centres, for comparison
  kAveraged      ///< means of the poses of single photographs, for comparison
};
inline constexpr Choice<PhotoFusion> kPhotoFusions[] = {{"combined", PhotoFusion::kCombined},
                                                        {"generalised", PhotoFusion::kGeneralised},
                                                        {"averaged", PhotoFusion::kAveraged}};

/// How poses are made of matches: the steps of MOPED (Collet, Martinez and Srinivasa, IJRR 2011).
struct PhotoPoseOptions {
  // Clusters of matches, one object and one photograph each.
  PlaceClustering clustering = PlaceClustering::kMeanShift;
  float cluster_radius_px = 100;  ///< of the kernel
  float merge_px = 20;            ///< modes, or means, nearer than this are one
  // Poses of clusters.
  PoseSampling sampling = PoseSampling::kP3p;
  int sample = 5;                  ///< matches of a random start; P3P takes 3
  int trials = 500;                ///< samples of a cluster, for each object in it
  int fit_steps = 100;             ///< of least squares
  bool squared_residuals = false;  ///< fourth powers of distances, as MOPED's code minimises
  bool first_success =
      false;               ///< takes the first pose that enough matches agree with, not the best
  float agree_px_sq = 10;  ///< squared distance of a match that agrees
  int agree_points = 6;    ///< fewer that agree are no pose
  int objects_per_cluster = 4;
  // Grouping of poses.
  PoseGrouping grouping = PoseGrouping::kProjection;
  PoseRanking ranking = PoseRanking::kQScore;
  bool nearest_first = true;      ///< a feature goes to a pose that it agrees with if there is one
  float gamma_px = 64;            ///< a pose may claim features up to so far
  float sigma_px = 2;             ///< of the Q-score
  int group_points = 6;           ///< poses with fewer features are dropped
  float group_score = 2;          ///< and those with a smaller Q-score
  float group_m = 0.05f;          ///< radius in space, for pose_space
  float group_quaternion = 0.2f;  ///< and of quaternions
  // Refinement over all photographs.
  PoseObjective refine_objective = PoseObjective::kBackprojection;
  int refine_trials = 24;
  int refine_sample = 5;
  int refine_steps = 500;
  bool refine_random_start = false;
  float refine_px_sq = 5;
  int refine_points = 8;
  bool turn_over = true;  ///< tries the other pose of something nearly flat as well
  // The last grouping.
  int final_points = 8;
  float final_score = 3;
  bool polish = true;  ///< ends with least squares of distances in the photographs
  /// Rejects a pose most of whose features lie within the outline of another one of the same object
  /// with more features.
  bool once_in_a_place = true;
  // Several photographs.
  PhotoFusion fusion = PhotoFusion::kCombined;
  int least_views = 2;       ///< that must support a pose where there are several
  float least_share = 0.5f;  ///< of the points of the poses that went into one: those that agree
  float average_m = 0.05f;   ///< poses of single photographs that are averaged with the best
  float average_rad = 0.2618f;
  int generalised_trials = 1000;
  // Answer.
  float accept = 0.5f;  ///< least score of a detection
  std::uint32_t seed = 0;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("clustering", self.clustering, "how matches are parted by place", kPlaceClusterings);
    visit("cluster_radius_px", self.cluster_radius_px, "radius of a cluster of matches",
          Range{1, 1e5});
    visit("merge_px", self.merge_px, "modes nearer than this are one", Range{0, 1e5});
    visit("sampling", self.sampling, "how a pose is made of a few matches", kPoseSamplings);
    visit("sample", self.sample, "matches of a random start", Range{3, 20});
    visit("trials", self.trials, "samples of a cluster for each object in it", Range{1, 1e6});
    visit("fit_steps", self.fit_steps, "of least squares, for hypotheses", Range{1, 10000});
    visit("squared_residuals", self.squared_residuals,
          "minimise fourth powers of distances, as the original code does");
    visit("first_success", self.first_success,
          "take the first pose that enough matches agree with, not the best");
    visit("agree_px_sq", self.agree_px_sq, "squared distance of a match that agrees",
          Range{1e-3, 1e6});
    visit("agree_points", self.agree_points, "fewer matches that agree are no pose", Range{4, 1e6});
    visit("objects_per_cluster", self.objects_per_cluster, "poses of a cluster", Range{1, 1000});
    visit("grouping", self.grouping, "how poses that mean the same are found", kPoseGroupings);
    visit("ranking", self.ranking, "which of several poses is best", kPoseRankings);
    visit("nearest_first", self.nearest_first,
          "a feature goes to a pose that it agrees with if there is one");
    visit("gamma_px", self.gamma_px, "how far off a pose may claim features", Range{1, 1e5});
    visit("sigma_px", self.sigma_px, "of the Q-score", Range{0.01, 1000});
    visit("group_points", self.group_points, "poses with fewer features are dropped",
          Range{3, 1e6});
    visit("group_score", self.group_score, "poses with a smaller Q-score are dropped",
          Range{0, 1e6});
    visit("group_m", self.group_m, "radius in space of a group of poses", Range{1e-6, 1e3});
    visit("group_quaternion", self.group_quaternion, "radius of a group's quaternions",
          Range{1e-6, 2});
    visit("refine_objective", self.refine_objective, "what refinement minimises", kPoseObjectives);
    visit("refine_trials", self.refine_trials, "samples of a refinement", Range{1, 1e6});
    visit("refine_sample", self.refine_sample, "matches of a sample of refinement", Range{3, 20});
    visit("refine_steps", self.refine_steps, "of least squares, for refinement", Range{1, 10000});
    visit("refine_random_start", self.refine_random_start,
          "begin refinement anywhere instead of at the pose");
    visit("refine_px_sq", self.refine_px_sq, "squared distance of a match that agrees, refined",
          Range{1e-3, 1e6});
    visit("refine_points", self.refine_points, "fewer that agree are no refined pose",
          Range{4, 1e6});
    visit("turn_over", self.turn_over, "try the other pose that something nearly flat may have");
    visit("final_points", self.final_points, "poses with fewer features are dropped at the end",
          Range{4, 1e6});
    visit("final_score", self.final_score, "and those with a smaller Q-score", Range{0, 1e6});
    visit("polish", self.polish, "end with least squares in the photographs");
    visit("once_in_a_place", self.once_in_a_place,
          "reject poses within the outline of a better one of the same object");
    visit("fusion", self.fusion, "what is made of several photographs", kPhotoFusions);
    visit("least_views", self.least_views, "photographs that must support a pose, of several",
          Range{1, 1000});
    visit("least_share", self.least_share, "of the joined poses' points that must agree",
          Range{0, 1});
    visit("average_m", self.average_m, "how far from the best poses are averaged", Range{0, 1e3});
    visit("average_rad", self.average_rad, "how far turned from the best poses are averaged",
          Range{0, 3.15});
    visit("generalised_trials", self.generalised_trials, "samples over all photographs",
          Range{1, 1e6});
    visit("accept", self.accept, "least score of a detection", Range{0, 1});
    visit("seed", self.seed, "of the random draws", Range{0, 4294967295.0});
  }
};

/// Sets of options.
enum class PhotoPreset : std::int32_t {
  kDefault,  ///< what works best here
  kPaper,    ///< as the paper says, where it does
  kCode      ///< as MOPED's code for large photographs has it
};
inline constexpr Choice<PhotoPreset> kPhotoPresets[] = {{"default", PhotoPreset::kDefault},
                                                        {"paper", PhotoPreset::kPaper},
                                                        {"code", PhotoPreset::kCode}};
PhotoPoseOptions photo_pose_options(PhotoPreset preset);

/// What is said of an object that is looked for: its name and its size.
struct PhotoObject {
  std::string name;
  Vec3d centre_m;         ///< that covariances are about, in the object's frame
  double diameter_m = 1;  ///< deviations along open directions
};

/// What the score of a pose is made of.
struct PhotoPoseTerms {
  double agreeing = 0;   ///< matches that agree, refine_px_sq
  double share = 0;      ///< of the object's matches that lie within the outline of those
  double spread_px = 0;  ///< smaller deviation of their places
  double rms_px = 0;     ///< of their distances
  double q_score = 0;
  double chance = 0;    ///< decimal logarithm of how many such poses chance would make
  double turn_rad = 0;  ///< largest deviation of the rotation, by the covariance
};

/// What the score is a logistic function of: one, the logarithm of `agreeing`, `share`, the
/// logarithm of `turn_rad`, and how far log(`agreeing`) is below that of 8, for poses of few
/// features.
inline constexpr int kPhotoScoreTerms = 5;
std::array<double, kPhotoScoreTerms> photo_score_terms(const PhotoPoseTerms& terms);

/// An object found in photographs, or a pose that was considered and rejected.
struct PhotoDetection {
  std::string object;
  std::int32_t object_index = -1;
  Rigid3d world_from_object;  ///< for one camera that is the world: camera_from_object
  double score = 0;           ///< in [0, 1]: how probable it is that the pose is right
  /// Of a small motion about the object's centre in the world's axes, as Detection::covariance.
  std::array<double, 36> covariance{};
  Vec3d centre_m;  ///< the point, in the object's frame, that the covariance is about
  PhotoPoseTerms terms;
  int views = 0;                      ///< photographs with matches that agree
  std::vector<std::int32_t> inliers;  ///< matches that agree, ascending
  std::string reason;                 ///< why it was rejected; empty for a detection
};

/// A cluster of matches, for those who want to see them.
struct PhotoCluster {
  std::int32_t object = 0;
  std::int32_t photo = 0;
  std::vector<std::int32_t> matches;  ///< ascending
};

/// A pose on its way.
struct PhotoHypothesis {
  std::int32_t object = 0;
  std::int32_t photo = -1;  ///< of the cluster; -1 where several photographs went into it
  Rigid3d world_from_object;
  std::vector<std::int32_t> matches;  ///< that agree, or that it claims
  double q_score = 0;
};

/// Matches and poses on their way through the steps.
struct PhotoTrace {
  std::vector<PhotoCluster> clusters;
  std::vector<PhotoHypothesis> hypotheses;  ///< of clusters
  std::vector<PhotoHypothesis> grouped;     ///< after the first grouping
  std::vector<PhotoHypothesis> refined;     ///< that refinement added
};

struct PhotoPoses {
  std::vector<PhotoDetection> detections;  ///< from the highest score down
  std::vector<PhotoDetection> rejected;    ///< likewise, at most 1000
  std::vector<StepTime> times;
};

/// Finds the poses of objects from matches of their points, by iterative clustering and estimation:
/// matches are clustered by place, each cluster gives poses, poses claim features, and what they
/// claim is fitted over all photographs. Matches name objects by their places in `objects` and
/// photographs by those in `cameras`, whose distortion is not used. Matches that are not finite are
/// left out; names out of range throw Error.
///
/// One feature supports one object. The same bits for any number of threads. Runs on the CPU, on a
/// CUDA context it throws. Work is bounded: trials × clusters × their matches; of one object at
/// most 2000 poses in a step.
PhotoPoses find_photo_poses(const Context& context, std::span<const PhotoMatch> matches,
                            std::span<const PosedCamera> cameras,
                            std::span<const PhotoObject> objects,
                            const PhotoPoseOptions& options = {}, const Progress& progress = {},
                            PhotoTrace* trace = nullptr);

}  // namespace sextant
