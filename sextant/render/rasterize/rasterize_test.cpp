// SPDX-License-Identifier: Apache-2.0
#include "sextant/render/rasterize.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/devices.h"
#include "tests/meshes.h"
#include "tests/renderings.h"

namespace sextant {
namespace {

using namespace testing;

const Camera kCamera{64, 48, 60.0, 61.0, 31.3, 24.2, {}};

Vec3d ray_of(const Camera& camera, int u, int v) {
  return unproject(camera, Vec2d{static_cast<double>(u), static_cast<double>(v)});
}

/// Half a unit in the last place of every quotient and rounding on the way: two together.
void expect_within_two_ulp(float actual, double exact) {
  const float ulp = std::nextafter(static_cast<float>(exact), INFINITY) - static_cast<float>(exact);
  EXPECT_NEAR(actual, exact, 2.0 * ulp);
}

Pictures draw(const Context& context, const TriangleMesh& mesh, const RenderOptions& options = {},
              const Camera& camera = kCamera) {
  const RenderScene scene(context, mesh);
  return pictures(context, render(context, scene, camera, std::array{Instance{}}, options));
}

TEST(Rasterize, PlanesHaveTheirDepthAndNormal) {
  // z = 2 + slope_x x + slope_y y, far larger than the image.
  for (const Vec2d slope : {Vec2d{0, 0}, Vec2d{0.5, 0}, Vec2d{-0.3, 0.8}, Vec2d{0.6, 0.9}}) {
    const auto on_plane = [&](double x, double y) {
      return Vec3f{static_cast<float>(x), static_cast<float>(y),
                   static_cast<float>(2 + slope.x * x + slope.y * y)};
    };
    const std::array<Vec3f, 3> corners{on_plane(-4, -4), on_plane(16, -4), on_plane(-4, 16)};
    const TriangleMesh mesh = mesh_of({corners[0], corners[1], corners[2]}, {{0, 1, 2}});
    // The plane through the corners as they were rounded.
    const Vec3d a = cast<double>(corners[0]);
    const Vec3d n = normalized(cross(cast<double>(corners[1]) - a, cast<double>(corners[2]) - a));
    for (const Context& context : all_contexts()) {
      SCOPED_TRACE(describe(context));
      const Pictures seen = draw(context, mesh, everything());
      for (int v = 0; v < kCamera.height; ++v) {
        for (int u = 0; u < kCamera.width; ++u) {
          const Vec3d ray = ray_of(kCamera, u, v);
          expect_within_two_ulp(seen.depth_m[seen.at(u, v)], dot(n, a) / dot(n, ray));
          const Vec3d towards = dot(n, ray) < 0 ? n : -n;
          const Vec3f& normal = seen.normals[seen.at(u, v)];
          EXPECT_LT(norm(cast<double>(normal) - towards), 1e-7);
        }
      }
    }
  }
}

/// The mesh lies between the sphere through its corners and the one that touches its innermost
/// face, so the depth along a ray lies between the depths of the two.
TEST(Rasterize, SphereLiesWithinItsChordError) {
  constexpr double kRadius = 0.4;
  const Vec3d centre{0.05, -0.1, 1.5};
  const TriangleMesh mesh = sphere(static_cast<float>(kRadius), 24, 40);
  double inner = kRadius;
  const auto points = mesh.vertices.points.host();
  for (const Vec3i& t : mesh.triangles.host()) {
    const Vec3d a = cast<double>(points[t.x]), b = cast<double>(points[t.y]),
                c = cast<double>(points[t.z]);
    inner = std::min(inner, std::abs(dot(normalized(cross(b - a, c - a)), a)));
  }
  Instance instance;
  instance.camera_from_object = {exp_rotation(Vec3f{0.3f, 0.7f, -0.4f}), cast<float>(centre)};
  const auto depth_of_sphere = [&](const Vec3d& ray, double radius) {
    const double b = dot(ray, centre), a = norm_sq(ray);
    const double root = b * b - a * (norm_sq(centre) - radius * radius);
    return root < 0 ? NAN : (b - std::sqrt(root)) / a;
  };
  constexpr double kRounding = 1e-6;  // of corners in float
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const RenderScene scene(context, mesh);
    const Pictures seen =
        pictures(context, render(context, scene, kCamera, std::array{instance}, everything()));
    int inside = 0;
    for (int v = 0; v < kCamera.height; ++v) {
      for (int u = 0; u < kCamera.width; ++u) {
        const Vec3d ray = ray_of(kCamera, u, v);
        const double z = seen.depth_m[seen.at(u, v)];
        if (std::isnan(depth_of_sphere(ray, kRadius + 1e-3))) {
          EXPECT_TRUE(std::isnan(z));
        }
        const double farthest = depth_of_sphere(ray, inner - kRounding);
        if (std::isnan(farthest)) continue;
        ++inside;
        EXPECT_GE(z, depth_of_sphere(ray, kRadius + kRounding));
        EXPECT_LE(z, farthest);
        // Corner normals are the corners over the radius, so their mean is radial at every point.
        // A pixel that rounding gives to the neighbour shows the nearest point of that triangle, at
        // most 1/362 px away. Past a right angle, NormalsFaceTheCameraUpToTheOutline takes over.
        const Vec3d radial = normalized(ray * z - centre);
        const double cosine = -dot(radial, normalized(ray));
        if (cosine <= 0) continue;
        const double shift_m = z / kCamera.fx_px / 362 / cosine;
        EXPECT_LT(norm(cast<double>(seen.normals[seen.at(u, v)]) - radial),
                  shift_m / kRadius + 2e-6);
      }
    }
    EXPECT_GT(inside, 500);
  }
}

TEST(Rasterize, NormalsFaceTheCameraUpToTheOutline) {
  Instance instance;
  instance.camera_from_object.translation = {0, 0, 1};
  for (const Context& context : all_contexts()) {
    const RenderScene scene(context, sphere(0.3f, 5, 7));  // coarse: corner normals turn away
    const Pictures seen =
        pictures(context, render(context, scene, kCamera, std::array{instance}, everything()));
    for (int v = 0; v < kCamera.height; ++v) {
      for (int u = 0; u < kCamera.width; ++u) {
        if (seen.object_ids[seen.at(u, v)] < 0) continue;
        const Vec3d n = cast<double>(seen.normals[seen.at(u, v)]);
        EXPECT_NEAR(norm(n), 1.0, 1e-6);
        EXPECT_LE(dot(n, normalized(ray_of(kCamera, u, v))), 1e-6);
      }
    }
  }
}

/// A texture whose red is the column and whose green is the row: between texel centres the bilinear
/// value is exactly the texture coordinate.
TEST(Rasterize, TextureIsPerspectiveCorrect) {
  constexpr int kSize = 256;
  std::vector<Rgb8> texels;
  for (int row = 0; row < kSize; ++row) {
    for (int column = 0; column < kSize; ++column) {
      texels.push_back({static_cast<std::uint8_t>(column), static_cast<std::uint8_t>(row), 200});
    }
  }
  // Strongly tilted: the near end is three times closer than the far one.
  const Vec3f a{-0.8f, 0.7f, 0.9f}, right{1.6f, 0.1f, 0.4f}, up{0.1f, -0.7f, 2.0f};
  TriangleMesh mesh = quad(a, right, up);
  Material material;
  material.diffuse = {1.0f, 0.5f, 1.0f};
  material.texture = Image<Rgb8>(copy(Context::cpu(), texels), kSize, kSize);
  mesh.materials.push_back(std::move(material));

  const Vec3d n = cross(cast<double>(right), cast<double>(up));
  const double area = norm_sq(n);
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Pictures seen = draw(context, mesh, everything());
    int compared = 0;
    for (int v = 0; v < kCamera.height; ++v) {
      for (int u = 0; u < kCamera.width; ++u) {
        const Vec3d ray = ray_of(kCamera, u, v);
        const Vec3d p = ray * (dot(n, cast<double>(a)) / dot(n, ray)) - cast<double>(a);
        const double s = dot(cross(p, cast<double>(up)), n) / area;
        const double t = dot(cross(cast<double>(right), p), n) / area;
        const double margin = 1.0 / kSize;
        if (s < margin || t < margin || s > 1 - margin || t > 1 - margin) continue;
        ++compared;
        const Rgb8& color = seen.colors[seen.at(u, v)];
        // Half a step of rounding to bytes, and float weights.
        EXPECT_NEAR(color.x, s * kSize - 0.5, 0.501);
        EXPECT_NEAR(color.y, 0.5 * ((1 - t) * kSize - 0.5), 0.501);
        EXPECT_EQ(color.z, 200);
      }
    }
    EXPECT_GT(compared, 300);
  }
}

TEST(Rasterize, TextureRepeats) {
  TriangleMesh mesh = quad({-1, 1, 2}, {2, 0, 0}, {0, -2, 0});
  // One row of two texels, seen 1.5 times and from far outside the unit square.
  mesh.texture_coordinates =
      copy(Context::cpu(), std::vector<Vec2f>{{-7.25f, 3}, {-5.75f, 3}, {-5.75f, 9}, {-7.25f, 9}});
  mesh.materials.emplace_back().texture =
      Image<Rgb8>(copy(Context::cpu(), std::vector<Rgb8>{{0, 0, 0}, {250, 250, 250}}), 2, 1);
  for (const Context& context : all_contexts()) {
    const Pictures seen = draw(context, mesh, everything());
    for (int u = 2; u < 60; ++u) {
      const double x = 2 * ray_of(kCamera, u, 20).x;  // on the quad, -1 to 1
      if (std::abs(x) > 0.99) continue;
      const double s = -7.25 + 1.5 * (x + 1) / 2;
      // Between the centres at 1/4 (dark) and 3/4 (bright) of each repetition: a triangle wave.
      const double phase = s - 0.25 - std::floor(s - 0.25);
      EXPECT_NEAR(seen.colors[seen.at(u, 20)].x, 250 * (1 - std::abs(2 * phase - 1)), 0.502);
    }
  }
}

TEST(Rasterize, SeamsLookLikeVerticesThatWereSplit) {
  const Context host = Context::cpu();
  const std::vector<Vec3f> points{{-1, -1, 2}, {1, -1, 2}, {1, 1, 3}, {-1, 1, 2}};
  const std::vector<Vec2f> textures{{0, 0}, {1, 0}, {1, 1}, {0.25f, 0.5f}, {0.75f, 0.5f}, {0, 1}};
  const std::vector<Vec3f> normals{{0, 0, -1}, {0.6f, 0, -0.8f}, {0, 0.6f, -0.8f}};
  const std::vector<Vec3i> triangles{{0, 1, 2}, {0, 2, 3}};
  TriangleMesh seams = mesh_of(points, triangles);
  seams.texture_coordinates = copy(host, textures);
  seams.texture_triangles = copy(host, std::vector<Vec3i>{{0, 1, 2}, {3, 4, 5}});
  seams.corner_normals = copy(host, normals);
  seams.normal_triangles = copy(host, std::vector<Vec3i>{{0, 1, 2}, {2, 2, 1}});
  TriangleMesh split = mesh_of({points[0], points[1], points[2], points[0], points[2], points[3]},
                               {{0, 1, 2}, {3, 4, 5}});
  split.texture_coordinates = copy(host, textures);
  split.vertices.normals = copy(host, std::vector<Vec3f>{normals[0], normals[1], normals[2],
                                                         normals[2], normals[2], normals[1]});
  for (TriangleMesh* mesh : {&seams, &split}) {
    mesh->materials.emplace_back().texture = Image<Rgb8>(
        copy(host, std::vector<Rgb8>{{0, 9, 90}, {250, 0, 0}, {80, 70, 60}, {9, 200, 9}}), 2, 2);
  }
  RenderOptions options = everything();
  options.ambient = 0.25f;
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const Pictures a = draw(context, seams, options), b = draw(context, split, options);
    std::int64_t seen = 0;
    for (std::size_t i = 0; i < a.colors.size(); ++i) {
      ASSERT_EQ(a.object_ids[i], b.object_ids[i]);
      if (a.object_ids[i] < 0) continue;
      ++seen;
      ASSERT_EQ(a.colors[i], b.colors[i]) << i;
      ASSERT_EQ(a.normals[i], b.normals[i]) << i;
    }
    EXPECT_GT(seen, 300);
  }
}

TEST(Rasterize, VertexColorsAreInterpolatedInSpace) {
  TriangleMesh mesh = mesh_of({{-1, -1, 1}, {1, -1, 1}, {-1, 3, 3}}, {{0, 1, 2}});
  mesh.vertices.colors =
      copy(Context::cpu(), std::vector<Rgb8>{{0, 0, 0}, {0, 0, 0}, {240, 120, 60}});
  for (const Context& context : all_contexts()) {
    const Pictures seen = draw(context, mesh, everything());
    for (int v = 0; v < kCamera.height; ++v) {
      const int u = 25;
      if (seen.object_ids[seen.at(u, v)] < 0) continue;
      const double share = (seen.depth_m[seen.at(u, v)] - 1.0) / 2.0;  // z grows from 1 to 3
      EXPECT_NEAR(seen.colors[seen.at(u, v)].x, 240 * share, 0.501);
      EXPECT_NEAR(seen.colors[seen.at(u, v)].z, 60 * share, 0.501);
    }
  }
}

TEST(Rasterize, LightFallsByTheCosine) {
  const TriangleMesh mesh = quad({-2, 2, 1}, {4, 0, 0}, {0, -4, 2});  // leans back
  RenderOptions options = everything();
  options.ambient = 0.25f;
  options.light_right_rad = 0.4f;
  options.light_up_rad = 0.6f;
  const Vec3d light{std::sin(0.4) * std::cos(0.6), -std::sin(0.6), -std::cos(0.4) * std::cos(0.6)};
  const Vec3d normal = normalized(Vec3d{0, -2, -4});
  for (const Context& context : all_contexts()) {
    const Pictures seen = draw(context, mesh, options);
    EXPECT_NEAR(seen.colors[seen.at(32, 24)].y, 255 * (0.25 + 0.75 * dot(normal, light)), 0.51);
  }
}

TEST(Rasterize, NearestInstanceWinsAndTheFirstOfEqualOnes) {
  const TriangleMesh near_quad = quad({-0.3f, 0.3f, 1}, {0.6f, 0, 0}, {0, -0.6f, 0});
  const TriangleMesh far_quad = quad({-3, 3, 2}, {6, 0, 0}, {0, -6, 0});
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(describe(context));
    const RenderScene scene(context, std::array{&near_quad, &far_quad});
    std::vector<Instance> instances{{1, 0, 70, {}}, {0, 0, 71, {}}, {0, 0, 72, {}}, {1, 0, 73, {}}};
    const auto ids = [&] {
      return pictures(context, render(context, scene, kCamera, instances, everything()));
    };
    Pictures seen = ids();
    EXPECT_EQ(seen.object_ids[seen.at(31, 24)], 71);
    EXPECT_EQ(seen.object_ids[seen.at(1, 1)], 70);
    EXPECT_EQ(seen.depth_m[seen.at(31, 24)], 1.0f);
    EXPECT_EQ(seen.depth_m[seen.at(1, 1)], 2.0f);
    std::swap(instances[0], instances[3]);
    std::swap(instances[1], instances[2]);
    seen = ids();
    EXPECT_EQ(seen.object_ids[seen.at(31, 24)], 72);
    EXPECT_EQ(seen.object_ids[seen.at(1, 1)], 73);
  }
}

TEST(Rasterize, BackFacesAreCulledOnRequest) {
  // Seen from the origin the first is counter-clockwise, the second clockwise.
  const TriangleMesh front = quad({-1, 1, 2}, {2, 0, 0}, {0, -2, 0});
  const TriangleMesh back = quad({1, 1, 1}, {-2, 0, 0}, {0, -2, 0});
  RenderOptions options = everything();
  for (const Context& context : all_contexts()) {
    const RenderScene scene(context, std::array{&front, &back});
    const std::array instances{Instance{0, 0, 0, {}}, Instance{1, 0, 1, {}}};
    options.cull_back_faces = false;
    Pictures seen = pictures(context, render(context, scene, kCamera, instances, options));
    EXPECT_EQ(seen.depth_m[seen.at(31, 24)], 1.0f);
    EXPECT_EQ(seen.normals[seen.at(31, 24)], (Vec3f{0, 0, -1}));
    options.cull_back_faces = true;
    seen = pictures(context, render(context, scene, kCamera, instances, options));
    EXPECT_EQ(seen.depth_m[seen.at(31, 24)], 2.0f);
    EXPECT_EQ(seen.normals[seen.at(31, 24)], (Vec3f{0, 0, -1}));
  }
}

}  // namespace
}  // namespace sextant
