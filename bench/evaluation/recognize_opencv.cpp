// SPDX-License-Identifier: Apache-2.0
// Finds the objects of a BOP data set with OpenCV: point-pair features and ICP of its module
// surface_matching, which has no verification of its own. Lengths are shares of an object's
// diameter.
//
//   recognize_opencv DATASET --out results.csv [--first I] [--images N]
#include <algorithm>
#include <cmath>
#include <map>
#include <opencv2/surface_matching.hpp>
#include <opencv2/surface_matching/ppf_helpers.hpp>

#include "bench/evaluation/peer.h"

namespace sextant::peers {
namespace {

namespace ppf = cv::ppf_match_3d;

// In diameters, of models and scenes. Learning a finer model takes minutes: the detector walks
// through all pairs with an equal feature for each new one.
constexpr double kSampling = 0.07;
constexpr double kAngles = 30;
constexpr double kReferences = 200;  // of a scene, that vote; the time grows with them
/// The scene is divided into at most so many parts a side: the memory for them grows with the cube.
constexpr double kMostParts = 150;
constexpr std::size_t kRefined = 6;  // poses with most votes
constexpr std::size_t kMostReports = 5;
constexpr double kLeastOfBest = 0.6;  // of the votes of the best pose
constexpr double kLeastSupport = 0.25;
constexpr double kSupport = 0.03;  // in diameters: a point of the model this near is supported

cv::Mat rows_of(const OrientedPoints& points) {
  cv::Mat rows(static_cast<int>(points.size()), 6, CV_32F);
  for (int i = 0; i < rows.rows; ++i) {
    const Vec3f &p = points.points[static_cast<std::size_t>(i)],
                &n = points.normals[static_cast<std::size_t>(i)];
    const float values[] = {p.x, p.y, p.z, n.x, n.y, n.z};
    std::copy(values, values + 6, rows.ptr<float>(i));
  }
  return rows;
}

struct Model {
  int object_id = 0;
  double diameter_m = 0;
  Vec3d middle_m;
  cv::Mat dense;   ///< for ICP
  cv::Mat coarse;  ///< to count what the scene supports
  ppf::PPF3DDetector detector;
};

/// A scene at the scale of some objects.
struct Scene {
  cv::Mat dense;  ///< points and normals, 0.02 diameters apart
  double sampling = 0;
  double references = 0;
};

Scene scene_at(const PeerFrame& frame, double size_m) {
  const std::vector<Vec3f> points = thinned(without_support(frame, size_m), 0.02 * size_m);
  if (points.size() < 50) return {};
  cv::Mat bare(static_cast<int>(points.size()), 3, CV_32F);
  Vec3f low = points[0], high = points[0];
  for (int i = 0; i < bare.rows; ++i) {
    const Vec3f& p = points[static_cast<std::size_t>(i)];
    const float values[] = {p.x, p.y, p.z};
    std::copy(values, values + 3, bare.ptr<float>(i));
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  Scene scene;
  ppf::computeNormalsPC3d(bare, scene.dense, 20, true, cv::Vec3f(0, 0, 0));
  const Vec3f size = high - low;
  const double longest = std::max({size.x, size.y, size.z});
  // The detector's step is a share of the scene's box.
  scene.sampling = std::clamp(kSampling * size_m / longest, 1 / kMostParts, 0.5);
  const double left = static_cast<double>(thinned(points, scene.sampling * longest).size());
  scene.references = std::min(0.5, kReferences / left);
  return scene;
}

class OpenCv : public Recognizer {
 public:
  explicit OpenCv(const std::vector<PeerModel>& models) {
    for (const PeerModel& from : models) {
      auto model = std::make_unique<Model>();
      model->object_id = from.object_id;
      model->diameter_m = from.diameter_m;
      for (const Vec3f& p : from.surface.points) model->middle_m += cast<double>(p);
      model->middle_m = model->middle_m / static_cast<double>(from.surface.size());
      model->dense = rows_of(thinned(from.surface, 0.02 * from.diameter_m));
      model->coarse = rows_of(thinned(from.surface, 0.05 * from.diameter_m));
      model->detector = ppf::PPF3DDetector(kSampling, kSampling, kAngles);
      model->detector.setSearchParams(0.1 * from.diameter_m, 0.35, true);
      model->detector.trainModel(model->dense);
      models_.push_back(std::move(model));
    }
  }

  std::vector<Found> find(const PeerFrame& frame) override {
    std::map<double, Scene> scenes;
    std::vector<Found> found;
    for (const auto& model : models_) {
      const double size_m = rounded_length(model->diameter_m);
      auto [entry, is_new] = scenes.try_emplace(size_m);
      if (is_new) entry->second = scene_at(frame, size_m);
      if (entry->second.dense.empty()) continue;
      for (const Found& report : find(*model, entry->second)) found.push_back(report);
    }
    return found;
  }

 private:
  static std::vector<Found> find(Model& model, const Scene& scene) {
    std::vector<ppf::Pose3DPtr> poses;
    model.detector.match(scene.dense, poses, scene.references, scene.sampling);
    if (poses.empty()) return {};
    const auto most = static_cast<double>(poses[0]->numVotes);
    std::erase_if(poses, [&](const ppf::Pose3DPtr& pose) {
      return static_cast<double>(pose->numVotes) < kLeastOfBest * most;
    });
    if (poses.size() > kRefined) poses.resize(kRefined);
    ppf::ICP icp(60, 0.005f, 2.5f, 4);
    std::vector<Found> found;
    for (const ppf::Pose3DPtr& pose : poses) {
      const cv::Mat around =
          part_around(scene, rigid_of(pose->pose) * model.middle_m, 0.7 * model.diameter_m);
      if (around.rows < 50) continue;
      std::vector<ppf::Pose3DPtr> refined{pose->clone()};
      icp.registerModelToScene(model.dense, around, refined);
      const Rigid3d camera_from_object = rigid_of(refined[0]->pose);
      const double support = support_of(model, around, camera_from_object);
      const bool taken = std::any_of(found.begin(), found.end(), [&](const Found& other) {
        return norm(other.camera_from_object.translation - camera_from_object.translation) <
               0.25 * model.diameter_m;
      });
      if (support < kLeastSupport || taken) continue;
      found.push_back({model.object_id, support, camera_from_object});
      if (found.size() == kMostReports) break;
    }
    return found;
  }

  /// What lies near a place: ICP on the whole scene takes seconds a pose and finds other things.
  static cv::Mat part_around(const Scene& scene, const Vec3d& middle, double reach_m) {
    cv::Mat part(0, 6, CV_32F);
    for (int i = 0; i < scene.dense.rows; ++i) {
      const float* p = scene.dense.ptr<float>(i);
      if (norm(Vec3d{p[0], p[1], p[2]} - middle) < reach_m) part.push_back(scene.dense.row(i));
    }
    return part;
  }

  /// The share of the model's points that face the camera and have a point of the scene near.
  static double support_of(const Model& model, const cv::Mat& scene, const Rigid3d& pose) {
    const double near_m = kSupport * model.diameter_m;
    int facing = 0, supported = 0;
    for (int i = 0; i < model.coarse.rows; ++i) {
      const float* row = model.coarse.ptr<float>(i);
      const Vec3d p = pose * Vec3d{row[0], row[1], row[2]};
      const Vec3d n = pose.rotation * Vec3d{row[3], row[4], row[5]};
      if (dot(n, p) >= 0) continue;
      ++facing;
      for (int k = 0; k < scene.rows; ++k) {
        const float* q = scene.ptr<float>(k);
        if (norm_sq(Vec3d{q[0], q[1], q[2]} - p) >= near_m * near_m) continue;
        ++supported;
        break;
      }
    }
    return facing > 0 ? static_cast<double>(supported) / facing : 0.0;
  }

  std::vector<std::unique_ptr<Model>> models_;
};

}  // namespace
}  // namespace sextant::peers

int main(int argc, char** argv) {
  using namespace sextant::peers;
  return run(argc, argv,
             [](const std::vector<PeerModel>& models) { return std::make_unique<OpenCv>(models); });
}
