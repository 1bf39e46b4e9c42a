// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/table_scene.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

TableSceneOptions small(int objects) {
  TableSceneOptions options;
  options.objects = objects;
  options.width = 320;
  options.height = 240;
  options.focal_px = 262.5f;
  return options;
}

struct WorldMesh {
  std::vector<Vec3d> points, normals;
  const TriangleMesh* mesh = nullptr;
  Vec3d low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
};

WorldMesh in_world(const TableScene& scene, const SceneObject& object) {
  WorldMesh world;
  world.mesh = &scene.meshes[static_cast<std::size_t>(object.mesh)];
  for (const Vec3f& p : world.mesh->vertices.points.host()) {
    const Vec3d q = object.world_from_object * cast<double>(p);
    world.points.push_back(q);
    world.low = {std::min(world.low.x, q.x), std::min(world.low.y, q.y),
                 std::min(world.low.z, q.z)};
    world.high = {std::max(world.high.x, q.x), std::max(world.high.y, q.y),
                  std::max(world.high.z, q.z)};
  }
  for (const Vec3f& n : world.mesh->vertices.normals.host()) {
    world.normals.push_back(object.world_from_object.rotation * cast<double>(n));
  }
  return world;
}

/// Counts how often a ray in an odd direction leaves the mesh.
bool inside(const WorldMesh& world, const Vec3d& point) {
  const Vec3d &low = world.low, &high = world.high;
  if (point.x < low.x || point.y < low.y || point.z < low.z) return false;
  if (point.x > high.x || point.y > high.y || point.z > high.z) return false;
  const Vec3d along = normalized(Vec3d{0.31, 0.17, 0.93});
  int crossings = 0;
  for (const Vec3i& t : world.mesh->triangles.host()) {
    const Vec3d a = world.points[t.x] - point, b = world.points[t.y] - point,
                c = world.points[t.z] - point;
    const double u = dot(along, cross(a, b)), v = dot(along, cross(b, c)),
                 w = dot(along, cross(c, a));
    if (!((u > 0 && v > 0 && w > 0) || (u < 0 && v < 0 && w < 0))) continue;
    const Vec3d n = cross(b - a, c - a);
    crossings += dot(n, a) / dot(n, along) > 0;
  }
  return crossings % 2 == 1;
}

void expect_physical(const TableScene& scene) {
  std::vector<WorldMesh> worlds;
  for (const SceneObject& object : scene.objects) worlds.push_back(in_world(scene, object));
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    const SceneObject& object = scene.objects[i];
    SCOPED_TRACE(object.name);
    ASSERT_LT(object.support, static_cast<int>(i));
    const double ground =
        object.support < 0 ? 0.0 : worlds[static_cast<std::size_t>(object.support)].high.z;
    EXPECT_NEAR(worlds[i].low.z, ground, 1e-6);  // float vertices turned in double
    EXPECT_NEAR(determinant(object.camera_from_object.rotation), 1, 1e-12);
    for (std::size_t j = 0; j < worlds.size(); ++j) {
      if (i == j) continue;
      // Points just below the surface of one are not within the other.
      const std::size_t stride = std::max<std::size_t>(1, worlds[i].points.size() / 150);
      for (std::size_t k = 0; k < worlds[i].points.size(); k += stride) {
        const Vec3d point = worlds[i].points[k] - worlds[i].normals[k] * 1e-4;
        ASSERT_FALSE(inside(worlds[j], point)) << object.name << " in " << scene.objects[j].name;
      }
    }
  }
}

TEST(TableScene, ObjectsRestOnSomethingAndDoNotTouch) {
  int stacked = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    TableSceneOptions options = small(9);
    options.stacking = 0.6f;
    const TableScene scene = make_table_scene(Context::cpu(), options, seed);
    ASSERT_EQ(scene.objects.size(), 9u);
    expect_physical(scene);
    for (const SceneObject& object : scene.objects) stacked += object.support >= 0;
  }
  EXPECT_GT(stacked, 0);
}

TEST(TableScene, SameSceneOnEveryDevice) {
  TableSceneOptions options = small(5);
  options.occlusion = 0.3f;
  std::vector<float> first_depth;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const TableScene scene = make_table_scene(context, options, 11);
    const auto depth = to_host(context, render_table_scene(context, scene, {}).depth_m);
    if (first_depth.empty()) first_depth = depth;
    EXPECT_EQ(std::memcmp(first_depth.data(), depth.data(), depth.size() * sizeof(float)), 0);
  }
  const TableScene other = make_table_scene(Context::cpu(), options, 12);
  const auto depth = to_host(Context::cpu(), render_table_scene(Context::cpu(), other, {}).depth_m);
  EXPECT_NE(std::memcmp(first_depth.data(), depth.data(), depth.size() * sizeof(float)), 0);
}

TEST(TableScene, ObjectsMadeBeforeGiveTheSameScene) {
  TableSceneOptions options = small(4);
  options.set = ObjectSet::kPrinted;
  const TableObjects objects(ObjectSet::kPrinted);
  const TableScene fresh = make_table_scene(Context::cpu(), options, 11);
  const TableScene again = make_table_scene(Context::cpu(), options, 11, objects);
  ASSERT_EQ(again.objects.size(), fresh.objects.size());
  ASSERT_EQ(again.meshes.size(), fresh.meshes.size());
  for (std::size_t i = 0; i < fresh.objects.size(); ++i) {
    EXPECT_EQ(again.objects[i].name, fresh.objects[i].name);
    EXPECT_EQ(again.objects[i].camera_from_object.translation,
              fresh.objects[i].camera_from_object.translation);
    EXPECT_EQ(again.objects[i].visibility.seen_px, fresh.objects[i].visibility.seen_px);
  }
  options.set = ObjectSet::kToys;
  EXPECT_THROW(make_table_scene(Context::cpu(), options, 11, objects), Error);
}

TEST(TableScene, OcclusionIsWhatWasAskedFor) {
  for (const float occlusion : {0.0f, 0.25f, 0.5f, 0.75f}) {
    SCOPED_TRACE(occlusion);
    TableSceneOptions options = small(4);
    options.width = 640;
    options.height = 480;
    options.focal_px = 525;
    options.set = ObjectSet::kToys;
    options.occlusion = occlusion;
    const TableScene scene = make_table_scene(Context::cpu(), options, 5);
    EXPECT_NEAR(scene.objects[0].visibility.fraction(), 1 - occlusion, 0.02);
    expect_physical(scene);
  }
}

TEST(TableScene, VisibleFractionCountsPixels) {
  const Context context = Context::cpu();
  const TableScene scene = make_table_scene(context, small(6), 4);
  RenderOptions options;
  options.object_ids = true;
  const Rendering seen = render_table_scene(context, scene, options);
  std::vector<std::int64_t> count(scene.objects.size() + 1, 0);
  for (const std::int32_t id : seen.object_ids.host()) {
    if (id >= 0) ++count[static_cast<std::size_t>(id)];
  }
  EXPECT_GT(count[0], 10000);
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const Visibility& visibility = scene.objects[i].visibility;
    // A card lies 0.4 mm over the table, all else well above it: the table hides nothing.
    EXPECT_EQ(visibility.seen_px, count[i + 1]) << scene.objects[i].name;
    EXPECT_LE(visibility.seen_px, visibility.alone_px);
    EXPECT_GE(visibility.fraction(), 0.0);
    EXPECT_LE(visibility.fraction(), 1.0);
  }
}

TEST(TableScene, EmptyTableAndMisuse) {
  using testing::error_message;
  using testing::mentions;
  const Context context = Context::cpu();
  const TableScene empty = make_table_scene(context, small(0), 1);
  EXPECT_TRUE(empty.objects.empty());
  EXPECT_EQ(render_table_scene(context, empty, {}).depth_m.size(), 320 * 240);
  const auto message = [&](const TableSceneOptions& options) {
    return error_message([&] { make_table_scene(context, options, 1); });
  };
  TableSceneOptions options = small(1);
  options.occlusion = 0.5f;
  EXPECT_TRUE(mentions(message(options), "objects"));
  options = small(-1);
  EXPECT_TRUE(mentions(message(options), "objects"));
  options = small(20);
  options.set = ObjectSet::kPrinted;
  options.spread_m = 0.05f;
  options.stacking = 0;
  EXPECT_TRUE(mentions(message(options), "spread_m"));
}

}  // namespace
}  // namespace sextant
