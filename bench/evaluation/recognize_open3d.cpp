// SPDX-License-Identifier: Apache-2.0
// Finds the objects of a BOP data set with Open3D: FPFH, RANSAC over their matches, and
// point-to-plane ICP. What was found is taken out of the scene, and the object is sought again.
// Lengths are shares of an object's diameter.
//
//   recognize_open3d DATASET --out results.csv [--first I] [--images N]
#include <open3d/geometry/KDTreeFlann.h>
#include <open3d/geometry/PointCloud.h>
#include <open3d/pipelines/registration/CorrespondenceChecker.h>
#include <open3d/pipelines/registration/Feature.h>
#include <open3d/pipelines/registration/Registration.h>

#include <map>

#include "bench/evaluation/peer.h"

namespace sextant::peers {
namespace {

using open3d::geometry::KDTreeFlann;
using open3d::geometry::KDTreeSearchParamHybrid;
using open3d::geometry::PointCloud;
namespace registration = open3d::pipelines::registration;

// In diameters.
constexpr double kVoxel = 0.04;
constexpr double kNormals = 0.1;
constexpr double kFeature = 0.25;
constexpr double kRansac = 0.06;
constexpr double kIcp = 0.04;
constexpr int kTrials = 100000;
constexpr int kMostInstances = 5;
/// Of the points of the whole model: a camera sees hardly more than half of them.
constexpr double kLeastFitness = 0.3;

PointCloud cloud_of(const std::vector<Vec3f>& points) {
  PointCloud cloud;
  for (const Vec3f& p : points) cloud.points_.emplace_back(p.x, p.y, p.z);
  return cloud;
}

struct Described {
  PointCloud cloud;
  registration::Feature feature;

  void describe(double size_m) {
    feature =
        *registration::ComputeFPFHFeature(cloud, KDTreeSearchParamHybrid(kFeature * size_m, 100));
  }
};

struct Model {
  int object_id = 0;
  double size_m = 0;
  Described described;
};

class Open3d : public Recognizer {
 public:
  explicit Open3d(const std::vector<PeerModel>& models) {
    for (const PeerModel& from : models) {
      Model model{from.object_id, rounded_length(from.diameter_m), {}};
      const OrientedPoints surface = thinned(from.surface, kVoxel * model.size_m);
      model.described.cloud = cloud_of(surface.points);
      for (const Vec3f& n : surface.normals) {
        model.described.cloud.normals_.emplace_back(n.x, n.y, n.z);
      }
      model.described.describe(model.size_m);
      models_.push_back(std::move(model));
    }
  }

  std::vector<Found> find(const PeerFrame& frame) override {
    std::map<double, Described> scenes;
    std::vector<Found> found;
    for (const Model& model : models_) {
      auto [entry, is_new] = scenes.try_emplace(model.size_m);
      if (is_new) entry->second = scene_at(frame, model.size_m);
      Described scene = entry->second;
      for (int i = 0; i < kMostInstances && scene.cloud.points_.size() > 30; ++i) {
        const registration::RegistrationResult best = register_once(model, scene);
        if (best.fitness_ < kLeastFitness) break;
        found.push_back(found_of(model, best));
        take_out(model, best.transformation_, scene);
      }
    }
    return found;
  }

 private:
  static Described scene_at(const PeerFrame& frame, double size_m) {
    Described scene;
    scene.cloud = *cloud_of(without_support(frame, size_m)).VoxelDownSample(kVoxel * size_m);
    scene.cloud.EstimateNormals(KDTreeSearchParamHybrid(kNormals * size_m, 30));
    scene.cloud.OrientNormalsTowardsCameraLocation(Eigen::Vector3d::Zero());
    scene.describe(size_m);
    return scene;
  }

  static registration::RegistrationResult register_once(const Model& model,
                                                        const Described& scene) {
    const double reach_m = kRansac * model.size_m;
    const registration::CorrespondenceCheckerBasedOnEdgeLength edges(0.9);
    const registration::CorrespondenceCheckerBasedOnDistance distance(reach_m);
    const registration::CorrespondenceCheckerBasedOnNormal normals(0.5);
    const auto first = registration::RegistrationRANSACBasedOnFeatureMatching(
        model.described.cloud, scene.cloud, model.described.feature, scene.feature, false, reach_m,
        registration::TransformationEstimationPointToPoint(false), 3, {edges, distance, normals},
        registration::RANSACConvergenceCriteria(kTrials, 0.999));
    return registration::RegistrationICP(model.described.cloud, scene.cloud, kIcp * model.size_m,
                                         first.transformation_,
                                         registration::TransformationEstimationPointToPlane(),
                                         registration::ICPConvergenceCriteria(1e-6, 1e-6, 50));
  }

  static void take_out(const Model& model, const Eigen::Matrix4d& pose, Described& scene) {
    PointCloud placed = model.described.cloud;
    placed.Transform(pose);
    const KDTreeFlann tree(placed);
    std::vector<std::size_t> left;
    std::vector<int> nearest;
    std::vector<double> distance_sq;
    const double reach_m = 1.5 * kVoxel * model.size_m;
    for (std::size_t i = 0; i < scene.cloud.points_.size(); ++i) {
      tree.SearchKNN(scene.cloud.points_[i], 1, nearest, distance_sq);
      if (distance_sq.empty() || distance_sq[0] > reach_m * reach_m) left.push_back(i);
    }
    registration::Feature feature;
    feature.Resize(static_cast<int>(scene.feature.Dimension()), static_cast<int>(left.size()));
    for (std::size_t i = 0; i < left.size(); ++i) {
      feature.data_.col(static_cast<Eigen::Index>(i)) =
          scene.feature.data_.col(static_cast<Eigen::Index>(left[i]));
    }
    scene.cloud = *scene.cloud.SelectByIndex(left);
    scene.feature = feature;
  }

  static Found found_of(const Model& model, const registration::RegistrationResult& result) {
    return {model.object_id, result.fitness_, rigid_of(result.transformation_)};
  }

  std::vector<Model> models_;
};

}  // namespace
}  // namespace sextant::peers

int main(int argc, char** argv) {
  using namespace sextant::peers;
  return run(argc, argv,
             [](const std::vector<PeerModel>& models) { return std::make_unique<Open3d>(models); });
}
