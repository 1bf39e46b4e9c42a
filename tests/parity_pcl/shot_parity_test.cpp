// SPDX-License-Identifier: Apache-2.0
// SHOT and its local frames on the same points and normals through PCL and through us.
#include "sextant/descriptor/local_frame.h"
#include "tests/parity_pcl/bumpy_surface.h"
#include "tests/parity_pcl/pcl_shot.h"
#include "tests/shared_data.h"

namespace sextant {
namespace {

using testing::ShotCase;

/// Random points of a bumpy surface in colours.
ShotCase bumpy_scene(std::uint64_t seed, int count) {
  ShotCase scene;
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

void compare_on_all_devices(const ShotCase& scene, const ShotOptions& options) {
  const testing::DescribedRows theirs = testing::shot_by_pcl(scene, options);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    testing::expect_equal_shot(context, scene, theirs, options);
  }
}

TEST(ShotParity, OnASyntheticSurface) {
  ShotCase scene = bumpy_scene(testing::seed_of_test(), 6000);
  testing::choose_keypoints(scene, 4);
  compare_on_all_devices(scene, {.radius_m = 0.015f});
  compare_on_all_devices(scene, {.radius_m = 0.015f, .frame_radius_m = 0.02f});
  compare_on_all_devices(scene, {.radius_m = 0.02f, .frame_radius_m = 0.011f});
}

TEST(ShotParity, WithHolesAndTooFewNeighbours) {
  ShotCase scene = bumpy_scene(testing::seed_of_test(), 3000);
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    if (i % 17 == 3) scene.points[i].y = NAN;
    if (i % 13 == 5) scene.normals[i] = {NAN, 0, 0};
  }
  testing::choose_keypoints(scene, 1);
  // About five neighbours: many keypoints have fewer.
  compare_on_all_devices(scene, {.radius_m = 0.0045f});
  compare_on_all_devices(scene, {.radius_m = 0.0045f, .frame_radius_m = 0.01f});
}

TEST(ShotParity, InColor) {
  ShotCase scene = bumpy_scene(testing::seed_of_test(), 4000);
  testing::choose_keypoints(scene, 8);
  compare_on_all_devices(scene, {.radius_m = 0.015f, .content = ShotContent::kShapeAndColor});
  compare_on_all_devices(scene, {.radius_m = 0.015f, .content = ShotContent::kColor});
}

TEST(ShotParity, OfTheUnitConstants) {
  const auto path = testing::shared_data("pcl_kinect/bun0.pcd");
  if (!path) GTEST_SKIP() << "the captured data is not there";
  ShotCase scene = testing::stored_shot_case(*path, 0.04f, 1);
  compare_on_all_devices(scene, {.radius_m = 0.04f});
  // The constants of PCL's own test, which turns normals to the origin as we do.
  const std::pair<int, float> constants[] = {
      {9, .0072019f},  {10, .0023104f}, {11, .0024724f}, {19, .0031367f}, {20, .1743966f},
      {21, .0654232f}, {42, .0133047f}, {53, .0073521f}, {54, .0135842f}, {55, .0050610f}};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const testing::DescribedRows ours = testing::shot_by_us(context, scene, {.radius_m = 0.04f});
    for (const auto& [entry, value] : constants) {
      EXPECT_NEAR(ours.values[103 * 352 + static_cast<std::size_t>(entry)], value, 1e-4f);
    }
    // Frames with a tied x axis, with a tied z axis, and none.
    const auto points = copy(context, scene.points);
    const auto frames =
        to_host(context, compute_local_frames(context, points, {.radius_m = 0.01f}));
    EXPECT_LT(testing::axis_angle_rad(frames[3 * 15], {-.849213f, .528016f, .005938f}), 1e-5);
    EXPECT_LT(testing::axis_angle_rad(frames[3 * 15 + 2], {-.451055f, -.719497f, -.528084f}), 1e-5);
    EXPECT_LT(testing::axis_angle_rad(frames[3 * 311], {.776087f, -.606735f, .171939f}), 1e-5);
    EXPECT_LT(testing::axis_angle_rad(frames[3 * 311 + 2], {-.390131f, -.247718f, .886811f}), 1e-5);
    EXPECT_TRUE(std::isnan(frames[3 * 24].x));
  }
}

TEST(ShotParity, OnTheBunny) {
  const auto path = testing::shared_data("stanford_bunny/bun_zipper.ply");
  if (!path) GTEST_SKIP() << "the captured data is not there";
  // A resolution of 1 mm: about 1100 neighbours.
  const ShotCase scene = testing::stored_shot_case(*path, 0.004f, 40);
  compare_on_all_devices(scene, {.radius_m = 0.015f});
}

TEST(ShotParity, OnAKinectScene) {
  const auto path = testing::shared_data("pcl_kinect/milk_cartoon_all_small_clorox.pcd");
  if (!path) GTEST_SKIP() << "the captured data is not there";
  const ShotCase scene = testing::stored_shot_case(*path, 0.015f, 400);
  compare_on_all_devices(scene, {.radius_m = 0.03f});
  compare_on_all_devices(scene, {.radius_m = 0.03f, .content = ShotContent::kShapeAndColor});
}

}  // namespace
}  // namespace sextant
