// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pcl/features/integral_image_normal.h>

#include <functional>
#include <memory>
#include <opencv2/core.hpp>
#include <opencv2/rgbd.hpp>
#include <string>
#include <vector>

#if defined(SEXTANT_OPEN3D)
#include <open3d/geometry/PointCloud.h>
#endif

#include "bench/sphere_scene.h"
#include "sextant/surface/normals.h"

// Normals of one scene by us and by every peer that has them.

namespace sextant::measure {

using PclCloud = pcl::PointCloud<pcl::PointXYZ>;
using PclMethod = pcl::IntegralImageNormalEstimation<pcl::PointXYZ, pcl::Normal>;

/// One way to make normals: its time and its error at each noise.
struct Contender {
  std::string name;
  int reach_px = 7;  ///< the side of the square that it reads
  std::function<void()> run;
  std::function<Vec3d(std::size_t)> normal_at;
};

/// OpenCV's estimator with its tables made beforehand.
struct OpenCvNormals {
  cv::Mat points;
  cv::Mat depth;
  cv::Mat normals;
  cv::Ptr<cv::rgbd::RgbdNormals> estimator;
  bool from_depth = false;

  OpenCvNormals(const SphereScene& scene, int method)
      : points(kHeight, kWidth, CV_32FC3), depth(kHeight, kWidth, CV_32F) {
    from_depth = method == cv::rgbd::RgbdNormals::RGBD_NORMALS_METHOD_LINEMOD;
    for (int i = 0; i < kWidth * kHeight; ++i) {
      const Vec3f& p = scene.points[static_cast<std::size_t>(i)];
      points.at<cv::Vec3f>(i / kWidth, i % kWidth) = {p.x, p.y, p.z};
      depth.at<float>(i / kWidth, i % kWidth) = p.z;
    }
    const cv::Mat camera = (cv::Mat_<float>(3, 3) << kFocal_px, 0, (kWidth - 1) / 2.0, 0, kFocal_px,
                            (kHeight - 1) / 2.0, 0, 0, 1);
    estimator = cv::makePtr<cv::rgbd::RgbdNormals>(kHeight, kWidth, CV_32F, camera, 7, method);
    estimator->initialize();
  }
  void run() { (*estimator)(from_depth ? depth : points, normals); }
  Vec3d normal_at(std::size_t i) const {
    const auto pixel = static_cast<int>(i);
    const cv::Vec3f n = normals.at<cv::Vec3f>(pixel / kWidth, pixel % kWidth);
    return {n[0], n[1], n[2]};
  }
};

inline PclCloud::Ptr pcl_cloud(const SphereScene& scene) {
  auto cloud = std::make_shared<PclCloud>(kWidth, kHeight);
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    (*cloud)[i] = {scene.points[i].x, scene.points[i].y, scene.points[i].z};
  }
  return cloud;
}

struct PclNormals {
  PclCloud::Ptr cloud;
  pcl::PointCloud<pcl::Normal> normals;
  PclMethod::NormalEstimationMethod method;

  PclNormals(const SphereScene& scene, PclMethod::NormalEstimationMethod chosen)
      : cloud(pcl_cloud(scene)), method(chosen) {}
  void run() {
    // The integral images are part of the work: they depend on the frame.
    PclMethod estimator;
    estimator.setNormalEstimationMethod(method);
    estimator.setMaxDepthChangeFactor(0.02f);
    estimator.setNormalSmoothingSize(7.0f);
    estimator.setInputCloud(cloud);
    estimator.compute(normals);
  }
  Vec3d normal_at(std::size_t i) const {
    return {normals[i].normal_x, normals[i].normal_y, normals[i].normal_z};
  }
};

struct OurNormals {
  Context context = Context::cpu();
  Image<Vec3f> points;
  Image<Vec3f> normals;
  NormalsOptions options;

  OurNormals(const SphereScene& scene, const NormalsOptions& chosen)
      : points(copy(context, scene.points), kWidth, kHeight),
        normals(context, kWidth, kHeight),
        options(chosen) {}
  void run() { estimate_normals_into(context, points, options, normals); }
  Vec3d normal_at(std::size_t i) const { return cast<double>(normals.pixels().host()[i]); }
};

#if defined(SEXTANT_OPEN3D)
/// Open3D knows clouds only: as many neighbours as the window has pixels.
struct Open3dNormals {
  open3d::geometry::PointCloud cloud;
  int neighbours;

  Open3dNormals(const SphereScene& scene, int chosen) : neighbours(chosen) {
    for (const Vec3f& p : scene.points) cloud.points_.emplace_back(p.x, p.y, p.z);
  }
  void run() {
    cloud.normals_.clear();
    cloud.EstimateNormals(open3d::geometry::KDTreeSearchParamKNN(neighbours));
  }
  Vec3d normal_at(std::size_t i) const {
    return {cloud.normals_[i].x(), cloud.normals_[i].y(), cloud.normals_[i].z()};
  }
};
#endif

template <class Estimator, class Method>
Contender contender(const std::string& name, int reach_px, const SphereScene& scene,
                    Method method) {
  auto estimator = std::make_shared<Estimator>(scene, method);
  return {name, reach_px, [estimator] { estimator->run(); },
          [estimator](std::size_t i) { return estimator->normal_at(i); }};
}

/// Ours by these methods, with windows of 7 x 7 and 9 x 9 pixels.
inline std::vector<Contender> our_normals(const SphereScene& scene) {
  std::vector<Contender> all;
  for (const int radius_px : {3, 4}) {
    for (const auto& [name, method] : kNormalsMethods) {
      const int side = 2 * radius_px + 1;
      const std::string window = std::to_string(side) + "x" + std::to_string(side);
      all.push_back(
          contender<OurNormals>(std::string(name) + " " + window, side, scene,
                                NormalsOptions{.method = method, .radius_px = radius_px}));
    }
  }
  return all;
}

inline std::vector<Contender> peer_normals(const SphereScene& scene) {
  std::vector<Contender> all;
  using cv::rgbd::RgbdNormals;
  const auto opencv = [&](const char* name, int method) {
    all.push_back(contender<OpenCvNormals>(name, 7, scene, method));
  };
  opencv("OpenCV RgbdNormals FALS", RgbdNormals::RGBD_NORMALS_METHOD_FALS);
  opencv("OpenCV RgbdNormals LINEMOD", RgbdNormals::RGBD_NORMALS_METHOD_LINEMOD);
  opencv("OpenCV RgbdNormals SRI", RgbdNormals::RGBD_NORMALS_METHOD_SRI);
  const auto pcl = [&](const char* name, int reach_px, PclMethod::NormalEstimationMethod method) {
    all.push_back(contender<PclNormals>(name, reach_px, scene, method));
  };
  pcl("PCL integral images, covariance", 7, PclMethod::COVARIANCE_MATRIX);
  // It averages, over 7 x 7 pixels, the difference of the pixels on either side of each.
  pcl("PCL integral images, average 3D gradient", 9, PclMethod::AVERAGE_3D_GRADIENT);
  pcl("PCL integral images, average depth change", 7, PclMethod::AVERAGE_DEPTH_CHANGE);
  pcl("PCL integral images, simple 3D gradient", 7, PclMethod::SIMPLE_3D_GRADIENT);
#if defined(SEXTANT_OPEN3D)
  all.push_back(contender<Open3dNormals>("Open3D EstimateNormals, 49 nearest", 7, scene, 49));
#endif
  return all;
}

}  // namespace sextant::measure
