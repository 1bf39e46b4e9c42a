// SPDX-License-Identifier: Apache-2.0
// SHOT and its local frames on the same points and normals through PCL and through us.
#include <gtest/gtest.h>
#include <pcl/console/print.h>
#include <pcl/features/shot.h>
#include <pcl/features/shot_lrf.h>
#include <pcl/point_types.h>
#include <pcl/search/kdtree.h>

#include <cmath>

#include "sextant/core/eigen3.h"
#include "sextant/descriptor/local_frame.h"
#include "sextant/descriptor/shot.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/pcd.h"
#include "sextant/surface/cloud_normals.h"
#include "tests/devices.h"
#include "tests/parity_pcl/bumpy_surface.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

/// PCL warns about every point without a descriptor.
const bool kQuiet = [] {
  pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  return true;
}();

/// What both get.
struct Scene {
  std::vector<Vec3f> points;
  std::vector<Vec3f> normals;
  std::vector<Rgb8> colors;
  std::vector<std::int32_t> keypoints;
};

/// Every `step`-th point is a keypoint, holes left out: PCL's search aborts at them.
void choose_keypoints(Scene& scene, std::size_t step) {
  for (std::size_t i = 0; i < scene.points.size(); i += step) {
    if (is_finite(scene.points[i])) scene.keypoints.push_back(static_cast<std::int32_t>(i));
  }
}

/// Random points of a bumpy surface in colours.
Scene bumpy_scene(std::uint64_t seed, int count) {
  Scene scene;
  for (int i = 0; i < count; ++i) {
    const testing::BumpyPoint point(seed, i, 2e-4);
    const Vec3d& u = point.direction;
    scene.points.push_back(point.position);
    scene.colors.push_back({static_cast<std::uint8_t>(128 + 120 * u.x),
                            static_cast<std::uint8_t>(128 + 100 * std::sin(9 * u.y)),
                            static_cast<std::uint8_t>(point.random.below(256, 5))});
  }
  const Context context = Context::cpu();
  scene.normals = to_host(context, estimate_cloud_normals(context, view_of(scene.points),
                                                          {.k = 20, .viewpoint_m = {}}));
  return scene;
}

/// A stored scene, with normals from `normal_radius_m`.
Scene stored_scene(const std::filesystem::path& path, float normal_radius_m, std::size_t step) {
  const Context context = Context::cpu();
  const TriangleMesh mesh = read_geometry(path);
  Scene scene;
  scene.points = to_host(context, mesh.vertices.points);
  scene.colors = to_host(context, mesh.vertices.colors);
  scene.normals = to_host(context, estimate_cloud_normals(context, view_of(scene.points),
                                                          {.radius_m = normal_radius_m}));
  choose_keypoints(scene, step);
  return scene;
}

void set_color(pcl::PointXYZ&, const Rgb8&) {}
void set_color(pcl::PointXYZRGB& p, const Rgb8& color) {
  p.r = color.x;
  p.g = color.y;
  p.b = color.z;
}

template <class Point>
typename pcl::PointCloud<Point>::Ptr to_pcl(const Scene& scene) {
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

/// Rows of numbers, and the frames as three axes each.
struct Described {
  int length = 0;
  std::vector<float> values;
  std::vector<Vec3f> frames;
};

template <class Point, class Shot, class Estimation>
Described by_pcl(const Scene& scene, Estimation& estimation, const ShotOptions& options) {
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
  Described result;
  result.length = static_cast<int>(sizeof(output[0].descriptor) / sizeof(float));
  for (const auto& shot : output) {
    result.values.insert(result.values.end(), shot.descriptor, shot.descriptor + result.length);
    for (int axis = 0; axis < 3; ++axis) {
      result.frames.push_back({shot.rf[3 * axis], shot.rf[3 * axis + 1], shot.rf[3 * axis + 2]});
    }
  }
  return result;
}

Described by_pcl(const Scene& scene, const ShotOptions& options) {
  pcl::SHOTEstimation<pcl::PointXYZ, pcl::Normal, pcl::SHOT352> estimation;
  return by_pcl<pcl::PointXYZ, pcl::SHOT352>(scene, estimation, options);
}

Described by_pcl_in_color(const Scene& scene, const ShotOptions& options) {
  pcl::SHOTColorEstimation<pcl::PointXYZRGB, pcl::Normal, pcl::SHOT1344> estimation(
      options.content != ShotContent::kColor, true);
  Described result = by_pcl<pcl::PointXYZRGB, pcl::SHOT1344>(scene, estimation, options);
  if (options.content == ShotContent::kColor) {
    // The point type has room for both; colour alone fills its beginning.
    constexpr int kColor = 992;
    Described color{kColor, {}, result.frames};
    for (std::size_t row = 0; row < scene.keypoints.size(); ++row) {
      const float* from = result.values.data() + row * static_cast<std::size_t>(result.length);
      color.values.insert(color.values.end(), from, from + kColor);
    }
    return color;
  }
  return result;
}

Described by_us(const Context& context, const Scene& scene, const ShotOptions& options) {
  const auto points = copy(context, scene.points);
  const auto normals = copy(context, scene.normals);
  const auto colors = copy(context, scene.colors);
  const auto keypoints = copy(context, scene.keypoints);
  const ShotDescriptors shot =
      compute_shot(context, {points, normals, colors}, keypoints.view(), options);
  return {shot.length, to_host(context, shot.values), to_host(context, shot.frames)};
}

double angle_rad(const Vec3f& a, const Vec3f& b) {
  const Vec3d u = cast<double>(a), v = cast<double>(b);
  return std::atan2(norm(cross(u, v)), dot(u, v));
}

/// Whether the neighbourhood determines its axes: both gaps exceed a thousandth of the largest
/// eigenvalue. A naive sum over all points.
bool has_clear_axes(const Scene& scene, const Vec3f& p, float radius_m) {
  Sym3d sum;
  for (const Vec3f& q : scene.points) {
    const double distance = norm(cast<double>(q) - cast<double>(p));
    if (!(distance < static_cast<double>(radius_m))) continue;
    sum =
        sum + outer(cast<double>(q) - cast<double>(p)) * (static_cast<double>(radius_m) - distance);
  }
  const Eigen3<double> e = eigen_jacobi(sum);
  const double least = 1e-3 * e.values[2];
  return e.values[2] - e.values[1] > least && e.values[1] - e.values[0] > least;
}

/// The equality that compute_shot promises. Rows whose frame is not determined are left out.
void expect_equal(const Scene& scene, const Described& theirs, const Described& ours,
                  const ShotOptions& options) {
  ASSERT_EQ(theirs.length, ours.length);
  ASSERT_EQ(theirs.values.size(), ours.values.size());
  const auto length = static_cast<std::size_t>(ours.length);
  const float frame_radius_m =
      options.frame_radius_m > 0.0f ? options.frame_radius_m : options.radius_m;
  std::size_t compared = 0, close = 0, frames_apart = 0;
  for (std::size_t row = 0; row < scene.keypoints.size(); ++row) {
    const float* a = theirs.values.data() + row * length;
    const float* b = ours.values.data() + row * length;
    ASSERT_EQ(std::isnan(a[0]), std::isnan(b[0])) << "row " << row;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      ASSERT_EQ(std::isnan(theirs.frames[3 * row + axis].x),
                std::isnan(ours.frames[3 * row + axis].x))
          << "row " << row;
    }
    if (std::isnan(a[0])) continue;
    const Vec3f p = scene.points[static_cast<std::size_t>(scene.keypoints[row])];
    double turned = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      turned =
          std::max(turned, angle_rad(theirs.frames[3 * row + axis], ours.frames[3 * row + axis]));
    }
    if (turned > 1e-4 && !has_clear_axes(scene, p, frame_radius_m)) continue;
    ++compared;
    frames_apart += turned > 1e-4;
    double worst = 0, squares = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const double apart = static_cast<double>(a[i]) - static_cast<double>(b[i]);
      worst = std::max(worst, std::abs(apart));
      squares += apart * apart;
    }
    close += worst <= 1e-5;
    if (turned <= 1e-4) {
      EXPECT_LT(std::sqrt(squares), 0.1) << "row " << row;
    }
  }
  ::testing::Test::RecordProperty("compared", static_cast<int>(compared));
  ::testing::Test::RecordProperty("close", static_cast<int>(close));
  EXPECT_EQ(frames_apart, 0u) << "of " << compared;
  EXPECT_GE(static_cast<double>(close), 0.995 * static_cast<double>(compared))
      << close << " of " << compared;
  EXPECT_GT(compared, scene.keypoints.size() / 8);
}

void compare_on_all_devices(const Scene& scene, const ShotOptions& options) {
  const Described theirs = options.content == ShotContent::kShape ? by_pcl(scene, options)
                                                                  : by_pcl_in_color(scene, options);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    expect_equal(scene, theirs, by_us(context, scene, options), options);
  }
}

TEST(ShotParity, OnASyntheticSurface) {
  Scene scene = bumpy_scene(testing::seed_of_test(), 6000);
  choose_keypoints(scene, 4);
  compare_on_all_devices(scene, {.radius_m = 0.015f});
  compare_on_all_devices(scene, {.radius_m = 0.015f, .frame_radius_m = 0.02f});
  compare_on_all_devices(scene, {.radius_m = 0.02f, .frame_radius_m = 0.011f});
}

TEST(ShotParity, WithHolesAndTooFewNeighbours) {
  Scene scene = bumpy_scene(testing::seed_of_test(), 3000);
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    if (i % 17 == 3) scene.points[i].y = NAN;
    if (i % 13 == 5) scene.normals[i] = {NAN, 0, 0};
  }
  choose_keypoints(scene, 1);
  // About five neighbours: many keypoints have fewer.
  compare_on_all_devices(scene, {.radius_m = 0.0045f});
  compare_on_all_devices(scene, {.radius_m = 0.0045f, .frame_radius_m = 0.01f});
}

TEST(ShotParity, InColor) {
  Scene scene = bumpy_scene(testing::seed_of_test(), 4000);
  choose_keypoints(scene, 8);
  compare_on_all_devices(scene, {.radius_m = 0.015f, .content = ShotContent::kShapeAndColor});
}

TEST(ShotParity, OfTheUnitConstants) {
  const auto path = testing::shared_data("pcl_kinect/bun0.pcd");
  if (!path) GTEST_SKIP() << "no shared data";
  Scene scene = stored_scene(*path, 0.04f, 1);
  compare_on_all_devices(scene, {.radius_m = 0.04f});
  // The constants of PCL's own test, which turns normals to the origin as we do.
  const std::pair<int, float> constants[] = {
      {9, .0072019f},  {10, .0023104f}, {11, .0024724f}, {19, .0031367f}, {20, .1743966f},
      {21, .0654232f}, {42, .0133047f}, {53, .0073521f}, {54, .0135842f}, {55, .0050610f}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Described ours = by_us(context, scene, {.radius_m = 0.04f});
    for (const auto& [entry, value] : constants) {
      EXPECT_NEAR(ours.values[103 * 352 + static_cast<std::size_t>(entry)], value, 1e-4f);
    }
    // Frames with a tied x axis, with a tied z axis, and none.
    const auto points = copy(context, scene.points);
    const auto frames =
        to_host(context, compute_local_frames(context, points, {.radius_m = 0.01f}));
    EXPECT_LT(angle_rad(frames[3 * 15], {-.849213f, .528016f, .005938f}), 1e-5);
    EXPECT_LT(angle_rad(frames[3 * 15 + 2], {-.451055f, -.719497f, -.528084f}), 1e-5);
    EXPECT_LT(angle_rad(frames[3 * 311], {.776087f, -.606735f, .171939f}), 1e-5);
    EXPECT_LT(angle_rad(frames[3 * 311 + 2], {-.390131f, -.247718f, .886811f}), 1e-5);
    EXPECT_TRUE(std::isnan(frames[3 * 24].x));
  }
}

TEST(ShotParity, OnTheBunny) {
  const auto path = testing::shared_data("stanford_bunny/bun_zipper.ply");
  if (!path) GTEST_SKIP() << "no shared data";
  // A resolution of 1 mm: about 1100 neighbours.
  const Scene scene = stored_scene(*path, 0.004f, 40);
  compare_on_all_devices(scene, {.radius_m = 0.015f});
}

TEST(ShotParity, OnAKinectScene) {
  const auto path = testing::shared_data("pcl_kinect/milk_cartoon_all_small_clorox.pcd");
  if (!path) GTEST_SKIP() << "no shared data";
  const Scene scene = stored_scene(*path, 0.015f, 400);
  compare_on_all_devices(scene, {.radius_m = 0.03f});
  compare_on_all_devices(scene, {.radius_m = 0.03f, .content = ShotContent::kShapeAndColor});
}

}  // namespace
}  // namespace sextant
