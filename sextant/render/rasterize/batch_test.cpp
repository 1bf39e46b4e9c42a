// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "sextant/core/graph.h"
#include "sextant/core/random.h"
#include "sextant/render/rasterize.h"
#include "tests/devices.h"
#include "tests/meshes.h"
#include "tests/renderings.h"

namespace sextant {
namespace {

using namespace testing;

const Camera kCamera{64, 48, 60.0, 61.0, 31.3, 24.2, {}};

/// Many meshes, poses and views, some instances partly behind the camera.
struct Batch {
  std::vector<TriangleMesh> meshes;
  std::vector<Instance> instances;

  explicit Batch(int views) {
    meshes.push_back(sphere(0.2f, 9, 14));
    meshes.push_back(quad({-0.5f, 0.5f, 0}, {1, 0, 0}, {0, -1, 0}));
    meshes.push_back(
        mesh_of({{-50, 1, -50}, {50, 1, -50}, {50, 1, 50}, {-50, 1, 50}}, {{0, 1, 2}, {0, 2, 3}}));
    for (int i = 0; i < 5 * views; ++i) {
      const Random random{seed_of_test(), static_cast<std::uint64_t>(i)};
      const auto draw = [&](int k) { return 2 * random.uniform(k) - 1; };
      Instance& instance = instances.emplace_back();
      instance.mesh = static_cast<std::int32_t>(random.below(3, 0));
      instance.view = static_cast<std::int32_t>(random.below(views, 1));
      instance.object_id = i;
      instance.camera_from_object = {exp_rotation(Vec3f{draw(2), draw(3), draw(4)} * 2.0f),
                                     {draw(5), draw(6), 0.6f + draw(7)}};
    }
  }
  std::vector<const TriangleMesh*> list() const {
    std::vector<const TriangleMesh*> all;
    for (const TriangleMesh& mesh : meshes) all.push_back(&mesh);
    return all;
  }
};

TEST(RasterizeBatch, AllDevicesGiveTheSameBits) {
  for (const int views : {1, 3, 40}) {
    const Batch batch(views);
    RenderOptions options = everything();
    options.ambient = 0.3f;
    std::vector<Pictures> all;
    for (const Context& context : all_contexts()) {
      SCOPED_TRACE(describe(context));
      const RenderScene scene(context, batch.list());
      all.push_back(pictures(context, render(context, scene, kCamera, batch.instances, options)));
      expect_same_bits(all.back(), all.front());
      // Without the other pictures depth takes a way of its own.
      const Pictures alone = pictures(context, render(context, scene, kCamera, batch.instances));
      EXPECT_TRUE(same_bits(alone.depth_m, all.front().depth_m));
      RenderOptions only_ids;
      only_ids.depth = false;
      only_ids.object_ids = true;
      const Pictures ids =
          pictures(context, render(context, scene, kCamera, batch.instances, only_ids));
      EXPECT_TRUE(ids.depth_m.empty());
      EXPECT_TRUE(same_bits(ids.object_ids, all.front().object_ids));
    }
  }
}

TEST(RasterizeBatch, BatchEqualsSingleViews) {
  constexpr int kViews = 9;
  const Batch batch(kViews);
  std::vector<Camera> cameras(kViews, kCamera);
  for (int i = 0; i < kViews; ++i) cameras[i].cx_px += 3 * i;
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const RenderScene scene(context, batch.list());
    const Pictures together =
        pictures(context, render(context, scene, cameras, batch.instances, everything()));
    ASSERT_EQ(together.views, kViews);
    for (int view = 0; view < kViews; ++view) {
      std::vector<Instance> own;
      for (Instance instance : batch.instances) {
        if (instance.view != view) continue;
        instance.view = 0;
        own.push_back(instance);
      }
      const Pictures alone =
          pictures(context, render(context, scene, cameras[view], own, everything()));
      const std::size_t first = together.at(0, 0, view), size = alone.depth_m.size();
      EXPECT_EQ(std::memcmp(&together.depth_m[first], alone.depth_m.data(), size * 4), 0);
      EXPECT_EQ(std::memcmp(&together.normals[first], alone.normals.data(), size * 12), 0);
      EXPECT_EQ(std::memcmp(&together.colors[first], alone.colors.data(), size * 3), 0);
      EXPECT_EQ(std::memcmp(&together.object_ids[first], alone.object_ids.data(), size * 4), 0);
    }
  }
}

TEST(RasterizeBatch, ReusedMemoryIsNotAllocatedAgain) {
  const Batch batch(6);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const RenderScene scene(context, batch.list());
    const Buffer<Camera> cameras = copy(context, std::vector<Camera>{kCamera});
    const Buffer<Instance> instances = copy(context, batch.instances);
    Workspace workspace;
    Rendering out;
    out.width = kCamera.width;
    out.height = kCamera.height;
    out.views = 6;
    const auto draw_again = [&] {
      render_into(context, scene, cameras, instances, everything(), out, workspace);
    };
    draw_again();
    const Pictures first = pictures(context, out);
    expect_same_bits(
        first, pictures(context, render(context, scene, kCamera, batch.instances, everything())));
    const Counters before = context.counters();
    draw_again();
    EXPECT_EQ(context.counters().allocations, before.allocations);
    EXPECT_EQ(context.counters().synchronisations, before.synchronisations);
    const Graph graph = Graph::capture(context, draw_again);
    graph.launch();
    expect_same_bits(pictures(context, out), first);
  }
}

/// More triangles than are sorted at once, at a size where every way of drawing is taken.
TEST(RasterizeBatch, LargeMeshesGiveTheSameBits) {
  const Camera camera{640, 480, 600, 600, 320, 240, {}};
  const TriangleMesh ball = sphere(0.4f, 160, 180);  // 57 240 triangles
  const TriangleMesh coarse = sphere(0.5f, 6, 8);
  const TriangleMesh floor = quad({-30, 0.45f, -30}, {60, 0, 0}, {0, 0, 60});
  std::vector<Instance> instances(3);
  for (int i = 0; i < 3; ++i) {
    instances[i].mesh = instances[i].object_id = i;
    instances[i].camera_from_object.translation = {0.3f * static_cast<float>(i), 0, 1.1f};
  }
  std::vector<Pictures> all;
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const RenderScene scene(context, std::array{&ball, &coarse, &floor});
    all.push_back(pictures(context, render(context, scene, camera, instances, everything())));
    expect_same_bits(all.back(), all.front());
    const Pictures alone = pictures(context, render(context, scene, camera, instances));
    EXPECT_TRUE(same_bits(alone.depth_m, all.front().depth_m));
  }
}

/// More large triangles than the queue of the CUDA kernels holds; the nearest comes last.
TEST(RasterizeBatch, QueueOfLargeTrianglesMayOverflow) {
  std::vector<Context> devices = all_contexts();
  std::erase_if(devices, [](const Context& context) { return context.is_cpu(); });
  if (devices.empty()) GTEST_SKIP() << "no CUDA device";
  constexpr int kTriangles = 1'100'000;
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;
  for (int i = 0; i < kTriangles; ++i) {
    const float z = 2.0f - static_cast<float>(i) / kTriangles;
    points.insert(points.end(), {{-9, -9, z}, {9, -9, z}, {0, 9, z}});
    triangles.push_back({3 * i, 3 * i + 1, 3 * i + 2});
  }
  const TriangleMesh mesh = mesh_of(points, triangles);
  for (const Context& context : devices) {
    const RenderScene scene(context, mesh);
    const Pictures seen =
        pictures(context, render(context, scene, kCamera, std::array{Instance{}}, everything()));
    for (const float z : seen.depth_m) EXPECT_NEAR(z, points.back().z, 2.4e-7);
  }
}

}  // namespace
}  // namespace sextant
