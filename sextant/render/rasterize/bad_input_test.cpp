// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "sextant/render/rasterize.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/meshes.h"
#include "tests/renderings.h"

namespace sextant {
namespace {

using namespace testing;

const Camera kCamera{64, 48, 60.0, 61.0, 31.3, 24.2, {}};

bool nothing_in(const Pictures& seen) {
  for (const float z : seen.depth_m) {
    if (!std::isnan(z)) return false;
  }
  for (const std::int32_t id : seen.object_ids) {
    if (id != -1) return false;
  }
  return true;
}

TEST(RasterizeBadInput, NothingToDrawIsAnEmptyPicture) {
  for (const Context& context : all_contexts()) {
    const Pictures no_scene =
        pictures(context, render(context, RenderScene(), kCamera, {}, everything()));
    EXPECT_EQ(no_scene.views, 1);
    EXPECT_EQ(no_scene.depth_m.size(), 64u * 48u);
    EXPECT_TRUE(nothing_in(no_scene));
    EXPECT_EQ(no_scene.colors[0], (Rgb8{0, 0, 0}));
    EXPECT_TRUE(std::isnan(no_scene.normals[0].x));

    const RenderScene empty_mesh(context, TriangleMesh());
    EXPECT_TRUE(nothing_in(pictures(
        context, render(context, empty_mesh, kCamera, std::array{Instance{}}, everything()))));

    const Rendering no_views =
        render(context, empty_mesh, std::span<const Camera>(), {}, everything());
    EXPECT_EQ(no_views.pixels(), 0);

    Workspace workspace;
    Rendering no_pixels;
    const Buffer<Camera> cameras = copy(context, std::vector<Camera>{kCamera});
    render_into(context, empty_mesh, cameras, {}, everything(), no_pixels, workspace);
    EXPECT_TRUE(no_pixels.depth_m.empty());
  }
}

TEST(RasterizeBadInput, TrianglesThatAreNotFiniteAreLeftOut) {
  const std::vector<Vec3f> good{{-1, -1, 2}, {1, -1, 2}, {0, 1, 2}};
  const TriangleMesh alone = mesh_of(good, {{0, 1, 2}});
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    std::vector<Vec3f> points = good;
    points.push_back({0, bad, 1});
    points.push_back({0, 0, bad});
    const TriangleMesh mesh = mesh_of(points, {{0, 1, 3}, {4, 1, 0}, {0, 1, 2}, {3, 3, 4}});
    for (const Context& context : all_contexts()) {
      const auto draw = [&](const TriangleMesh& drawn) {
        const RenderScene scene(context, drawn);
        return pictures(context,
                        render(context, scene, kCamera, std::array{Instance{}}, everything()));
      };
      expect_same_bits(draw(mesh), draw(alone));
      Instance broken;
      broken.camera_from_object.rotation.row[1].y = bad;
      const RenderScene scene(context, alone);
      EXPECT_TRUE(nothing_in(
          pictures(context, render(context, scene, kCamera, std::array{broken}, everything()))));
    }
  }
}

TEST(RasterizeBadInput, BehindTheCameraTooNearAndTooFar) {
  const TriangleMesh mesh = quad({-1, 1, 0}, {2, 0, 0}, {0, -2, 0});
  RenderOptions options = everything();
  options.near_m = 0.5f;
  options.far_m = 4.0f;
  for (const Context& context : all_contexts()) {
    const RenderScene scene(context, mesh);
    for (const float z : {-2.0f, 0.0f, 0.4999f, 0.5f, 2.0f, 4.0f, 4.0001f, 1e30f}) {
      Instance instance;
      instance.camera_from_object.translation.z = z;
      const Pictures seen =
          pictures(context, render(context, scene, kCamera, std::array{instance}, options));
      EXPECT_EQ(nothing_in(seen), z < 0.5f || z > 4.0f) << z;
    }
  }
}

TEST(RasterizeBadInput, TrianglesWithoutAreaDrawNothing) {
  const TriangleMesh mesh =
      mesh_of({{-1, -1, 2}, {1, 1, 2}, {0, 0, 2}}, {{0, 0, 0}, {0, 1, 1}, {0, 1, 0}, {2, 2, 1}});
  for (const Context& context : all_contexts()) {
    const RenderScene scene(context, mesh);
    EXPECT_TRUE(nothing_in(
        pictures(context, render(context, scene, kCamera, std::array{Instance{}}, everything()))));
  }
}

TEST(RasterizeBadInput, UncheckedInstancesDrawNothing) {
  const TriangleMesh mesh = quad({-1, 1, 2}, {2, 0, 0}, {0, -2, 0});
  std::vector<Instance> list(5);
  list[0].mesh = 1;
  list[1].mesh = -1;
  list[2].view = 2;
  list[3].view = -1;
  list[4].view = 1;  // under a camera that distorts
  std::vector<Camera> two{kCamera, kCamera};
  two[1].distortion.k1 = 0.1;
  for (const Context& context : all_contexts()) {
    const RenderScene scene(context, mesh);
    const Buffer<Camera> cameras = copy(context, two);
    const Buffer<Instance> instances = copy(context, list);
    Workspace workspace;
    Rendering out;
    out.width = out.height = 8;
    out.views = 2;
    render_into(context, scene, cameras, instances, everything(), out, workspace);
    EXPECT_TRUE(nothing_in(pictures(context, out)));
  }
}

TEST(RasterizeBadInput, SceneNamesTheMeshAndTheIndex) {
  const TriangleMesh good = quad({-1, 1, 2}, {2, 0, 0}, {0, -2, 0});
  const TriangleMesh bad = mesh_of({{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, {{0, 1, 2}, {0, 3, 1}});
  TriangleMesh no_material = quad({-1, 1, 2}, {2, 0, 0}, {0, -2, 0});
  no_material.triangle_materials = copy(Context::cpu(), std::vector<std::int32_t>{0, 1});
  no_material.materials.emplace_back();
  for (const Context& context : all_contexts()) {
    const auto message = [&](const TriangleMesh* second) {
      return error_message([&] { RenderScene(context, std::array{&good, second}); });
    };
    EXPECT_TRUE(mentions(message(&bad), "meshes[1]: triangle 1"));
    EXPECT_TRUE(mentions(message(&no_material), "meshes[1]"));
    EXPECT_TRUE(mentions(message(nullptr), "meshes[1]"));
  }
}

TEST(RasterizeBadInput, WrongArgumentsAreNamed) {
  for (const Context& context : all_contexts()) {
    const RenderScene scene(context, quad({-1, 1, 2}, {2, 0, 0}, {0, -2, 0}));
    const auto message = [&](const Camera& camera, const Instance& instance,
                             const RenderOptions& options) {
      return error_message([&] { render(context, scene, camera, std::array{instance}, options); });
    };
    Camera camera = kCamera;
    camera.distortion.k2 = 0.01;
    EXPECT_TRUE(mentions(message(camera, {}, {}), "distortion"));
    camera = kCamera;
    camera.width = 0;
    EXPECT_TRUE(mentions(message(camera, {}, {}), "0 x 48"));
    camera.width = 40000;
    EXPECT_TRUE(mentions(message(camera, {}, {}), "32768"));
    EXPECT_TRUE(mentions(message(kCamera, {3, 0, 0, {}}, {}), "mesh 3"));
    EXPECT_TRUE(mentions(message(kCamera, {0, -1, 0, {}}, {}), "view -1"));
    RenderOptions options;
    options.near_m = NAN;
    EXPECT_TRUE(mentions(message(kCamera, {}, options), "near_m"));
    options.near_m = 200;
    EXPECT_TRUE(mentions(message(kCamera, {}, options), "far_m"));
    std::vector<Camera> cameras{kCamera, kCamera};
    cameras[1].height = 7;
    EXPECT_TRUE(
        mentions(error_message([&] { render(context, scene, cameras, {}); }), "cameras[1]"));
    const Rendering no_normals = render(context, scene, kCamera, std::array{Instance{}});
    EXPECT_TRUE(mentions(error_message([&] { no_normals.normals_of(0); }), "normals"));
    EXPECT_TRUE(mentions(error_message([&] { no_normals.depth_m_of(1); }), "view 1"));
  }
}

TEST(RasterizeBadInput, TooManyTrianglesForOneBatch) {
  const Context context = Context::cpu();
  const TriangleMesh mesh =
      mesh_of({{0, 0, 1}}, std::vector<Vec3i>(std::size_t{1} << 20, Vec3i{0, 0, 0}));
  const RenderScene scene(context, mesh);
  const std::vector<Instance> instances(4096);  // 2^32 triangles
  EXPECT_TRUE(mentions(error_message([&] { render(context, scene, kCamera, instances); }),
                       "split the batch"));
}

}  // namespace
}  // namespace sextant
