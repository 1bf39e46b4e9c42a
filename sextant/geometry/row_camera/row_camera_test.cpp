// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/row_camera.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using testing::look_at;
using testing::OrganisedScene;
using testing::PlaneSurface;

const Rigid3d kTableFromCamera{exp_rotation(Vec3d{2.1, 0.4, -0.3}), {0.7, -0.4, 1.1}};

Cloud cloud_of(const OrganisedScene& scene, const Rigid3d& frame_from_camera = {}) {
  Cloud cloud;
  cloud.points = copy(Context::cpu(), scene.points);
  for (Vec3f& p : cloud.points.host()) p = cast<float>(frame_from_camera * cast<double>(p));
  cloud.width = scene.width;
  cloud.height = scene.height;
  return cloud;
}

OrganisedScene ball_before_wall() { return look_at(testing::BallBeforeWall{}); }

/// A wall with the noise of a sensor: a plane but for millimetres.
OrganisedScene noisy_wall() {
  return look_at(PlaneSurface{1.0, {0.3, 0.2, -1}},
                 {.noise_m = 0.002, .seed = testing::seed_of_test()});
}

void expect_pose(const std::optional<Rigid3d>& found, const Rigid3d& expected, double most_m) {
  ASSERT_TRUE(found.has_value());
  const Rigid3d difference = inverse(expected) * *found;
  EXPECT_LT(rotation_angle(difference.rotation), most_m);
  EXPECT_LT(norm(difference.translation), most_m);
}

TEST(RowCamera, StandsAtTheOriginInCameraAxes) {
  expect_pose(find_row_camera(cloud_of(ball_before_wall())), {}, 1e-12);
  expect_pose(find_row_camera(cloud_of(look_at(PlaneSurface{}))), {}, 1e-12);
}

TEST(RowCamera, IsFoundWhereverTheCloudWasMoved) {
  const Rigid3d backwards{{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}, {}};
  const Rigid3d on_its_side{exp_rotation(Vec3d{0, 0, 1.3}), {}};
  for (const Rigid3d& pose : {backwards, on_its_side, kTableFromCamera}) {
    // Points are rounded to 1e-7; the ball stands out of the wall by half a metre and more.
    expect_pose(find_row_camera(cloud_of(ball_before_wall(), pose)), pose, 1e-4);
    // Of the wall only the noise stands out, a five-hundredth of that.
    expect_pose(find_row_camera(cloud_of(noisy_wall(), pose)), pose, 5e-3);
  }
}

TEST(RowCamera, NeedsFewPointsAndNoneInTheHoles) {
  OrganisedScene scene = ball_before_wall();
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    const Random random{testing::seed_of_test(), i};
    if (random.uniform(0) < 0.95f) scene.points[i] = {NAN, NAN, NAN};
  }
  expect_pose(find_row_camera(cloud_of(scene)), {}, 1e-12);
  expect_pose(find_row_camera(cloud_of(scene, kTableFromCamera)), kTableFromCamera, 1e-3);
  // Some sensors write zeros for holes.
  for (Vec3f& p : scene.points) p = is_finite(p) ? p : Vec3f{};
  expect_pose(find_row_camera(cloud_of(scene)), {}, 1e-12);
}

/// The points of an exact plane fit many cameras; the file says which.
TEST(RowCamera, IsTheFilesWhereThePointsDoNotTell) {
  Cloud wall = cloud_of(look_at(PlaneSurface{1.0, {0.3, 0.2, -1}}), kTableFromCamera);
  EXPECT_FALSE(find_row_camera(wall).has_value());
  wall.world_from_sensor = kTableFromCamera;
  expect_pose(find_row_camera(wall), kTableFromCamera, 1e-12);
}

TEST(RowCamera, IsNoneForOtherRows) {
  const OrganisedScene scene = ball_before_wall();
  Cloud unorganised = cloud_of(scene);
  unorganised.width = unorganised.height = 0;
  EXPECT_FALSE(find_row_camera(unorganised).has_value());
  Cloud mirrored = cloud_of(scene);
  for (Vec3f& p : mirrored.points.host()) p.x = -p.x;
  EXPECT_FALSE(find_row_camera(mirrored).has_value());
  // A height field over a table, seen along parallel rays.
  Cloud heights = cloud_of(scene);
  for (std::size_t i = 0; i < scene.points.size(); ++i) {
    const auto u = static_cast<float>(i % 160), v = static_cast<float>(i / 160);
    heights.points.host()[i] = {0.002f * u, 0.002f * v, 0.1f + 0.05f * std::sin(0.1f * u + v)};
  }
  EXPECT_FALSE(find_row_camera(heights).has_value());
  // Points in any order that happen to be written as rows.
  Cloud shuffled = cloud_of(scene);
  const auto points = shuffled.points.host();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Random random{testing::seed_of_test(), i};
    std::swap(points[i], points[static_cast<std::size_t>(
                             random.below(static_cast<std::uint32_t>(points.size()), 0))]);
  }
  EXPECT_FALSE(find_row_camera(shuffled).has_value());
}

TEST(RowCamera, OfNothingStandsAtTheOrigin) {
  Cloud holes;
  holes.points = copy(Context::cpu(), std::vector<Vec3f>(20, Vec3f{NAN, NAN, NAN}));
  holes.width = 5;
  holes.height = 4;
  expect_pose(find_row_camera(holes), {}, 1e-12);
}

}  // namespace
}  // namespace sextant
