// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/packs.h"

#include <gtest/gtest.h>

#include "sextant/descriptor/point_samples.h"
#include "sextant/recognize/recognizer/cuboid.h"
#include "sextant/recognize/recognizer/faces.h"
#include "sextant/recognize/recognizer/select.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"

namespace sextant {

using namespace detail::recognizer;
namespace {

constexpr std::array<double, 3> kSize_m{0.09, 0.055, 0.035};

TriangleMesh moved(const TriangleMesh& mesh, const Rigid3d& pose) {
  TriangleMesh result = copy(Context::cpu(), mesh);
  for (Vec3f& p : result.vertices.points.host()) p = cast<float>(pose * cast<double>(p));
  return result;
}

TEST(Cuboid, HasTheSizesAndAxesOfABox) {
  const Rigid3d pose{exp_rotation(Vec3d{0.4, -0.7, 1.1}), {0.3, -0.2, 0.1}};
  const std::optional<Cuboid> box = cuboid_of(moved(box_mesh(kSize_m), pose));
  ASSERT_TRUE(box);
  std::array<double, 3> sizes = box->size_m;
  std::sort(sizes.begin(), sizes.end());
  EXPECT_NEAR(sizes[0], kSize_m[2], 1e-6);
  EXPECT_NEAR(sizes[1], kSize_m[1], 1e-6);
  EXPECT_NEAR(sizes[2], kSize_m[0], 1e-6);
  EXPECT_NEAR(norm(box->object_from_box.translation - pose.translation), 0, 1e-6);
  EXPECT_NEAR(determinant(box->object_from_box.rotation), 1, 1e-9);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    // An axis of the box as the object's frame has it is one of the pose's, with that one's size.
    const Mat3d& r = box->object_from_box.rotation;
    const Vec3d there{(&r.row[0].x)[axis], (&r.row[1].x)[axis], (&r.row[2].x)[axis]};
    const Vec3d own = transpose(pose.rotation) * there;
    const double at[3] = {std::abs(own.x), std::abs(own.y), std::abs(own.z)};
    const auto which = static_cast<std::size_t>(std::max_element(at, at + 3) - at);
    EXPECT_NEAR(at[which], 1, 1e-9);
    EXPECT_NEAR(box->size_m[axis], kSize_m[which], 1e-6);
  }
}

TEST(Cuboid, OtherBodiesAreNone) {
  EXPECT_TRUE(cuboid_of(make_object("cereal_box")));
  EXPECT_TRUE(cuboid_of(make_object("cube")));
  EXPECT_TRUE(is_like_a_cube(*cuboid_of(make_object("cube"))));
  EXPECT_FALSE(is_like_a_cube(*cuboid_of(box_mesh(kSize_m))));
  for (const char* name : {"pyramid", "apple", "soup_can", "tortoise", "mask"}) {
    EXPECT_FALSE(cuboid_of(make_object(name))) << name;
  }
  EXPECT_FALSE(cuboid_of({}));
  // An angle of two plates has its surface on the faces of its box, and covers little of them.
  TriangleMesh angle = moved(box_mesh({0.1, 0.1, 0.002}), {Mat3d::identity(), {0, 0, 0.051}});
  const TriangleMesh plate = moved(box_mesh({0.002, 0.1, 0.1}), {Mat3d::identity(), {0.049, 0, 0}});
  EXPECT_TRUE(cuboid_of(box_mesh({0.1, 0.1, 0.002})));
  std::vector<Vec3f> points(angle.vertices.points.host().begin(),
                            angle.vertices.points.host().end());
  std::vector<Vec3i> triangles(angle.triangles.host().begin(), angle.triangles.host().end());
  for (const Vec3f& p : plate.vertices.points.host()) points.push_back(p);
  for (const Vec3i& t : plate.triangles.host()) triangles.push_back({t.x + 8, t.y + 8, t.z + 8});
  angle.vertices.points = copy(Context::cpu(), points);
  angle.triangles = copy(Context::cpu(), triangles);
  EXPECT_FALSE(cuboid_of(angle));
  EXPECT_FALSE(cuboid_of(box_mesh({0.1, 0.1, 0})));
}

TEST(Packs, CovarianceMovesWithTheBody) {
  // Turned about x alone, a place that lies along y moves along z.
  SymN<double, 6> c{};
  c.at(0, 0) = 0.01;
  c.at(3, 3) = 1e-6;
  const SymN<double, 6> there = covariance_at(c, {0, 0.2, 0});
  EXPECT_NEAR(there.at(5, 5), 0.01 * 0.2 * 0.2, 1e-12);
  EXPECT_NEAR(there.at(5, 0), 0.01 * 0.2, 1e-12);
  EXPECT_NEAR(there.at(3, 3), 1e-6, 1e-15);
  EXPECT_NEAR(there.at(4, 4), 0, 1e-15);
  EXPECT_NEAR(there.at(0, 0), 0.01, 1e-15);
}

/// Boxes side by side on a table, seen from a slant.
struct Shelf {
  Camera camera{640, 480, 570, 570, 319.5, 239.5, {}};
  LearnedObject object;
  std::vector<Rigid3d> truth;  ///< camera_from_object
  Image<float> depth_m;

  Shelf(int columns, int rows, std::uint64_t seed) {
    const Context context = Context::cpu();
    object.name = "soap";
    object.mesh = box_mesh(kSize_m);
    object.diameter_m = sample_model(context, object.mesh).diameter_m;
    for (const Vec3d& half_turn : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
      object.shape_symmetries.discrete.push_back(
          {exp_rotation(half_turn * 3.14159265358979323846), {}});
    }
    const TriangleMesh table = box_mesh({1.2, 1.2, 0.02});
    const Rigid3d camera_from_table{
        exp_rotation(Vec3d{2.35, 0, 0}) * exp_rotation(Vec3d{0, 0, 0.4}), {0.01, 0.02, 0.55}};
    std::vector<const TriangleMesh*> meshes{&object.mesh, &table};
    std::vector<Instance> instances{{1, 0, 0, cast<float>(camera_from_table)}};
    for (int y = 0; y < rows; ++y) {
      for (int x = 0; x < columns; ++x) {
        Rigid3d table_from_object;
        table_from_object.translation = {(x - 0.5 * (columns - 1)) * kSize_m[0],
                                         (y - 0.5 * (rows - 1)) * kSize_m[1],
                                         0.01 + 0.5 * kSize_m[2]};
        truth.push_back(camera_from_table * table_from_object);
        instances.push_back({0, 0, 0, cast<float>(truth.back())});
      }
    }
    const RenderScene scene(context, meshes);
    RenderOptions options;
    options.normals = true;
    const Rendering exact = render(context, scene, camera, instances, options);
    depth_m = add_sensor_noise(context, exact.depth_m_of(0), exact.normals_of(0), camera,
                               sensor_noise(SensorModel::kKinect), seed);
  }

  /// Whether a pose is one of a box, or one that looks the same.
  bool is_right(const Rigid3d& pose, const Rigid3d& true_pose) const {
    std::vector<Rigid3d> same{{}};
    for (const Rigid3d& turn : object.shape_symmetries.discrete) same.push_back(turn);
    return std::any_of(same.begin(), same.end(), [&](const Rigid3d& motion) {
      const Rigid3d left = inverse(true_pose) * (pose * motion);
      return rotation_angle(left.rotation) < 0.1 && norm(left.translation) < 0.012;
    });
  }
  /// How many of the boxes are found, each once.
  int right(const Recognition& found) const {
    std::vector<char> taken(truth.size());
    for (const Detection& d : found.detections) {
      for (std::size_t i = 0; i < truth.size(); ++i) {
        if (taken[i] || !is_right(d.camera_from_object, truth[i])) continue;
        taken[i] = 1;
        break;
      }
    }
    return static_cast<int>(std::count(taken.begin(), taken.end(), 1));
  }
};

TEST(Packs, BoxesSideBySideAreToldOneByOne) {
  const Shelf shelf(3, 2, testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    const Recognizer recognizer(context, std::span(&shelf.object, 1));
    const Recognition found = recognizer.recognize(shelf.depth_m, shelf.camera);
    EXPECT_EQ(shelf.right(found), 6) << to_string(context.device());
    EXPECT_EQ(found.detections.size(), 6u);
    std::vector<char> used(static_cast<std::size_t>(shelf.camera.width * shelf.camera.height));
    for (const Detection& d : found.detections) {
      EXPECT_GT(d.visible, 0.4);
      EXPECT_GE(d.score, 0.5);
      EXPECT_EQ(d.terms.boxes, 6);
      EXPECT_GT(d.pixels.size(), 300u);
      for (const std::int32_t pixel : d.pixels) {
        char& taken = used[static_cast<std::size_t>(pixel)];
        EXPECT_EQ(taken, 0);  // a pixel is explained once
        taken = 1;
      }
      for (int k = 0; k < 6; ++k) EXPECT_GT(d.covariance[static_cast<std::size_t>(7 * k)], 0);
    }
  }
}

TEST(Packs, FramesOfObjectsMayDifferFromThoseOfTheirBoxes) {
  Shelf shelf(3, 2, testing::seed_of_test());
  const Rigid3d object_from_box{exp_rotation(Vec3d{0.5, -0.2, 0.9}), {0.04, -0.03, 0.02}};
  shelf.object.mesh = moved(shelf.object.mesh, object_from_box);
  for (Rigid3d& turn : shelf.object.shape_symmetries.discrete) {
    turn = object_from_box * turn * inverse(object_from_box);
  }
  for (Rigid3d& pose : shelf.truth) pose = pose * inverse(object_from_box);
  const Recognizer recognizer(Context::cpu(), std::span(&shelf.object, 1));
  const Recognition found = recognizer.recognize(shelf.depth_m, shelf.camera);
  EXPECT_EQ(shelf.right(found), 6);
  EXPECT_EQ(found.detections.size(), 6u);
}

TEST(Packs, WhatHasNoHalfTurnsHasNone) {
  Shelf shelf(3, 2, testing::seed_of_test());
  shelf.object.shape_symmetries.discrete.pop_back();
  const Recognizer recognizer(Context::cpu(), std::span(&shelf.object, 1));
  for (const Detection& d : recognizer.recognize(shelf.depth_m, shelf.camera).detections) {
    EXPECT_EQ(d.terms.boxes, 0);
  }
}

TEST(Packs, ABoxAloneIsNoPack) {
  const Shelf shelf(1, 1, testing::seed_of_test());
  const Recognizer recognizer(Context::cpu(), std::span(&shelf.object, 1));
  const Recognition found = recognizer.recognize(shelf.depth_m, shelf.camera);
  ASSERT_EQ(found.detections.size(), 1u);
  EXPECT_EQ(shelf.right(found), 1);
  EXPECT_EQ(found.detections[0].terms.boxes, 0);
}

TEST(Faces, EndWhereTheSurfaceDoesAndTurnParallelToIt) {
  const Shelf shelf(3, 2, testing::seed_of_test());
  const Rigid3d& box = shelf.truth[0];
  const Mat3d& r = box.rotation;
  const Vec3d up{r.row[0].z, r.row[1].z, r.row[2].z};
  for (const Context& context : testing::all_contexts()) {
    const SceneFrame scene = prepare_scene(context, shelf.depth_m, shelf.camera, {});
    Workspace workspace;
    Face face;
    face.normal = up;
    face.middle = box.translation + up * (0.5 * kSize_m[2]);
    const Mat3d turned = exp_rotation(up * 0.08) * r;
    for (int side = 0; side < 2; ++side) {
      face.along[side] = {(&turned.row[0].x)[side], (&turned.row[1].x)[side],
                          (&turned.row[2].x)[side]};
      face.length_m[side] = kSize_m[static_cast<std::size_t>(side)];
    }
    face.most_m = 0.5;
    face.diameter_m = 0.11f;
    std::vector<Face> faces{face};
    const std::vector<FaceEnds> ends = measure_faces(context, scene.view(), faces, workspace);
    ASSERT_FALSE(faces[0].is_lost);
    for (int side = 0; side < 2; ++side) {
      const Vec3d own{(&r.row[0].x)[side], (&r.row[1].x)[side], (&r.row[2].x)[side]};
      EXPECT_GT(dot(faces[0].along[side], own), std::cos(0.025)) << side;
      const double length_m = ends[0].of[side][0].at_m + ends[0].of[side][1].at_m;
      EXPECT_NEAR(length_m, (side == 0 ? 3 : 2) * kSize_m[static_cast<std::size_t>(side)], 0.006);
    }
  }
  // A face in the air is lost.
  const SceneFrame scene = prepare_scene(Context::cpu(), shelf.depth_m, shelf.camera, {});
  Workspace workspace;
  Face face;
  face.normal = {0, 0, -1};
  face.middle = {0, 0, 0.3};
  face.along[0] = {1, 0, 0};
  face.along[1] = {0, 1, 0};
  face.length_m[0] = face.length_m[1] = 0.05;
  face.most_m = 0.4;
  face.diameter_m = 0.1f;
  std::vector<Face> faces{face};
  measure_faces(Context::cpu(), scene.view(), faces, workspace);
  EXPECT_TRUE(faces[0].is_lost);
}

}  // namespace
}  // namespace sextant
