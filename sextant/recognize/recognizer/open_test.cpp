// SPDX-License-Identifier: Apache-2.0
// Which directions of a pose a frame leaves open: those that neither depths nor outlines tell.
#include <gtest/gtest.h>

#include "sextant/recognize/recognizer.h"
#include "sextant/render/rasterize.h"
#include "sextant/surface/symmetries.h"
#include "tests/meshes.h"
#include "tests/solids.h"

namespace sextant {
namespace {

const Camera kCamera{320, 240, 300, 300, 159.5, 119.5, {}};

LearnedObject object_of(TriangleMesh mesh) {
  LearnedObject object;
  object.name = "body";
  object.mesh = std::move(mesh);
  object.shape_symmetries = find_symmetries(Context::cpu(), object.mesh).shape;
  return object;
}

/// The object in its pose, before what lies `behind_m` away, or nothing where that is NaN.
Image<float> picture_of(const LearnedObject& object, const Rigid3d& pose, float behind_m) {
  const Context cpu = Context::cpu();
  const Instance instance{0, 0, 0, cast<float>(pose)};
  Rendering picture = render(cpu, RenderScene(cpu, object.mesh), kCamera, {&instance, 1});
  for (float& z : picture.depth_m.host()) z = z > 0 ? z : behind_m;
  Image<float> depth_m(cpu, kCamera.width, kCamera.height);
  const auto from = picture.depth_m.host();
  std::copy(from.begin(), from.end(), depth_m.pixels().host().begin());
  return depth_m;
}

/// What is told of the pose.
std::vector<std::array<double, 6>> open_of(const LearnedObject& object, const Rigid3d& pose,
                                           float behind_m) {
  const Recognizer recognizer(Context::cpu(), std::span(&object, 1), {.accept = 0});
  Image<std::uint8_t> nowhere(Context::cpu(), kCamera.width, kCamera.height);
  for (std::uint8_t& admitted : nowhere.pixels().host()) admitted = 0;
  const Recognition found = recognizer.recognize(picture_of(object, pose, behind_m), kCamera,
                                                 {.mask = nowhere, .poses = {{0, pose}}});
  EXPECT_EQ(found.detections.size(), 1u);
  if (found.detections.empty()) return {};
  // The covariance has at least what its open directions say.
  const Detection& detection = found.detections[0];
  for (const std::array<double, 6>& motion : detection.open) {
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_GE(detection.covariance[7 * i], motion[i] * motion[i] * (1 - 1e-9)) << i;
    }
  }
  return detection.open;
}

Vec3d turn_of(const std::array<double, 6>& motion) { return {motion[0], motion[1], motion[2]}; }
Vec3d shift_of(const std::array<double, 6>& motion) { return {motion[3], motion[4], motion[5]}; }

TEST(OpenDirectionsOfPoses, AreTheTurnsOfABall) {
  const LearnedObject ball = object_of(testing::sphere(0.06f, 60, 120));
  ASSERT_GT(ball.shape_symmetries.continuous.size(), 1u);
  const auto open = open_of(ball, {Mat3d::identity(), {0.02, -0.01, 0.5}}, 0.9f);
  ASSERT_EQ(open.size(), 3u);
  for (const auto& motion : open) {
    EXPECT_GT(norm(turn_of(motion)), 1);
    EXPECT_LT(norm(shift_of(motion)), 0.002);
  }
}

TEST(OpenDirectionsOfPoses, AreTheTurnOfACylinderAboutItsAxis) {
  const LearnedObject cylinder =
      object_of(testing::prism(testing::regular_polygon(90, 0.05), 0.12).mesh());
  ASSERT_EQ(cylinder.shape_symmetries.continuous.size(), 1u);
  const Rigid3d pose{exp_rotation(Vec3d{2.0, 0.2, 0.1}), {0.01, 0.02, 0.6}};
  const auto open = open_of(cylinder, pose, 0.9f);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_GT(norm(turn_of(open[0])), 1);
  EXPECT_GT(std::abs(dot(normalized(turn_of(open[0])), pose.rotation.column(2))), 0.999);
  EXPECT_LT(norm(shift_of(open[0])), 0.002);
}

/// All of the picture is one face: it may slide both ways and turn about its normal.
TEST(OpenDirectionsOfPoses, AreTheSlidesOfAFaceWithoutAnEdgeInView) {
  const LearnedObject box = object_of(testing::box(0.8, 0.6, 0.1).mesh());
  const auto open = open_of(box, {Mat3d::identity(), {-0.4, -0.3, 0.35}}, NAN);
  ASSERT_EQ(open.size(), 3u);
  for (const auto& motion : open) {
    // Neither nearer nor farther, and no tilt.
    EXPECT_LT(std::abs(motion[5]), 0.01);
    EXPECT_LT(std::hypot(motion[0], motion[1]), 0.05);
  }
}

/// A plate is held by its outline where something farther is measured around it, and slides where
/// nothing is. It is an L, since rectangles are told as parts of larger ones, too.
TEST(OpenDirectionsOfPoses, OfAPlateDependOnItsOutline) {
  const std::vector<Vec2d> corner{{0, 0},       {0.2, 0},     {0.2, 0.06},
                                  {0.06, 0.06}, {0.06, 0.14}, {0, 0.14}};
  const LearnedObject plate = object_of(testing::prism(corner, 0.004).mesh());
  const Rigid3d pose{Mat3d::identity(), {-0.09, -0.08, 0.6}};
  EXPECT_TRUE(open_of(plate, pose, 0.9f).empty());
  EXPECT_EQ(open_of(plate, pose, NAN).size(), 3u);
}

}  // namespace
}  // namespace sextant
