// SPDX-License-Identifier: Apache-2.0
#include "sextant/match/library_matches.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/rigid3.h"
#include "sextant/descriptor/even_shot.h"
#include "sextant/synth/catalogue.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

using testing::all_contexts;
using testing::describe;

constexpr float kRadius_m = 0.024f, kLeaf_m = 0.008f;

Rigid3f some_pose() {
  return {cast<float>(exp_rotation(Vec3d{0.7, -0.4, 1.1})), {0.2f, -0.1f, 0.9f}};
}

TriangleMesh moved(const TriangleMesh& mesh, const Rigid3f& by) {
  TriangleMesh result = copy(Context::cpu(), mesh);
  result.vertices.normals = {};
  for (Vec3f& p : result.vertices.points.host()) p = by * p;
  return result;
}

/// A library of objects with SHOT alone.
ResidentLibrary shot_library(const Context& context,
                             const std::vector<const TriangleMesh*>& meshes) {
  ResidentLibrary library;
  ResidentShot part;
  part.radius_m = kRadius_m;
  std::vector<std::int32_t> ends;
  std::vector<Vec3f> points, frames;
  std::vector<float> values;
  const Context cpu = Context::cpu();
  for (const TriangleMesh* mesh : meshes) {
    const PointSamples dense = even_shot_points(cpu, *mesh, kRadius_m, 400000);
    const EvenShot shot =
        even_shot(cpu, dense.points, dense.normals, {.radius_m = kRadius_m, .leaf_m = kLeaf_m});
    const auto add = [](const auto& from, auto& to) {
      to.insert(to.end(), from.host().begin(), from.host().end());
    };
    add(shot.points, points);
    add(shot.frames, frames);
    add(shot.values, values);
    part.length = shot.length;
    ends.push_back(static_cast<std::int32_t>(points.size()));
    library.objects.emplace_back();
  }
  part.ends = copy(context, ends);
  part.points = copy(context, points);
  part.frames = copy(context, frames);
  part.values = copy(context, values);
  library.shot.push_back(std::move(part));
  return library;
}

float angle_between(const Mat3f& a, const Mat3f& b) { return norm(log_rotation(transpose(a) * b)); }

TEST(LibraryMatches, ShotOfAMovedMeshSaysWhereItWasMovedTo) {
  // Neither is symmetric, so that each place is one of its own.
  const TriangleMesh other = make_object("tortoise"), sought = make_object("tasmanian_devil");
  const Rigid3f truth = some_pose();
  const TriangleMesh scene = moved(sought, truth);
  std::vector<LibraryMatch> first;
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const ResidentLibrary library = shot_library(context, {&other, &sought});
    const LibraryMatches found = match_library_shot(context, library, scene);
    int own = 0, near = 0, turned_right = 0;
    for (const LibraryMatch& match : found.matches) {
      ASSERT_LT(match.scene, found.described);
      // The pose carries one place to the other.
      ASSERT_LT(norm(match.scene_from_object * match.model_m - match.scene_m), 1e-5f);
      if (match.object != 1) continue;
      ++own;
      // Keypoints of both lie a leaf apart in grids that are turned to each other.
      if (norm(truth * match.model_m - match.scene_m) > 1.5f * kLeaf_m) continue;
      ++near;
      if (angle_between(match.scene_from_object.rotation, truth.rotation) < 0.3f) ++turned_right;
    }
    EXPECT_GT(own, 50);
    EXPECT_GT(2 * near, own);
    EXPECT_GT(2 * turned_right, near);
    if (first.empty()) first = found.matches;
    if (!context.is_cpu()) continue;
    ASSERT_EQ(found.matches.size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      ASSERT_EQ(found.matches[i].scene, first[i].scene);
      ASSERT_EQ(found.matches[i].model, first[i].model);
      ASSERT_EQ(found.matches[i].score, first[i].score);
    }
  }
}

TEST(LibraryMatches, AMeshIsDescribedOnItsTrianglesNotAtItsVertices) {
  // The vertices of a box lie farther apart than a descriptor looks.
  std::vector<Vec3f> corners, outward;
  for (int i = 0; i < 8; ++i) {
    corners.push_back({i & 1 ? 0.2f : 0, i & 2 ? 0.15f : 0, i & 4 ? 0.1f : 0});
    outward.push_back(normalized(corners.back() - Vec3f{0.1f, 0.075f, 0.05f}));
  }
  const TriangleMesh box = testing::mesh_of(corners, {{4, 5, 7},
                                                      {4, 7, 6},
                                                      {0, 1, 5},
                                                      {0, 5, 4},
                                                      {2, 6, 7},
                                                      {2, 7, 3},
                                                      {0, 4, 6},
                                                      {0, 6, 2},
                                                      {1, 3, 7},
                                                      {1, 7, 5},
                                                      {0, 2, 3},
                                                      {0, 3, 1}});
  const Context context = Context::cpu();
  const ResidentLibrary library = shot_library(context, {&box});
  EXPECT_EQ(match_library_shot(context, library, view_of(std::as_const(corners)),
                               view_of(std::as_const(outward)))
                .described,
            0);
  // Of 0.13 m², one keypoint a voxel of 8 mm: 2031 squares, and a voxel at an edge has one for both
  // faces. A grid that is not along the faces has up to half as many again.
  const LibraryMatches found = match_library_shot(context, library, box);
  EXPECT_GT(found.described, 1500);
  EXPECT_LT(found.described, 3500);
  // Turned inside out it is mended, as in learning.
  TriangleMesh inside_out = copy(context, box);
  for (Vec3i& t : inside_out.triangles.host()) std::swap(t.y, t.z);
  EXPECT_EQ(match_library_shot(context, library, inside_out).described, found.described);
}

TEST(LibraryMatches, AMeshWithoutAreaHasNothingAndAHugeOneIsRefused) {
  const Context context = Context::cpu();
  const TriangleMesh object = make_object("cube");
  const ResidentLibrary library = shot_library(context, {&object});
  const TriangleMesh flat = testing::mesh_of({{0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, {{0, 1, 2}});
  EXPECT_EQ(match_library_shot(context, library, flat).described, 0);
  EXPECT_TRUE(library_shot_points(context, flat, kRadius_m).points.empty());
  const TriangleMesh huge = testing::quad({0, 0, 1}, {200, 0, 0}, {0, 150, 0});
  EXPECT_NE(
      testing::error_message([&] { match_library_shot(context, library, huge); }).find("unit"),
      std::string::npos);
}

/// Waves, so that each place has tensors of its own.
Image<float> waves(const Camera& camera) {
  Image<float> depth_m(Context::cpu(), camera.width, camera.height);
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      depth_m(u, v) = static_cast<float>(0.8 + 0.012 * std::sin(u / 9.0 + 0.02 * v) +
                                         0.009 * std::cos(v / 8.0 + 0.0007 * u * v));
    }
  }
  return depth_m;
}

TEST(LibraryMatches, TensorsOfTheSameViewSayHowTheObjectLies) {
  const Camera camera{160, 120, 525, 525, 80, 60, {}};
  const Image<float> depth_m = waves(camera);
  const Rigid3f truth = some_pose();
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    // Learned from this view, for an object whose frame the view has at `truth`.
    TensorSet set = to_host(context, view_tensors(context, copy(context, depth_m), camera));
    const std::int32_t count = set.count.host()[0];
    ASSERT_GT(count, 20);
    for (TensorFrame& frame : set.frames.host()) {
      frame.axes = frame.axes * truth.rotation;
      frame.origin_m = inverse(truth) * frame.origin_m;
    }
    ResidentLibrary library;
    library.objects.resize(2);  // the first has no tensors
    ResidentTensors part;
    part.resolution_m = ViewTensorOptions{}.resolution_m;
    part.bin_m = set.frames.host()[0].bin_m;
    const auto size = static_cast<std::size_t>(set.frames.size());
    part.ends = copy(context, std::vector<std::int32_t>{0, static_cast<std::int32_t>(size)});
    part.objects = copy(context, std::vector<std::int32_t>(size, 1));
    part.views = copy(context, std::vector<std::int32_t>(size, 0));
    part.set = copy(context, set);
    library.tensors.push_back(std::move(part));

    const LibraryMatches found =
        match_library_tensors(context, library, copy(context, depth_m), camera);
    EXPECT_EQ(found.described, count);
    int same = 0;
    for (const LibraryMatch& match : found.matches) {
      ASSERT_EQ(match.object, 1);
      ASSERT_LT(norm(match.scene_from_object * match.model_m - match.scene_m), 1e-5f);
      if (match.scene != match.model || match.score < 0.9999f) continue;
      ++same;
      EXPECT_LT(norm(match.scene_m - truth * match.model_m), 1e-5f);
      EXPECT_LT(angle_between(match.scene_from_object.rotation, truth.rotation), 2e-3f);
    }
    EXPECT_EQ(same, count);
  }
}

TEST(LibraryMatches, AnEmptyViewAndAnEmptyLibraryHaveNone) {
  const Camera camera{16, 12, 525, 525, 8, 6, {}};
  Image<float> depth_m(Context::cpu(), 16, 12);
  for (float& z : depth_m.pixels().host()) z = NAN;
  const Context context = Context::cpu();
  const ResidentLibrary empty;
  EXPECT_EQ(match_library_tensors(context, empty, depth_m, camera).described, 0);
  EXPECT_EQ(match_library_shot(context, empty, View<const Vec3f>{}, View<const Vec3f>{}).described,
            0);
}

}  // namespace
}  // namespace sextant
