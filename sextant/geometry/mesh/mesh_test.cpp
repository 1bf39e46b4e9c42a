// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh.h"

#include <gtest/gtest.h>

#include "tests/devices.h"

namespace sextant {
namespace {

Cloud three_points() {
  const Context cpu = Context::cpu();
  Cloud cloud;
  cloud.points = copy(cpu, std::vector<Vec3f>{{0, 0, 1}, {1, 0, 2}, {0, 1, 3}});
  return cloud;
}

TriangleMesh textured_triangle() {
  const Context cpu = Context::cpu();
  TriangleMesh mesh;
  mesh.vertices = three_points();
  mesh.texture_coordinates = copy(cpu, std::vector<Vec2f>{{0, 0}, {1, 0}, {0, 1}});
  mesh.triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 2}});
  mesh.triangle_materials = copy(cpu, std::vector<std::int32_t>{0});
  mesh.materials.push_back({"paper", {1, 1, 1}, "paper.png", Image<Rgb8>(cpu, 2, 2)});
  return mesh;
}

TEST(Cloud, ChecksItsParts) {
  const Context cpu = Context::cpu();
  EXPECT_NO_THROW(check_cloud(Cloud{}));
  Cloud cloud = three_points();
  EXPECT_NO_THROW(check_cloud(cloud));
  cloud.width = 3;
  EXPECT_THROW(check_cloud(cloud), Error);
  cloud.height = 1;
  EXPECT_NO_THROW(check_cloud(cloud));
  EXPECT_TRUE(cloud.organised());
  cloud.attributes.push_back({"label", Buffer<float>(cpu, 2)});
  EXPECT_THROW(check_cloud(cloud), Error);
  cloud.attributes.clear();
  cloud.normals = Buffer<Vec3f>(cpu, 4);
  EXPECT_THROW(check_cloud(cloud), Error);
}

TEST(Mesh, ChecksItsIndices) {
  const Context cpu = Context::cpu();
  EXPECT_NO_THROW(check_mesh(TriangleMesh{}));
  TriangleMesh mesh = textured_triangle();
  EXPECT_NO_THROW(check_mesh(mesh));
  for (const std::int32_t bad : {-1, 3}) {
    mesh.triangles.host()[0].z = bad;
    EXPECT_THROW(check_mesh(mesh), Error);
  }
  mesh.triangles.host()[0].z = 2;
  mesh.triangle_materials.host()[0] = 1;
  EXPECT_THROW(check_mesh(mesh), Error);
  mesh.triangle_materials = Buffer<std::int32_t>(cpu, 2);
  EXPECT_THROW(check_mesh(mesh), Error);
}

TEST(Mesh, TravelsWhole) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    TriangleMesh mesh = textured_triangle();
    mesh.vertices.attributes.push_back({"label", Buffer<float>(Context::cpu(), 3)});
    mesh.vertices.attributes[0].get<float>().host()[2] = 8;
    mesh.vertices.origin_m = {500000, 5400000, 0};
    mesh.texture_triangles = copy(Context::cpu(), std::vector<Vec3i>{{2, 1, 0}});
    mesh.corner_normals = copy(Context::cpu(), std::vector<Vec3f>{{0, 0, 1}});
    mesh.normal_triangles = copy(Context::cpu(), std::vector<Vec3i>{{0, 0, 0}});
    const TriangleMesh there = copy(context, mesh);
    EXPECT_EQ(there.device(), context.device());
    EXPECT_NO_THROW(check_mesh(there));
    const TriangleMesh back = to_host(context, there);
    EXPECT_EQ(back.vertices.points.host()[1], (Vec3f{1, 0, 2}));
    EXPECT_EQ(back.vertices.attributes[0].get<float>().host()[2], 8.0f);
    EXPECT_EQ(back.triangles.host()[0], (Vec3i{0, 1, 2}));
    EXPECT_EQ(back.materials[0].texture.width(), 2);
    EXPECT_EQ(back.texture_coordinates.host()[2], (Vec2f{0, 1}));
    EXPECT_EQ(back.vertices.origin_m, (Vec3d{500000, 5400000, 0}));
    EXPECT_EQ(back.texture_triangles.host()[0], (Vec3i{2, 1, 0}));
    EXPECT_EQ(back.corner_normals.host()[0], (Vec3f{0, 0, 1}));
    EXPECT_EQ(back.normal_triangles.size(), 1);
  }
}

TEST(Mesh, SeamsMustFitTheirTriangles) {
  const Context cpu = Context::cpu();
  TriangleMesh mesh = textured_triangle();
  mesh.texture_coordinates = copy(cpu, std::vector<Vec2f>{{0, 0}, {1, 0}});
  EXPECT_THROW(check_mesh(mesh), Error);
  mesh.texture_triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 1}});
  EXPECT_NO_THROW(check_mesh(mesh));
  mesh.texture_triangles.host()[0].z = 2;
  EXPECT_THROW(check_mesh(mesh), Error);
  mesh.texture_triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 1}, {0, 1, 1}});
  EXPECT_THROW(check_mesh(mesh), Error);
  mesh = textured_triangle();
  mesh.corner_normals = copy(cpu, std::vector<Vec3f>{{0, 0, 1}});
  EXPECT_THROW(check_mesh(mesh), Error);
}

TEST(Mesh, NormalsOfVerticesAreMeansByArea) {
  TriangleMesh mesh;
  // A triangle in z = 0 that faces up, one twice as large in x = 0 that faces +x, a lone vertex.
  mesh.vertices.points = copy(
      Context::cpu(), std::vector<Vec3f>{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 2}, {5, 5, 5}});
  mesh.triangles = copy(Context::cpu(), std::vector<Vec3i>{{0, 1, 2}, {0, 2, 3}});
  const Buffer<Vec3f> normals = vertex_normals(mesh);
  EXPECT_EQ(normals.host()[1], (Vec3f{0, 0, 1}));
  EXPECT_EQ(normals.host()[3], (Vec3f{1, 0, 0}));
  EXPECT_NEAR(normals.host()[0].x, 2 / std::sqrt(5.0), 1e-6);
  EXPECT_NEAR(normals.host()[0].z, 1 / std::sqrt(5.0), 1e-6);
  EXPECT_TRUE(std::isnan(normals.host()[4].x));
}

}  // namespace
}  // namespace sextant
