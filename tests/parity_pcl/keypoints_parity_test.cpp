// SPDX-License-Identifier: Apache-2.0
// Uniform sampling and ISS keypoints of the same points through PCL and through us.
#include <gtest/gtest.h>
#include <pcl/filters/uniform_sampling.h>
#include <pcl/keypoints/iss_3d.h>
#include <pcl/point_types.h>
#include <pcl/search/kdtree.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "sextant/core/eigen3.h"
#include "sextant/descriptor/keypoints.h"
#include "sextant/io/geometry_file.h"
#include "tests/devices.h"
#include "tests/parity_pcl/bumpy_surface.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

std::vector<Vec3f> bumpy_surface(std::uint64_t seed, int count) {
  std::vector<Vec3f> points;
  for (int i = 0; i < count; ++i) {
    points.push_back(testing::BumpyPoint(seed, i, 1e-4).position);
  }
  return points;
}

std::vector<Vec3f> stored_points(const std::filesystem::path& path) {
  std::vector<Vec3f> points;
  const TriangleMesh mesh = read_geometry(path);
  for (const Vec3f& p : mesh.vertices.points.host()) {
    if (is_finite(p)) points.push_back(p);
  }
  return points;
}

pcl::PointCloud<pcl::PointXYZ>::Ptr to_pcl(const std::vector<Vec3f>& points) {
  auto cloud = pcl::make_shared<pcl::PointCloud<pcl::PointXYZ>>();
  for (const Vec3f& p : points) cloud->push_back({p.x, p.y, p.z});
  return cloud;
}

using Voxel = std::tuple<float, float, float>;

Voxel voxel_of(const Vec3f& p, float leaf_m) {
  const float inverse = 1.0f / leaf_m;
  return {std::floor(p.x * inverse), std::floor(p.y * inverse), std::floor(p.z * inverse)};
}

double distance_to_centre_sq(const Vec3f& p, float leaf_m) {
  const auto [x, y, z] = voxel_of(p, leaf_m);
  const Vec3d centre = (Vec3d{x, y, z} + Vec3d{0.5, 0.5, 0.5}) * static_cast<double>(leaf_m);
  return norm_sq(cast<double>(p) - centre);
}

/// The same voxels, and points as near to their centres. PCL adds 1 to every squared distance
/// before it compares them, so they are good to two units of 1.2e-7.
void compare_uniform(const std::vector<Vec3f>& points, float leaf_m) {
  pcl::UniformSampling<pcl::PointXYZ> sampling;
  sampling.setInputCloud(to_pcl(points));
  sampling.setRadiusSearch(static_cast<double>(leaf_m));
  pcl::PointCloud<pcl::PointXYZ> theirs;
  sampling.filter(theirs);
  std::map<Voxel, Vec3f> chosen;
  for (const pcl::PointXYZ& p : theirs) chosen[voxel_of({p.x, p.y, p.z}, leaf_m)] = {p.x, p.y, p.z};
  ASSERT_EQ(chosen.size(), theirs.size());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto ours =
        to_host(context, uniform_keypoints(context, copy(context, points), {.leaf_m = leaf_m}));
    ASSERT_EQ(ours.size(), theirs.size());
    for (const std::int32_t i : ours) {
      const Vec3f p = points[static_cast<std::size_t>(i)];
      const auto at = chosen.find(voxel_of(p, leaf_m));
      ASSERT_NE(at, chosen.end()) << "point " << i;
      const double mine = distance_to_centre_sq(p, leaf_m);
      const double other = distance_to_centre_sq(at->second, leaf_m);
      // Our own distances are rounded to float, of coordinates of up to 1 m: 2e-7 of leaf x 1 m.
      const double rounding = 4e-7 * static_cast<double>(leaf_m);
      ASSERT_LE(mine, other + rounding) << "point " << i;
      ASSERT_LE(other, mine + 2.4e-7 + rounding) << "point " << i;
    }
  }
}

/// Whether λ3 around a point is rounding alone: less than 1e-14 of λ1, by a naive sum.
bool is_flat(const std::vector<Vec3f>& points, const Vec3f& p, float radius_m) {
  Sym3d scatter;
  for (const Vec3f& q : points) {
    if (squared_distance(q, p) < radius_m * radius_m) {
      scatter = scatter + outer(cast<double>(q) - cast<double>(p));
    }
  }
  const Eigen3<double> e = eigen_jacobi(scatter);
  return std::abs(e.values[0]) < 1e-14 * e.values[2];
}

/// Where λ3 comes out negative, PCL takes the saliency from memory that it never wrote: next to an
/// exactly flat neighbourhood, what it finds depends on the machine.
bool pcl_may_read_unset_memory(const std::vector<Vec3f>& points, std::int32_t at,
                               const IssOptions& options) {
  const Vec3f p = points[static_cast<std::size_t>(at)];
  return std::any_of(points.begin(), points.end(), [&](const Vec3f& q) {
    return squared_distance(q, p) <= options.non_max_radius_m * options.non_max_radius_m &&
           is_flat(points, q, options.salient_radius_m);
  });
}

void compare_iss(const std::vector<Vec3f>& points, const IssOptions& options) {
  pcl::ISSKeypoint3D<pcl::PointXYZ, pcl::PointXYZ> detector;
  detector.setInputCloud(to_pcl(points));
  detector.setSearchMethod(pcl::make_shared<pcl::search::KdTree<pcl::PointXYZ>>());
  detector.setSalientRadius(static_cast<double>(options.salient_radius_m));
  detector.setNonMaxRadius(static_cast<double>(options.non_max_radius_m));
  detector.setThreshold21(static_cast<double>(options.most_ratio_21));
  detector.setThreshold32(static_cast<double>(options.most_ratio_32));
  detector.setMinNeighbors(options.least_neighbours);
  detector.setNumberOfThreads(1);
  pcl::PointCloud<pcl::PointXYZ> keypoints;
  detector.compute(keypoints);
  const auto& theirs = detector.getKeypointsIndices()->indices;
  ASSERT_GT(theirs.size(), 20u);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto ours = to_host(context, iss_keypoints(context, copy(context, points), options));
    std::vector<std::int32_t> apart;
    std::set_symmetric_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(),
                                  std::back_inserter(apart));
    EXPECT_LE(apart.size(), theirs.size() / 50);
    std::erase_if(apart,
                  [&](std::int32_t i) { return pcl_may_read_unset_memory(points, i, options); });
    EXPECT_TRUE(apart.empty()) << ::testing::PrintToString(apart) << " of " << theirs.size();
  }
}

TEST(KeypointsParity, UniformOnASyntheticSurface) {
  const std::vector<Vec3f> points = bumpy_surface(testing::seed_of_test(), 20000);
  compare_uniform(points, 0.01f);
  compare_uniform(points, 0.003f);
}

TEST(KeypointsParity, IssOnASyntheticSurface) {
  const std::vector<Vec3f> points = bumpy_surface(testing::seed_of_test(), 8000);
  compare_iss(points, {.salient_radius_m = 0.012f, .non_max_radius_m = 0.008f});
  compare_iss(points, {.salient_radius_m = 0.009f,
                       .non_max_radius_m = 0.006f,
                       .most_ratio_21 = 0.8f,
                       .most_ratio_32 = 0.5f,
                       .least_neighbours = 12});
}

TEST(KeypointsParity, OnTheBunny) {
  const auto path = testing::shared_data("stanford_bunny/bun_zipper_res2.ply");
  if (!path) GTEST_SKIP() << "no shared data";
  const std::vector<Vec3f> points = stored_points(*path);
  compare_uniform(points, 0.005f);
  compare_iss(points, {.salient_radius_m = 0.015f, .non_max_radius_m = 0.01f});
}

TEST(KeypointsParity, OnAKinectScene) {
  const auto path = testing::shared_data("pcl_kinect/milk_cartoon_all_small_clorox.pcd");
  if (!path) GTEST_SKIP() << "no shared data";
  std::vector<Vec3f> points = stored_points(*path);
  compare_uniform(points, 0.01f);
  points.resize(points.size() / 8);
  compare_iss(points, {.salient_radius_m = 0.01f, .non_max_radius_m = 0.007f});
}

}  // namespace
}  // namespace sextant
