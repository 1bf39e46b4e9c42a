// SPDX-License-Identifier: Apache-2.0
// What files hold survives the way through a mesh: types, several numbers a point, seams; and what
// does not is named.
#include <gtest/gtest.h>

#include <fstream>

#include "sextant/io/geometry_file.h"
#include "sextant/io/ply.h"
#include "tests/same_geometry.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::expect_same;
using testing::TemporaryFolder;
using Parts = std::vector<std::string>;

/// Numbers that a float would change, in every type.
TriangleMesh typed_mesh() {
  const Context cpu = Context::cpu();
  TriangleMesh mesh;
  Cloud& cloud = mesh.vertices;
  cloud.points = copy(cpu, std::vector<Vec3f>{{0, 0, 1}, {1, 0, 1}, {0, 1, 1}});
  cloud.colors = copy(cpu, std::vector<Rgb8>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
  cloud.attributes.push_back({"label", copy(cpu, std::vector<std::uint32_t>{16777217, 0, ~0u})});
  cloud.attributes.push_back(
      {"time", copy(cpu, std::vector<double>{1700000000.123456, -1e-300, NAN})});
  cloud.attributes.push_back({"small", copy(cpu, std::vector<std::int8_t>{-128, 0, 127})});
  cloud.attributes.push_back({"ring", copy(cpu, std::vector<std::uint16_t>{65535, 1, 0})});
  cloud.attributes.push_back({"step", copy(cpu, std::vector<std::int16_t>{-32768, 1, 0})});
  cloud.attributes.push_back({"id", copy(cpu, std::vector<std::int32_t>{-16777217, 1, 0})});
  cloud.attributes.push_back(
      {"stamp", copy(cpu, std::vector<std::uint64_t>{18446744073709551615u, 1, 0})});
  cloud.attributes.push_back(
      {"offset", copy(cpu, std::vector<std::int64_t>{-9007199254740993, 1, 0})});
  cloud.attributes.push_back({"fpfh", copy(cpu, std::vector<float>{1, 2, 3, 4, 5, 6}), 2});
  cloud.attributes.push_back({"alpha", copy(cpu, std::vector<std::uint8_t>{0, 128, 255})});
  return mesh;
}

TEST(GeometryFidelity, TypesAndComponentsSurviveEveryFormatThatHasThem) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = typed_mesh();
  for (const auto& [name, encoding] :
       std::vector<std::pair<const char*, const char*>>{{"a.ply", "ascii"},
                                                        {"a.ply", "binary"},
                                                        {"a.ply", "binary_big_endian"},
                                                        {"a.pcd", "ascii"},
                                                        {"a.pcd", "binary"},
                                                        {"a.pcd", "binary_compressed"},
                                                        {"a.vtk", "ascii"}}) {
    SCOPED_TRACE(std::string(name) + " " + encoding);
    EXPECT_EQ(write_geometry(folder / name, mesh, encoding), Parts{});
    Parts left_out;
    TriangleMesh back = read_geometry(folder / name, {}, &left_out);
    EXPECT_EQ(left_out, Parts{});
    check_mesh(back);
    // PLY reads lists behind the numbers of a vertex.
    std::stable_sort(back.vertices.attributes.begin(), back.vertices.attributes.end(),
                     [&](const Attribute& a, const Attribute& b) {
                       const auto place = [&](const Attribute& c) {
                         return find_attribute(mesh.vertices.attributes, c.name);
                       };
                       return place(a) < place(b);
                     });
    expect_same(mesh, back);
  }
  EXPECT_EQ(write_geometry(folder / "a.obj", mesh).size(), 10u);
}

TEST(GeometryFidelity, LongHistogramsSurvive) {
  const TemporaryFolder folder;
  TriangleMesh mesh = typed_mesh();
  mesh.vertices.attributes.clear();
  std::vector<float> shot(3 * 352);
  for (std::size_t i = 0; i < shot.size(); ++i) shot[i] = static_cast<float>(i);
  mesh.vertices.attributes.push_back({"shot", copy(Context::cpu(), shot), 352});
  for (const char* name : {"a.ply", "a.pcd", "a.vtk"}) {
    EXPECT_EQ(write_geometry(folder / name, mesh), Parts{});
    expect_same(mesh, read_geometry(folder / name));
  }
}

TEST(GeometryFidelity, TextureSeamsSurviveAPly) {
  const TemporaryFolder folder;
  TriangleMesh mesh = testing::sample_mesh(4, 3);
  const std::int64_t triangles = mesh.triangles.size();
  std::vector<Vec2f> corners;
  mesh.texture_triangles = Buffer<Vec3i>(Context::cpu(), triangles);
  for (std::int32_t i = 0; i < triangles; ++i) {
    for (int k = 0; k < 3; ++k) {
      corners.push_back({static_cast<float>(i) / 16.0f, static_cast<float>(k) / 4.0f});
    }
    mesh.texture_triangles.data()[i] = {3 * i, 3 * i + 1, 3 * i + 2};
  }
  mesh.texture_coordinates = copy(Context::cpu(), corners);
  for (const auto& choice : kPlyEncodings) {
    SCOPED_TRACE(choice.name);
    EXPECT_EQ(write_ply(folder / "a.ply", mesh, {.encoding = choice.value}), Parts{});
    expect_same(mesh, read_ply(folder / "a.ply"));
  }
  mesh.corner_normals = copy(Context::cpu(), std::vector<Vec3f>{{0, 0, 1}});
  mesh.normal_triangles = Buffer<Vec3i>(Context::cpu(), triangles);
  std::fill_n(mesh.normal_triangles.data(), triangles, Vec3i{});
  EXPECT_EQ(write_geometry(folder / "a.ply", mesh), Parts{"corner normals"});
  EXPECT_EQ(write_geometry(folder / "a.vtk", mesh),
            (Parts{"organised size", "sensor pose", "materials", "texture coordinates of corners",
                   "corner normals"}));
}

Parts left_out_of(const TemporaryFolder& folder, const char* name, const std::string& text) {
  std::ofstream(folder / name, std::ios::binary) << text;
  Parts left_out;
  check_mesh(read_geometry(folder / name, {}, &left_out));
  EXPECT_EQ(geometry_info(folder / name).left_out, left_out);
  return left_out;
}

// A header whose count is too small loses points; it is said.
TEST(GeometryFidelity, WhatFollowsThePromisedPointsIsNamed) {
  const TemporaryFolder folder;
  const std::string ply =
      "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
      "property float z\nend_header\n0 0 1\n";
  EXPECT_EQ(left_out_of(folder, "a.ply", ply + "\n \n"), Parts{});
  EXPECT_EQ(left_out_of(folder, "b.ply", ply + "1 0 1\n"), Parts{"data behind the last element"});
  const std::string binary =
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\n"
      "property float y\nproperty float z\nend_header\n" +
      std::string(12, '\1');
  EXPECT_EQ(left_out_of(folder, "c.ply", binary + "\r\n"), Parts{});
  EXPECT_EQ(left_out_of(folder, "d.ply", binary + std::string(12, '\1')),
            Parts{"data behind the last element"});
  const std::string pcd =
      "VERSION .7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 1\nHEIGHT 1\n"
      "POINTS 1\nDATA ascii\n0 0 1\n";
  EXPECT_EQ(left_out_of(folder, "a.pcd", pcd), Parts{});
  EXPECT_EQ(left_out_of(folder, "b.pcd", pcd + "1 0 1\n"),
            Parts{"points behind the last one that is promised"});
}

TEST(GeometryFidelity, NamesWhatAMeshHasNoPlaceFor) {
  const TemporaryFolder folder;
  EXPECT_EQ(
      left_out_of(folder, "a.ply",
                  "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                  "property float z\nproperty list uchar int neighbours\nelement face 1\n"
                  "property list uchar int vertex_indices\nproperty float quality\n"
                  "element edge 1\nproperty int a\nproperty int b\nelement none 0\n"
                  "property int c\nend_header\n0 0 0 1 7\n1 0 0 2 7 8\n0 1 0 0\n3 0 1 2 .5\n0 1\n"),
      (Parts{"vertex list neighbours", "face property quality", "element edge"}));
  // Of a camera without axes not even the place is known; zeros say nothing.
  EXPECT_EQ(left_out_of(folder, "b.ply",
                        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n"
                        "property float y\nproperty float z\nelement camera 1\n"
                        "property float view_px\nproperty float focal\nproperty float k1\n"
                        "property list uchar int lens\nend_header\n0 0 0\n1 525 0 1 7\n"),
            (Parts{"camera property lens", "camera property focal", "camera property view_px"}));
  EXPECT_EQ(left_out_of(folder, "a.vtk",
                        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n"
                        "FIELD f 1\nTIME 1 1 double\n0.5\nPOINTS 2 float\n0 0 0 1 1 1\n"
                        "LINES 1 3\n2 0 1\nCELL_DATA 1\nSCALARS area float\n0.5\n"),
            (Parts{"array TIME", "array area", "lines"}));
  EXPECT_EQ(left_out_of(folder, "a.obj",
                        "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\ns off\nl 1 2\no b\nf 3 2 1\n"
                        "cstype bezier\n"),
            (Parts{"lines", "groups", "curves and surfaces"}));
  EXPECT_EQ(left_out_of(folder, "b.obj", "o all\nv 0 0 0\n"), Parts{});
}

}  // namespace
}  // namespace sextant
