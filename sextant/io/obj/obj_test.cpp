// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/obj.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "sextant/io/png.h"
#include "tests/error_message.h"
#include "tests/same_geometry.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::bytes_of;
using testing::error_message;
using testing::expect_same;
using testing::mentions;
using testing::TemporaryFolder;
using testing::triangles_of;

TriangleMesh parse(std::string_view text) { return read_obj(bytes_of(text), "test.obj"); }
std::string message_of(std::string_view text) {
  return error_message([&] { parse(text); });
}

const std::string kTriangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

TEST(Obj, ReadsEveryFormOfCorner) {
  const std::string points = kTriangle + "vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\n";
  for (const char* face :
       {"f 1 2 3", "f -3 -2 -1", "f 1/1 2/2 3/3", "f 1//1 2//1 3//-1", "f 1/1/1 2/2/1 3/-1/1",
        "f 1/1/ 2/2/ 3/3/", "f 1 2 \\\n3", "f 1 2\\\n 3 # comment", "  f\t+1 2 3 \r"}) {
    SCOPED_TRACE(face);
    const TriangleMesh mesh = parse(points + face + "\n");
    EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}}));
    EXPECT_EQ(mesh.vertices.size(), 3);
    const std::string text(face);
    if (text.find("3/") != std::string::npos && text.find("//") == std::string::npos) {
      ASSERT_EQ(mesh.texture_coordinates.size(), 3);
      EXPECT_EQ(mesh.texture_coordinates.data()[1], (Vec2f{1, 0}));
    }
    check_mesh(mesh);
  }
}

TEST(Obj, NegativeIndicesCountBackFromTheirLine) {
  const TriangleMesh mesh = parse(kTriangle + "f -3 -2 -1\n" + kTriangle + "f -3 -2 -1\n");
  EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}, {3, 4, 5}}));
}

std::vector<Vec3i> corners_of(const Buffer<Vec3i>& triangles) {
  const auto corners = triangles.host();
  return {corners.begin(), corners.end()};
}

TEST(Obj, SeamsBelongToCornersAndVerticesStayWhole) {
  // Two triangles share the edge 2-3: vertex 2 with the same texture coordinate, vertex 3 not.
  const TriangleMesh mesh = parse(kTriangle +
                                  "v 1 1 0 # unused by the first face\nvt 0 0\nvt 1 0\nvt 0 1\n"
                                  "vt .5 .5\nf 1/1 2/2 3/3\nf 3/4 2/2 4/1\nf 3/4 2/2 4/1\n"
                                  "v 9 9 9\n");
  check_mesh(mesh);
  EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}, {2, 1, 3}, {2, 1, 3}}));
  ASSERT_EQ(mesh.vertices.size(), 5);
  EXPECT_EQ(mesh.vertices.points.data()[4], (Vec3f{9, 9, 9}));
  ASSERT_EQ(mesh.texture_coordinates.size(), 4);
  EXPECT_EQ(corners_of(mesh.texture_triangles),
            (std::vector<Vec3i>{{0, 1, 2}, {3, 1, 0}, {3, 1, 0}}));
  EXPECT_TRUE(mesh.corner_normals.empty());
}

TEST(Obj, CornersThatAgreeBelongToTheirVertices) {
  // Numbers differ, but both lines of a vertex say the same.
  const TriangleMesh mesh = parse(kTriangle +
                                  "v 1 1 0\nvn 0 0 1\nvn 0 1 0\nvn 0 0 1\nvn 0 1 0\n"
                                  "f 1//1 2//2 3//3\nf 3//1 2//4 4//2\n");
  EXPECT_TRUE(mesh.normal_triangles.empty());
  ASSERT_EQ(mesh.vertices.normals.size(), 4);
  EXPECT_EQ(mesh.vertices.normals.data()[1], (Vec3f{0, 1, 0}));
  EXPECT_EQ(mesh.vertices.normals.data()[2], (Vec3f{0, 0, 1}));
}

TEST(Obj, NormalsOfFlatFacesAreSeams) {
  const TriangleMesh mesh = parse(kTriangle +
                                  "v 0 0 1\nvn 0 0 1\nvn 1 0 0\nf 1//1 2//1 3//1\n"
                                  "f 1//2 3//2 4//2\nf 1 2 4\n");
  check_mesh(mesh);
  EXPECT_TRUE(mesh.vertices.normals.empty());
  // A corner without a normal has a zero one, behind those of the file.
  ASSERT_EQ(mesh.corner_normals.size(), 3);
  EXPECT_EQ(mesh.corner_normals.data()[2], (Vec3f{}));
  EXPECT_EQ(corners_of(mesh.normal_triangles),
            (std::vector<Vec3i>{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}));
}

TEST(Obj, SeamsAreWrittenAndReadBack) {
  const TemporaryFolder folder;
  TriangleMesh mesh = testing::sample_mesh(5, 4);
  mesh.vertices.attributes.clear();
  mesh.vertices.normals = {};
  mesh.vertices.width = mesh.vertices.height = 0;
  mesh.vertices.world_from_sensor = {};
  const std::int64_t triangles = mesh.triangles.size();
  mesh.corner_normals = copy(Context::cpu(), std::vector<Vec3f>{{0, 0, 1}, {1, 0, 0}});
  mesh.normal_triangles = Buffer<Vec3i>(Context::cpu(), triangles);
  mesh.texture_triangles = Buffer<Vec3i>(Context::cpu(), triangles);
  for (std::int32_t i = 0; i < triangles; ++i) {
    mesh.normal_triangles.data()[i] = {i % 2, i % 2, i % 2};
    mesh.texture_triangles.data()[i] = {i % 20, (i + 7) % 20, (i + 3) % 20};
  }
  EXPECT_TRUE(write_obj(folder / "mesh.obj", mesh).empty());
  expect_same(mesh, read_obj(folder / "mesh.obj"));
}

TEST(Obj, VerticesMayFollowTheirFaces) {
  const TriangleMesh mesh =
      parse("f 1/1/1 2/2/1 3/3/1\n" + kTriangle + "vt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\n");
  EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}}));
  EXPECT_EQ(mesh.texture_coordinates.data()[1], (Vec2f{1, 0}));
  EXPECT_EQ(mesh.vertices.normals.data()[2], (Vec3f{0, 0, 1}));
  EXPECT_EQ(message_of("f 1 2 3\nf 1 2 5\nf 1 2 4\n" + kTriangle),
            "test.obj: line 2: the vertex index 5 is outside the 3 of the file");
}

TEST(Obj, BackslashesContinueAnyLineButComments) {
  const TriangleMesh mesh = parse(
      "# models in C:\\scans\\\nv 0 0 \\\n0\nv 1 \\ \r\n 0 \\\r\n 0\nv 0 1 0\nvn \\\n0 0 1\n"
      "f 1 2 \\\n 3\n");
  ASSERT_EQ(mesh.vertices.size(), 3);
  EXPECT_EQ(mesh.vertices.points.data()[1], (Vec3f{1, 0, 0}));
  EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}}));
  // Lines keep their numbers.
  EXPECT_TRUE(mentions(message_of("v 0 0 \\\n0\nv 1 x 0\n"), "line 3: "));
}

TEST(Obj, AByteOrderMarkIsNoWord) {
  const TriangleMesh mesh = parse("\xef\xbb\xbf" + kTriangle + "f 1 2 3\n");
  EXPECT_EQ(mesh.vertices.size(), 3);
  EXPECT_EQ(read_mtl(bytes_of("\xef\xbb\xbfnewmtl a\nKd 1 0 0\n"), "a.mtl").size(), 1u);
}

TEST(Obj, GarbageIsAnError) {
  EXPECT_EQ(message_of("# a letter\nDear reader,\nthis is no mesh.\n"),
            "test.obj: line 2: 'Dear' is no word of an OBJ file, and no line gives a vertex");
  EXPECT_TRUE(mentions(message_of(std::string("\x7f"
                                              "ELF\0\1\2\n",
                                              8)),
                       "is no word of an OBJ"));
  // A word that some tool invented does no harm beside vertices, and an empty mesh is one.
  EXPECT_EQ(parse(kTriangle + "colour red\n").vertices.size(), 3);
  EXPECT_EQ(parse("# empty\no nothing\n").vertices.size(), 0);
}

TEST(Obj, PolygonsBecomeFans) {
  const TriangleMesh mesh = parse(kTriangle + "v 1 1 0\nv 2 2 2\nf 1 2 3 4 5\n");
  EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
}

TEST(Obj, ReadsColoursAndWeights) {
  const TriangleMesh mesh = parse("v 1 2 3 1\nv 1 2 3 0 0.5 1\nv 4 5 6\n");
  ASSERT_EQ(mesh.vertices.colors.size(), 3);
  EXPECT_EQ(mesh.vertices.colors.data()[0], (Rgb8{255, 255, 255}));
  EXPECT_EQ(mesh.vertices.colors.data()[1], (Rgb8{0, 128, 255}));
  EXPECT_EQ(mesh.vertices.colors.data()[2], (Rgb8{255, 255, 255}));
}

// As programs write them that keep bytes.
TEST(Obj, ReadsColoursThatCountTo255) {
  const TriangleMesh mesh = parse("v 1 2 3 255 128 0\nv 1 2 3 1 1 1\nv 4 5 6\n");
  EXPECT_EQ(mesh.vertices.colors.data()[0], (Rgb8{255, 128, 0}));
  EXPECT_EQ(mesh.vertices.colors.data()[1], (Rgb8{1, 1, 1}));
  EXPECT_EQ(mesh.vertices.colors.data()[2], (Rgb8{255, 255, 255}));
}

TEST(Obj, CloudsKeepNormalsInTheirOrder) {
  const TriangleMesh mesh = parse("v 1 2 3\nv 4 5 6\nvn 0 0 1\nvn 1 0 0\nvt 0 1\n");
  ASSERT_EQ(mesh.vertices.normals.size(), 2);
  EXPECT_EQ(mesh.vertices.normals.data()[1], (Vec3f{1, 0, 0}));
  EXPECT_TRUE(mesh.texture_coordinates.empty());
}

TEST(Obj, MaterialsComeInTheOrderOfUse) {
  const TemporaryFolder folder;
  std::ofstream(folder / "look of things.mtl")
      << "# library\nnewmtl unused\nKd 0 0 0\nmap_Kd huge.png\nnewmtl red\nKa 1 1 1\nKd 1 0 0\r\n"
         "newmtl  skin of tin \nKd .5\nmap_Kd -s 2 2 2 -o 0.5 -blendu on -mm 0 1 3 little.png\n"
         "newmtl odd\nKd spectral file.rfl 1\nmap_Kd -clamp on C:\\pictures\\3 little.png\n";
  Image<Rgb8> picture(Context::cpu(1), 3, 2);
  std::fill_n(picture.pixels().data(), 6, Rgb8{7, 8, 9});
  write_png(folder / "3 little.png", picture.view());
  std::ofstream(folder / "a.obj") << "mtllib look of things.mtl\nmtllib missing.mtl\n"
                                  << kTriangle
                                  << "f 1 2 3\nusemtl skin of tin\nf 1 2 3\nusemtl nowhere\n"
                                     "f 3 2 1\nusemtl skin of tin\nf 2 3 1\nusemtl odd\nf 1 2 3\n"
                                     "usemtl red\nf 1 2 3\n";
  const TriangleMesh mesh = read_obj(folder / "a.obj");
  check_mesh(mesh);
  std::string names;
  for (const Material& material : mesh.materials) names += material.name + ",";
  EXPECT_EQ(names, "skin of tin,nowhere,odd,red,default,");
  const auto used = mesh.triangle_materials.host();
  EXPECT_EQ(std::vector<int>(used.begin(), used.end()), (std::vector<int>{4, 0, 1, 0, 2, 3}));
  EXPECT_EQ(mesh.materials[0].diffuse, (Vec3f{0.5f, 0.5f, 0.5f}));
  EXPECT_EQ(mesh.materials[0].texture_file, "3 little.png");
  EXPECT_EQ(mesh.materials[0].texture.width(), 3);
  EXPECT_EQ(mesh.materials[2].diffuse, (Vec3f{1, 1, 1}));
  EXPECT_EQ(mesh.materials[2].texture_file, "C:\\pictures\\3 little.png");
  EXPECT_EQ(mesh.materials[2].texture.height(), 2);
  EXPECT_EQ(mesh.materials[3].diffuse, (Vec3f{1, 0, 0}));
  EXPECT_EQ(mesh.materials[1].diffuse, (Vec3f{1, 1, 1}));
}

TEST(Obj, OneMaterialNeedsNoNumbers) {
  const TriangleMesh mesh = parse(kTriangle + "usemtl only\nf 1 2 3\n");
  ASSERT_EQ(mesh.materials.size(), 1u);
  EXPECT_TRUE(mesh.triangle_materials.empty());
  EXPECT_TRUE(parse(kTriangle + "mtllib a.mtl\nf 1 2 3\n").materials.empty());
}

TEST(Obj, TexturesThatAreNoRegularFilesStayEmpty) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo.png").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((folder / "fifo.mtl").c_str(), 0600), 0);
  for (const std::string name : {"fifo.png", "missing.png", "/dev/zero", "."}) {
    std::ofstream(folder / "a.mtl") << "newmtl m\nmap_Kd " << name << "\n";
    std::ofstream(folder / "a.obj") << "mtllib fifo.mtl\nmtllib a.mtl\n"
                                    << kTriangle << "usemtl m\nf 1 2 3\n";
    const TriangleMesh mesh = read_obj(folder / "a.obj");
    ASSERT_EQ(mesh.materials.size(), 1u);
    EXPECT_EQ(mesh.materials[0].texture_file, name);
    EXPECT_TRUE(mesh.materials[0].texture.empty());
  }
}

TEST(Obj, WritesAndReadsBackTheSameBits) {
  const TemporaryFolder folder;
  TriangleMesh mesh = testing::sample_mesh(6, 5);
  mesh.vertices.attributes.clear();
  mesh.vertices.width = mesh.vertices.height = 0;
  mesh.vertices.world_from_sensor = {};
  mesh.materials.emplace_back().name = "second";
  mesh.materials[1].diffuse = {0.25f, 0.5f, 0.125f};
  mesh.materials[1].texture_file = "elsewhere.png";
  std::vector<std::int32_t> materials(static_cast<std::size_t>(mesh.triangles.size()), 0);
  materials[3] = materials[4] = 1;
  mesh.triangle_materials = copy(Context::cpu(), materials);
  EXPECT_TRUE(write_obj(folder / "mesh.obj", mesh).empty());
  const TriangleMesh read = read_obj(folder / "mesh.obj");
  expect_same(mesh, read);
  ASSERT_EQ(read.materials.size(), 2u);
  EXPECT_EQ(read.materials[0].texture_file, "mesh_0.png");
  testing::expect_same_bits(read.materials[0].texture.pixels(), mesh.materials[0].texture.pixels(),
                            "texel");
  EXPECT_EQ(read.materials[1].diffuse, mesh.materials[1].diffuse);
  EXPECT_EQ(read.materials[1].texture_file, "elsewhere.png");
}

TEST(Obj, WritesPlainCloudsAndReportsWhatItCannotHold) {
  const TemporaryFolder folder;
  TriangleMesh mesh;
  mesh.vertices = testing::sample_cloud(4, 3);
  EXPECT_EQ(write_obj(folder / "cloud.obj", mesh),
            (std::vector<std::string>{"organised size", "sensor pose", "attribute intensity",
                                      "attribute alpha"}));
  const TriangleMesh read = read_obj(folder / "cloud.obj");
  testing::expect_same_bits(read.vertices.points, mesh.vertices.points, "point");
  testing::expect_same_bits(read.vertices.normals, mesh.vertices.normals, "normal");
  testing::expect_same_bits(read.vertices.colors, mesh.vertices.colors, "color");
  EXPECT_FALSE(std::filesystem::exists(folder / "cloud.mtl"));
}

TEST(Obj, TheUnitScalesPositions) {
  const TriangleMesh mesh =
      read_obj(bytes_of("v 1 2 3000\nvn 0 0 1\n"), "a.obj", {.unit_m = 0.001, .progress = {}});
  EXPECT_EQ(mesh.vertices.points.data()[0], (Vec3f{0.001f, 0.002f, 3.0f}));
  EXPECT_EQ(mesh.vertices.normals.data()[0], (Vec3f{0, 0, 1}));
}

TEST(Obj, ErrorsNameFileAndLine) {
  EXPECT_EQ(message_of("v 0 0 0\nv 1 x 0\n"),
            "test.obj: line 2: expected a number for v, found 'x'");
  EXPECT_TRUE(mentions(message_of("v 1 2\n"), "expected 3, 4 or 6 numbers for a vertex, found 2"));
  EXPECT_TRUE(mentions(message_of("v 1 2 3 4 5\n"), "found 5"));
  EXPECT_TRUE(mentions(message_of("v 1 2 3 4 5 6 7\n"), "at most 6"));
  EXPECT_TRUE(mentions(message_of("vn 1 2\n"), "expected a number for vn, the line ends"));
  EXPECT_TRUE(mentions(message_of("vn 1 2 3 4\n"), "found '4'"));
  EXPECT_TRUE(mentions(message_of(kTriangle + "f 1 2 4\n"),
                       "line 4: the vertex index 4 is outside the 3 of the file"));
  EXPECT_TRUE(mentions(message_of(kTriangle + "f 1 2 -4\n"), "the vertex index -4"));
  EXPECT_TRUE(mentions(message_of(kTriangle + "f 1/1 2/1 3/1\n"), "the texture index 1"));
  EXPECT_TRUE(mentions(message_of(kTriangle + "f 1//1 2//1 3//1\n"), "the normal index 1"));
  EXPECT_TRUE(mentions(message_of(kTriangle + "f 1 2\n"), "at least three corners"));
  for (const char* corner : {"0", "x", "/1", "1/2/3/4", "1/x", "1//0", "1.5", "1/1/1/"}) {
    EXPECT_TRUE(mentions(message_of(kTriangle + "vt 0 0\nvt 0 0\nvn 0 0 1\nf 1 2 " + corner + "\n"),
                         "expected a corner"))
        << corner;
  }
}

TEST(Mtl, ReadsWithoutOpeningOtherFiles) {
  const std::vector<Material> materials =
      read_mtl(bytes_of("Kd 1 1 1\nnewmtl a\nKd 2 -1 nan\nmap_Kd\nnewmtl\n"), "a.mtl");
  ASSERT_EQ(materials.size(), 2u);
  EXPECT_EQ(materials[0].diffuse, (Vec3f{1, 0, 0}));
  EXPECT_EQ(materials[0].texture_file, "");
  EXPECT_EQ(materials[1].name, "");
  EXPECT_TRUE(mentions(error_message([] { read_mtl(bytes_of("newmtl a\nKd red\n"), "a.mtl"); }),
                       "a.mtl: line 2: expected a number for Kd"));
}

TEST(Obj, ReadsMeshesOfOtherTools) {
  const auto can = testing::shared_data("ycbv_frames/meshes/002_master_chef_can.obj");
  const auto dragon = testing::shared_data("visp_rbt/models/dragon.obj");
  const auto small = testing::shared_data("library_meshes/dragon_small.obj");
  if (!can || !dragon || !small) GTEST_SKIP() << "the meshes are not there";
  const TriangleMesh textured = read_obj(*can);
  check_mesh(textured);
  EXPECT_EQ(textured.materials.size(), 1u);
  EXPECT_FALSE(textured.texture_coordinates.empty());
  const TriangleMesh coloured = read_obj(*dragon);
  EXPECT_EQ(coloured.vertices.size(), 7415);
  EXPECT_EQ(coloured.normal_triangles.size(), coloured.triangles.size());
  ASSERT_EQ(coloured.materials.size(), 1u);
  EXPECT_FLOAT_EQ(coloured.materials[0].diffuse.y, 0.015198f);
  const TriangleMesh scanned = read_obj(*small);
  EXPECT_EQ(scanned.vertices.size(), 22998);
  EXPECT_EQ(scanned.triangles.size(), 47794);
}

}  // namespace
}  // namespace sextant
