// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pcl/console/print.h>
#include <pcl/features/shot.h>
#include <pcl/features/shot_lrf.h>
#include <pcl/point_types.h>
#include <pcl/search/kdtree.h>

#include "sextant/io/geometry_file.h"
#include "sextant/surface/cloud_normals.h"
#include "tests/shot_parity.h"

// SHOT by PCL, of the same points and normals as by us.

namespace sextant::testing {

/// PCL warns about every point without a descriptor.
inline const bool kPclIsQuiet = [] {
  pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  return true;
}();

/// Every `step`-th point is a keypoint, holes left out: PCL's search aborts at them.
inline void choose_keypoints(ShotCase& scene, std::size_t step) {
  for (std::size_t i = 0; i < scene.points.size(); i += step) {
    if (is_finite(scene.points[i])) scene.keypoints.push_back(static_cast<std::int32_t>(i));
  }
}

/// A stored scene, with normals from `normal_radius_m`.
inline ShotCase stored_shot_case(const std::filesystem::path& path, float normal_radius_m,
                                 std::size_t step) {
  const Context context = Context::cpu();
  const TriangleMesh mesh = read_geometry(path);
  ShotCase scene;
  scene.points = to_host(context, mesh.vertices.points);
  scene.colors = to_host(context, mesh.vertices.colors);
  scene.normals = to_host(context, estimate_cloud_normals(context, view_of(scene.points),
                                                          {.radius_m = normal_radius_m}));
  choose_keypoints(scene, step);
  return scene;
}

inline void set_color(pcl::PointXYZ&, const Rgb8&) {}
inline void set_color(pcl::PointXYZRGB& p, const Rgb8& color) {
  p.r = color.x;
  p.g = color.y;
  p.b = color.z;
}

template <class Point>
typename pcl::PointCloud<Point>::Ptr to_pcl(const ShotCase& scene) {
  auto cloud = pcl::make_shared<pcl::PointCloud<Point>>();
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    Point p;
    p.x = scene.points[i].x;
    p.y = scene.points[i].y;
    p.z = scene.points[i].z;
    if (!scene.colors.empty()) set_color(p, scene.colors[i]);
    cloud->push_back(p);
    cloud->is_dense = cloud->is_dense && is_finite(scene.points[i]);
  }
  return cloud;
}

template <class Point, class Shot, class Estimation>
DescribedRows by_pcl(const ShotCase& scene, Estimation& estimation, const ShotOptions& options) {
  const auto cloud = to_pcl<Point>(scene);
  auto normals = pcl::make_shared<pcl::PointCloud<pcl::Normal>>();
  for (const Vec3f& n : scene.normals) normals->push_back(pcl::Normal(n.x, n.y, n.z));
  auto keypoints = pcl::make_shared<pcl::PointCloud<Point>>();
  for (const std::int32_t i : scene.keypoints) {
    keypoints->push_back((*cloud)[static_cast<std::size_t>(i)]);
  }
  estimation.setInputCloud(keypoints);
  estimation.setSearchSurface(cloud);
  estimation.setInputNormals(normals);
  estimation.setSearchMethod(pcl::make_shared<pcl::search::KdTree<Point>>());
  estimation.setRadiusSearch(static_cast<double>(options.radius_m));
  if (options.frame_radius_m > 0.0f) estimation.setLRFRadius(options.frame_radius_m);
  pcl::PointCloud<Shot> output;
  estimation.compute(output);
  DescribedRows result;
  result.length = static_cast<int>(sizeof(output[0].descriptor) / sizeof(float));
  for (const auto& shot : output) {
    result.values.insert(result.values.end(), shot.descriptor, shot.descriptor + result.length);
    for (int axis = 0; axis < 3; ++axis) {
      result.frames.push_back({shot.rf[3 * axis], shot.rf[3 * axis + 1], shot.rf[3 * axis + 2]});
    }
  }
  return result;
}

inline DescribedRows shape_by_pcl(const ShotCase& scene, const ShotOptions& options) {
  pcl::SHOTEstimation<pcl::PointXYZ, pcl::Normal, pcl::SHOT352> estimation;
  return by_pcl<pcl::PointXYZ, pcl::SHOT352>(scene, estimation, options);
}

inline DescribedRows color_by_pcl(const ShotCase& scene, const ShotOptions& options) {
  pcl::SHOTColorEstimation<pcl::PointXYZRGB, pcl::Normal, pcl::SHOT1344> estimation(
      options.content != ShotContent::kColor, true);
  DescribedRows result = by_pcl<pcl::PointXYZRGB, pcl::SHOT1344>(scene, estimation, options);
  if (options.content == ShotContent::kColor) {
    // The point type has room for both; colour alone fills its beginning.
    constexpr int kColor = 992;
    DescribedRows color{kColor, {}, result.frames};
    for (std::size_t row = 0; row < scene.keypoints.size(); ++row) {
      const float* from = result.values.data() + row * static_cast<std::size_t>(result.length);
      color.values.insert(color.values.end(), from, from + kColor);
    }
    return color;
  }
  return result;
}

inline DescribedRows shot_by_pcl(const ShotCase& scene, const ShotOptions& options) {
  return options.content == ShotContent::kShape ? shape_by_pcl(scene, options)
                                                : color_by_pcl(scene, options);
}

}  // namespace sextant::testing
