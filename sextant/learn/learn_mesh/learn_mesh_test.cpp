// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "sextant/core/random.h"
#include "sextant/geometry/symmetries.h"
#include "sextant/learn/learn_mesh/draw_view.h"
#include "sextant/learn/learn_mesh/view_sphere.h"
#include "sextant/synth/catalogue.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

using namespace detail::learn;

LearnMeshOptions quick() {
  LearnMeshOptions options;
  options.views = 10;
  options.tensors_per_view = 20;
  return options;
}

/// A box with its corner at the origin, 20 × 15 × 10 cm; without its lowest face where it is open.
TriangleMesh box(bool open = false, const Vec3f& size = {0.2f, 0.15f, 0.1f}) {
  std::vector<Vec3f> corners;
  for (int i = 0; i < 8; ++i) {
    corners.push_back({i & 1 ? size.x : 0, i & 2 ? size.y : 0, i & 4 ? size.z : 0});
  }
  std::vector<Vec3i> triangles{{4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4}, {2, 6, 7},
                               {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  if (!open) triangles.insert(triangles.end(), {{0, 2, 3}, {0, 3, 1}});
  return testing::mesh_of(corners, triangles);
}

bool mentions(const LearnedObject& object, const std::string& word) {
  return std::any_of(object.source.remarks.begin(), object.source.remarks.end(),
                     [&](const std::string& r) { return r.find(word) != std::string::npos; });
}

/// How far a point lies from the surface of the box, and the outward normal there.
double distance_to_box(const Vec3f& p, const Vec3f& size) {
  const auto along = [](double x, double high) { return std::max({-x, x - high}); };
  const Vec3d d{along(p.x, size.x), along(p.y, size.y), along(p.z, size.z)};
  const double inside = std::max({d.x, d.y, d.z});
  if (inside <= 0) return -inside;
  return norm(Vec3d{std::max(d.x, 0.0), std::max(d.y, 0.0), std::max(d.z, 0.0)});
}

TEST(LearnMesh, KnowsABox) {
  LearnMeshOptions options = quick();
  options.noise = false;
  const Vec3f size{0.2f, 0.15f, 0.1f};
  const LearnedObject object = learn_mesh(Context::cpu(), "box", box(), options);
  EXPECT_EQ(object.name, "box");
  EXPECT_EQ(object.source.kind, "mesh");
  EXPECT_TRUE(object.source.remarks.empty()) << object.source.remarks[0];
  EXPECT_NEAR(object.diameter_m, std::sqrt(0.04 + 0.0225 + 0.01), 1e-6);
  // Three half turns, about axes through the middle.
  ASSERT_EQ(object.shape_symmetries.discrete.size(), 3u);
  EXPECT_TRUE(object.shape_symmetries.continuous.empty());
  // Some of the directions are enough.
  EXPECT_GE(object.views.size(), 3u);
  EXPECT_LE(object.views.size(), 10u);
  // Everything lies on the surface, in the object's frame.
  ASSERT_GT(object.samples.points.size(), 100);
  EXPECT_NEAR(object.samples.leaf_m, 0.05 * object.diameter_m, 1e-6);
  for (const Vec3f& p : object.samples.points.host()) ASSERT_LT(distance_to_box(p, size), 1e-6);
  ASSERT_GT(object.shot.points.size(), 100);
  EXPECT_EQ(object.shot.length, 352);
  EXPECT_EQ(object.shot.values.size(), 352 * object.shot.points.size());
  EXPECT_EQ(object.shot.frames.size(), 3 * object.shot.points.size());
  for (const Vec3f& p : object.shot.points.host()) ASSERT_LT(distance_to_box(p, size), 1e-6);
  // Middles of pairs across an edge lie inside, at most half a pair's length of 14 resolutions from
  // the edge; z looks out of the box.
  ASSERT_GT(object.tensors.set.frames.size(), 40);
  EXPECT_FLOAT_EQ(object.tensors.resolution_m, 0.0016f);
  for (const TensorFrame& frame : object.tensors.set.frames.host()) {
    ASSERT_LT(distance_to_box(frame.origin_m, size), 7 * 0.0016);
    ASSERT_NEAR(determinant(frame.axes), 1.0, 1e-5);
    const Vec3f from_middle = frame.origin_m - size / 2.0f;
    ASSERT_GT(dot(frame.axes.row[2], from_middle), 0);
  }
  for (const std::int32_t view : object.tensors.views.host()) {
    ASSERT_GE(view, 0);
    ASSERT_LT(view, static_cast<std::int32_t>(object.views.size()));
  }
}

TEST(LearnMesh, NormalsOfSamplesPointOutwards) {
  const LearnedObject object =
      learn_mesh(Context::cpu(), "ball", testing::sphere(0.08f, 60, 120), quick());
  EXPECT_GE(object.shape_symmetries.continuous.size(), 1u);
  EXPECT_GE(object.views.size(), 6u);  // not one, though one shows all
  for (std::int64_t i = 0; i < object.samples.points.size(); ++i) {
    ASSERT_GT(dot(object.samples.normals.data()[i], normalized(object.samples.points.data()[i])),
              0.99f);
  }
}

template <class T>
void expect_same(const Buffer<T>& a, const Buffer<T>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)), 0)
      << what;
}

TEST(LearnMesh, GivesTheSameForAnyNumberOfThreads) {
  const TriangleMesh mesh = make_object("tortoise");
  const LearnedObject one = learn_mesh(Context::cpu(1), "tortoise", mesh, quick());
  for (const int threads : {2, 7}) {
    const LearnedObject many = learn_mesh(Context::cpu(threads), "tortoise", mesh, quick());
    EXPECT_EQ(many.diameter_m, one.diameter_m);
    EXPECT_EQ(many.views.size(), one.views.size());
    EXPECT_EQ(many.source.options, one.source.options);
    expect_same(many.mesh.triangles, one.mesh.triangles, "triangles");
    expect_same(many.samples.points, one.samples.points, "samples");
    expect_same(many.samples.normals, one.samples.normals, "normals");
    expect_same(many.shot.points, one.shot.points, "keypoints");
    expect_same(many.shot.values, one.shot.values, "SHOT");
    expect_same(many.tensors.set.frames, one.tensors.set.frames, "frames");
    expect_same(many.tensors.set.indices, one.tensors.set.indices, "bins");
    expect_same(many.tensors.set.values, one.tensors.set.values, "values");
    expect_same(many.tensors.views, one.tensors.views, "views");
  }
}

TEST(LearnMesh, InnerSidesSeenThroughAHoleAreNoSurface) {
  const LearnedObject open = learn_mesh(Context::cpu(), "open", box(true), quick());
  EXPECT_TRUE(mentions(open, "open")) << "what was found is said";
  // Nothing of the inner sides: every normal points away from the middle.
  const Vec3f middle{0.1f, 0.075f, 0.05f};
  for (std::int64_t i = 0; i < open.samples.points.size(); ++i) {
    ASSERT_GT(dot(open.samples.normals.data()[i], open.samples.points.data()[i] - middle), 0);
  }
  // From below a camera sees the inner sides of the walls and of the lid, and that is nothing.
  const Context context = Context::cpu();
  const RenderScene scene(context, box(true));
  const Camera camera = learning_camera();
  const DrawnView below =
      draw_view(context, scene, camera, look_at({0.1, 0.075, 0.05}, {0, 0, -1}, 0.8));
  EXPECT_EQ(below.outer_pixels, 0);
  EXPECT_GT(below.inner_pixels, 10000);
  EXPECT_TRUE(std::all_of(below.depth_m.pixels().host().begin(),
                          below.depth_m.pixels().host().end(),
                          [](float d) { return std::isnan(d); }));
  const DrawnView above =
      draw_view(context, scene, camera, look_at({0.1, 0.075, 0.05}, {0, 0, 1}, 0.8));
  EXPECT_EQ(above.inner_pixels, 0);
  EXPECT_NEAR(static_cast<double>(above.depth_m(320, 240)), 0.75, 1e-6);
}

TEST(LearnMesh, WhatIsInsideIsNotLearned) {
  // A box within a box, as CAD files have.
  TriangleMesh mesh = box();
  const TriangleMesh inner = box(false, {0.05f, 0.05f, 0.05f});
  std::vector<Vec3f> points(mesh.vertices.points.host().begin(), mesh.vertices.points.host().end());
  std::vector<Vec3i> triangles(mesh.triangles.host().begin(), mesh.triangles.host().end());
  for (const Vec3f& p : inner.vertices.points.host()) {
    points.push_back(p + Vec3f{0.05f, 0.05f, 0.02f});
  }
  for (const Vec3i& t : inner.triangles.host()) triangles.push_back({t.x + 8, t.y + 8, t.z + 8});
  const LearnedObject object =
      learn_mesh(Context::cpu(), "nested", testing::mesh_of(points, triangles), quick());
  EXPECT_TRUE(mentions(object, "seen from nowhere"));
  for (const Vec3f& p : object.samples.points.host()) {
    ASSERT_LT(distance_to_box(p, {0.2f, 0.15f, 0.1f}), 1e-6);
  }
}

TEST(LearnMesh, PointsWithoutNormalsAreASurfaceToo) {
  const std::uint64_t seed = testing::seed_of_test();
  std::vector<Vec3f> points;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const Random random{seed, i};
    const Vec3d n = normalized(Vec3d{random.normal(0), random.normal(1), random.normal(2)});
    points.push_back(cast<float>(n * 0.06 + Vec3d{0.5, 0, 0}));
  }
  const LearnedObject object =
      learn_mesh(Context::cpu(), "points", testing::mesh_of(points, {}), quick());
  EXPECT_TRUE(mentions(object, "Points alone"));
  EXPECT_NEAR(object.diameter_m, 0.12, 0.0005);
  // Of each triangle the outer side is left, 2 n - 4 of them on a closed surface, and few more
  // where neighbours disagree.
  EXPECT_GT(object.mesh.triangles.size(), 9800);
  EXPECT_LT(object.mesh.triangles.size(), 11000);
  ASSERT_GT(object.samples.points.size(), 500);
  for (std::int64_t i = 0; i < object.samples.points.size(); ++i) {
    const Vec3f out = normalized(object.samples.points.data()[i] - Vec3f{0.5f, 0, 0});
    ASSERT_GT(dot(object.samples.normals.data()[i], out), 0.9f);
  }
}

TEST(LearnMesh, RefusesWhatIsNoObject) {
  const Context context = Context::cpu();
  const auto message = [&](const TriangleMesh& mesh, LearnMeshOptions options = quick()) {
    return testing::error_message([&] { learn_mesh(context, "x", mesh, options); });
  };
  EXPECT_NE(message({}).find("mesh"), std::string::npos);
  EXPECT_NE(message(box(false, {200, 150, 100})).find("--unit mm"), std::string::npos);
  EXPECT_NE(message(box(false, {2e-4f, 1e-4f, 1e-4f})).find("unit"), std::string::npos);
  EXPECT_NE(message(testing::mesh_of(std::vector<Vec3f>(50, Vec3f{1, 1, 1}), {})), "");
  EXPECT_NE(message(testing::mesh_of({{NAN, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2}})), "");
  LearnMeshOptions near = quick();
  near.nearest_m = 0.1f;
  EXPECT_NE(message(box(), near).find("nearest_m"), std::string::npos);
  LearnMeshOptions order = quick();
  order.nearest_m = 1.0f;
  order.farthest_m = 0.8f;
  EXPECT_NE(message(box(), order).find("farthest_m"), std::string::npos);
  Camera lens = learning_camera();
  lens.distortion.k1 = 0.1;
  EXPECT_NE(
      testing::error_message([&] { learn_mesh(context, "x", box(), {}, {}, lens); }).find("camera"),
      std::string::npos);
}

TEST(LearnMesh, StopsOnRequestAtEveryStep) {
  std::set<std::string, std::less<>> steps;
  learn_mesh(Context::cpu(), "box", box(), quick(),
             [&](std::string_view step, std::int64_t done, std::int64_t total) {
               EXPECT_GE(done, 0);
               EXPECT_LE(done, total);
               steps.emplace(step);
               return true;
             });
  EXPECT_EQ(steps, (std::set<std::string, std::less<>>{"mesh", "symmetries", "pictures", "tensors",
                                                       "surface"}));
  for (const std::string& last : steps) {
    EXPECT_THROW(
        learn_mesh(Context::cpu(), "box", box(), quick(),
                   [&](std::string_view step, std::int64_t, std::int64_t) { return step != last; }),
        Cancelled);
  }
}

TEST(ViewSphere, LooksAtTheCentre) {
  const Vec3d centre{0.3, -0.2, 0.5};
  for (int i = 0; i < 50; ++i) {
    const Vec3d direction = direction_of(i, 50);
    EXPECT_NEAR(norm(direction), 1, 1e-12);
    const Rigid3d pose = look_at(centre, direction, 0.8);
    EXPECT_LT(norm(pose * centre - Vec3d{0, 0, 0.8}), 1e-12);
    EXPECT_LT(norm(inverse(pose) * Vec3d{} - (centre + direction * 0.8)), 1e-12);
    EXPECT_NEAR(determinant(pose.rotation), 1, 1e-12);
  }
}

TEST(ViewSphere, LeavesOutWhatSymmetriesRepeat) {
  EXPECT_EQ(different_directions(40, {}).size(), 40u);
  Symmetries half_turn;
  half_turn.discrete.push_back({exp_rotation(Vec3d{0, 0, M_PI}), {}});
  const std::size_t half = different_directions(40, half_turn).size();
  EXPECT_GE(half, 18u);
  EXPECT_LE(half, 26u);
  Symmetries round;
  round.continuous.push_back({{0, 0, 1}, {}});
  const std::size_t meridian = different_directions(40, round).size();
  EXPECT_GE(meridian, 6u);
  EXPECT_LE(meridian, 14u);
  // Whatever is left out, one that is kept lies within half the spacing of its copy.
  for (int i = 0; i < 40; ++i) {
    const double angle = std::acos(direction_of(i, 40).z);
    double nearest = 10;
    for (const Vec3d& kept : different_directions(40, round)) {
      nearest = std::min(nearest, std::abs(std::acos(kept.z) - angle));
    }
    EXPECT_LT(nearest, 0.5 * std::sqrt(4 * M_PI / 40));
  }
}

TEST(ViewSphere, ACropSeesTheSame) {
  const Context context = Context::cpu();
  const TriangleMesh mesh = box();
  const RenderScene scene(context, mesh);
  const Camera camera = learning_camera();
  for (int i = 0; i < 5; ++i) {
    const Rigid3d pose = look_at({0.1, 0.075, 0.05}, direction_of(i, 5), 0.8);
    const Camera part = cropped(camera, pose, bounds(context, mesh.vertices.points));
    EXPECT_LT(part.width, 300);
    const DrawnView whole = draw_view(context, scene, camera, pose);
    const DrawnView cut = draw_view(context, scene, part, pose);
    EXPECT_EQ(cut.outer_pixels, whole.outer_pixels);
    const int left = static_cast<int>(camera.cx_px - part.cx_px);
    const int top = static_cast<int>(camera.cy_px - part.cy_px);
    for (int v = 0; v < part.height; v += 7) {
      for (int u = 0; u < part.width; u += 7) {
        const float a = cut.depth_m(u, v), b = whole.depth_m(left + u, top + v);
        if (std::isnan(b)) continue;
        ASSERT_NEAR(a, b, 1e-5);
      }
    }
  }
}

TEST(ViewSphere, LargerObjectsAreSeenFromFartherAway) {
  const Camera camera = learning_camera();
  EXPECT_EQ(working_distance_m(camera, 0.05, 8), 0.8);
  EXPECT_EQ(working_distance_m(camera, 0.25, 8), 0.8);
  const double far_m = working_distance_m(camera, 0.5, 8);
  EXPECT_GT(far_m, 1.2);
  // The outline of the ball stays within four fifths of the picture's height.
  EXPECT_NEAR(std::tan(std::asin(0.5 / far_m)) * 525, 0.8 * 240, 1e-6);
  EXPECT_LT(working_distance_m(camera, 2.5, 8), 8);
}

}  // namespace
}  // namespace sextant
