// SPDX-License-Identifier: Apache-2.0
// Finds the objects of a BOP data set with PCL: SHOT at uniform keypoints, Hough voting, ICP, and
// the global verification of hypotheses. Lengths are shares of an object's diameter.
//
//   recognize_pcl DATASET --out results.csv [--first I] [--images N]
#include <pcl/console/print.h>
#include <pcl/correspondence.h>
#include <pcl/features/normal_3d_omp.h>
#include <pcl/features/shot_lrf_omp.h>
#include <pcl/features/shot_omp.h>
#include <pcl/kdtree/kdtree_flann.h>
#include <pcl/point_types.h>
#include <pcl/recognition/cg/hough_3d.h>
#include <pcl/recognition/hv/hv_go.h>
#include <pcl/registration/icp.h>
// The library's own copy of this file calls every normal of a model wrong, so that nothing is ever
// accepted; CMake makes a mended one, and what is instantiated here comes before what is in the
// library.
#include <pcl/recognition/impl/hv/hv_go.hpp>

#include <iostream>
#include <map>
#include <sstream>

#include "bench/evaluation/peer.h"

namespace sextant::peers {
namespace {

using Points = pcl::PointCloud<pcl::PointXYZ>;
using Normals = pcl::PointCloud<pcl::Normal>;
using Frames = pcl::PointCloud<pcl::ReferenceFrame>;
using Shots = pcl::PointCloud<pcl::SHOT352>;

// In diameters.
constexpr double kVoxel = 0.02;  // of the surfaces on which descriptors stand
constexpr double kModelKeypoints = 0.05;
constexpr double kSceneKeypoints = 0.08;
constexpr double kNormals = 0.06;
constexpr double kShot = 0.25;
constexpr double kHoughBin = 0.1;
constexpr double kIcp = 0.05;
constexpr float kMostShotDistanceSq = 0.35f;  // the tutorial has 0.25, which real noise exceeds
constexpr double kLeastVotes = 4;
constexpr std::size_t kMostHypotheses = 12;  // of an object, those with most votes

Points::Ptr cloud_of(const std::vector<Vec3f>& points) {
  Points::Ptr cloud(new Points);
  for (const Vec3f& p : points) cloud->emplace_back(p.x, p.y, p.z);
  return cloud;
}

Normals::Ptr normals_of(const OrientedPoints& points) {
  Normals::Ptr normals(new Normals);
  for (const Vec3f& n : points.normals) normals->emplace_back(n.x, n.y, n.z);
  return normals;
}

/// Keypoints with what PCL says of them.
struct Description {
  Points::Ptr keypoints;
  Frames::Ptr frames;
  Shots::Ptr shots;
};

Description describe(const Points::Ptr& keypoints, const Points::Ptr& surface,
                     const Normals::Ptr& normals, double size_m) {
  Description raw{keypoints, Frames::Ptr(new Frames), Shots::Ptr(new Shots)};
  pcl::SHOTEstimationOMP<pcl::PointXYZ, pcl::Normal, pcl::SHOT352> shot;
  shot.setRadiusSearch(kShot * size_m);
  shot.setInputCloud(keypoints);
  shot.setSearchSurface(surface);
  shot.setInputNormals(normals);
  shot.compute(*raw.shots);
  Description result{Points::Ptr(new Points), Frames::Ptr(new Frames), Shots::Ptr(new Shots)};
  for (std::size_t i = 0; i < raw.shots->size(); ++i) {
    const pcl::SHOT352& d = (*raw.shots)[i];
    if (!std::isfinite(d.descriptor[0]) || !std::isfinite(d.rf[0])) continue;
    result.keypoints->push_back((*keypoints)[i]);
    result.shots->push_back(d);
    pcl::ReferenceFrame frame;
    std::copy(d.rf, d.rf + 9, frame.rf);
    result.frames->push_back(frame);
  }
  return result;
}

struct Model {
  int object_id = 0;
  double size_m = 0;  ///< the diameter, rounded
  Points::Ptr surface;
  Description description;
  pcl::KdTreeFLANN<pcl::SHOT352> tree;
};

/// A scene at the scale of some objects.
struct Scene {
  Points::Ptr surface;
  Description description;
};

struct Hypothesis {
  const Model* model = nullptr;
  double votes = 0;
  Eigen::Matrix4f pose;
  Points::Ptr placed;
};

class Pcl : public Recognizer {
 public:
  explicit Pcl(const std::vector<PeerModel>& models) {
    for (const PeerModel& from : models) {
      auto model = std::make_unique<Model>();
      model->object_id = from.object_id;
      model->size_m = rounded_length(from.diameter_m);
      const OrientedPoints surface = thinned(from.surface, kVoxel * model->size_m);
      model->surface = cloud_of(surface.points);
      model->description =
          describe(cloud_of(thinned(surface.points, kModelKeypoints * model->size_m)),
                   model->surface, normals_of(surface), model->size_m);
      if (model->description.shots->empty()) continue;
      model->tree.setInputCloud(model->description.shots);
      models_.push_back(std::move(model));
    }
  }

  std::vector<Found> find(const PeerFrame& frame) override {
    std::map<double, Scene> scenes;
    std::vector<Hypothesis> hypotheses;
    for (const auto& model : models_) {
      auto [entry, is_new] = scenes.try_emplace(model->size_m);
      if (is_new) entry->second = scene_at(frame, model->size_m);
      if (entry->second.description.shots->empty()) continue;
      for (Hypothesis& h : vote(*model, entry->second)) hypotheses.push_back(std::move(h));
    }
    for (Hypothesis& h : hypotheses) refine(h, scenes.at(h.model->size_m).surface);
    return verified(frame, hypotheses);
  }

 private:
  static Scene scene_at(const PeerFrame& frame, double size_m) {
    const std::vector<Vec3f> points = thinned(without_support(frame, size_m), kVoxel * size_m);
    Points::Ptr all = cloud_of(points);
    Normals::Ptr all_normals(new Normals);
    pcl::NormalEstimationOMP<pcl::PointXYZ, pcl::Normal> estimation;
    estimation.setRadiusSearch(kNormals * size_m);
    estimation.setInputCloud(all);
    estimation.compute(*all_normals);
    // Points that stand alone have no normal, and SHOT complains about each.
    Scene scene{Points::Ptr(new Points), {}};
    Normals::Ptr normals(new Normals);
    std::vector<Vec3f> left;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!pcl::isNormalFinite((*all_normals)[i])) continue;
      scene.surface->push_back((*all)[i]);
      normals->push_back((*all_normals)[i]);
      left.push_back(points[i]);
    }
    scene.description =
        describe(cloud_of(thinned(left, kSceneKeypoints * size_m)), scene.surface, normals, size_m);
    return scene;
  }

  static std::vector<Hypothesis> vote(const Model& model, const Scene& scene) {
    pcl::CorrespondencesPtr pairs(new pcl::Correspondences);
    pcl::Indices nearest(1);
    std::vector<float> distance_sq(1);
    for (std::size_t i = 0; i < scene.description.shots->size(); ++i) {
      const pcl::SHOT352& d = (*scene.description.shots)[i];
      if (model.tree.nearestKSearch(d, 1, nearest, distance_sq) == 1 &&
          distance_sq[0] < kMostShotDistanceSq) {
        pairs->emplace_back(nearest[0], static_cast<int>(i), distance_sq[0]);
      }
    }
    if (pairs->size() < 3) return {};
    pcl::Hough3DGrouping<pcl::PointXYZ, pcl::PointXYZ> hough;
    hough.setHoughBinSize(kHoughBin * model.size_m);
    hough.setHoughThreshold(kLeastVotes);
    hough.setUseInterpolation(true);
    hough.setInputCloud(model.description.keypoints);
    hough.setInputRf(model.description.frames);
    hough.setSceneCloud(scene.description.keypoints);
    hough.setSceneRf(scene.description.frames);
    hough.setModelSceneCorrespondences(pairs);
    std::vector<Eigen::Matrix4f, Eigen::aligned_allocator<Eigen::Matrix4f>> poses;
    std::vector<pcl::Correspondences> groups;
    hough.recognize(poses, groups);
    std::vector<Hypothesis> result;
    for (std::size_t i = 0; i < poses.size(); ++i) {
      result.push_back({&model, static_cast<double>(groups[i].size()), poses[i], nullptr});
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Hypothesis& a, const Hypothesis& b) { return a.votes > b.votes; });
    if (result.size() > kMostHypotheses) result.resize(kMostHypotheses);
    return result;
  }

  static void refine(Hypothesis& h, const Points::Ptr& scene) {
    Points::Ptr placed(new Points);
    pcl::transformPointCloud(*h.model->surface, *placed, h.pose);
    pcl::IterativeClosestPoint<pcl::PointXYZ, pcl::PointXYZ> icp;
    icp.setMaximumIterations(30);
    icp.setMaxCorrespondenceDistance(kIcp * h.model->size_m);
    icp.setInputTarget(scene);
    icp.setInputSource(placed);
    h.placed.reset(new Points);
    icp.align(*h.placed);
    h.pose = icp.getFinalTransformation() * h.pose;
  }

  /// The hypotheses that explain the scene best together, at the scale of the smallest of them.
  static std::vector<Found> verified(const PeerFrame& frame,
                                     const std::vector<Hypothesis>& hypotheses) {
    if (hypotheses.empty()) return {};
    double size_m = hypotheses[0].model->size_m, largest_m = size_m;
    std::vector<Points::ConstPtr> placed;
    for (const Hypothesis& h : hypotheses) {
      size_m = std::min(size_m, h.model->size_m);
      largest_m = std::max(largest_m, h.model->size_m);
      placed.push_back(h.placed);
    }
    Points::Ptr scene = cloud_of(thinned(near_enough(frame, largest_m), kVoxel * size_m));
    pcl::GlobalHypothesesVerification<pcl::PointXYZ, pcl::PointXYZ> verification;
    verification.setResolution(static_cast<float>(kVoxel * size_m));
    verification.setResolutionOccupancyGrid(static_cast<float>(2 * kVoxel * size_m));
    verification.setInlierThreshold(static_cast<float>(0.06 * size_m));
    verification.setOcclusionThreshold(static_cast<float>(0.08 * size_m));
    verification.setRadiusNormals(static_cast<float>(0.15 * size_m));
    verification.setRadiusClutter(static_cast<float>(0.12 * size_m));
    verification.setRegularizer(1.0f);
    verification.setClutterRegularizer(1.0f);
    verification.setDetectClutter(true);
    verification.setSceneCloud(scene);
    verification.setOcclusionCloud(scene);
    // PCL prints the times of its steps on stderr.
    std::ostringstream unread;
    std::streambuf* const err = std::cerr.rdbuf(unread.rdbuf());
    std::vector<bool> accepted;
    verification.addModels(placed, true);
    verification.verify();
    verification.getMask(accepted);
    std::cerr.rdbuf(err);
    std::vector<Found> found;
    for (std::size_t i = 0; i < hypotheses.size() && i < accepted.size(); ++i) {
      const Hypothesis& h = hypotheses[i];
      if (accepted[i]) found.push_back({h.model->object_id, h.votes, rigid_of(h.pose)});
    }
    return found;
  }

  std::vector<std::unique_ptr<Model>> models_;
};

}  // namespace
}  // namespace sextant::peers

int main(int argc, char** argv) {
  using namespace sextant::peers;
  pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  return run(argc, argv,
             [](const std::vector<PeerModel>& models) { return std::make_unique<Pcl>(models); });
}
