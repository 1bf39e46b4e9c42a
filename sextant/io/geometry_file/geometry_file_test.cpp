// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/geometry_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/error_message.h"
#include "tests/same_geometry.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::expect_same;
using testing::mentions;
using testing::TemporaryFolder;
using Parts = std::vector<std::string>;

TEST(GeometryFile, WritesByExtensionAndReadsByContent) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = testing::sample_mesh(5, 4);
  struct Case {
    const char* name;
    const char* encoding;
    GeometryFormat format;
    const char* expected_encoding;
    Parts dropped;
  };
  const Case cases[] = {
      {"a.ply", "", GeometryFormat::kPly, "binary_little_endian", {}},
      {"a.PLY", "binary", GeometryFormat::kPly, "binary_little_endian", {}},
      {"a.ply", "ascii", GeometryFormat::kPly, "ascii", {}},
      {"a.ply", "binary_big_endian", GeometryFormat::kPly, "binary_big_endian", {}},
      {"a.pcd",
       "",
       GeometryFormat::kPcd,
       "binary",
       {"triangles", "texture coordinates", "materials"}},
      {"a.pcd",
       "ascii",
       GeometryFormat::kPcd,
       "ascii",
       {"triangles", "texture coordinates", "materials"}},
      {"a.pcd",
       "binary_compressed",
       GeometryFormat::kPcd,
       "binary_compressed",
       {"triangles", "texture coordinates", "materials"}},
      {"a.obj",
       "",
       GeometryFormat::kObj,
       "ascii",
       {"organised size", "sensor pose", "attribute intensity", "attribute alpha"}},
      {"a.vtk",
       "ascii",
       GeometryFormat::kVtk,
       "ascii",
       {"organised size", "sensor pose", "materials"}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.name) + " " + c.encoding);
    EXPECT_EQ(write_geometry(folder / c.name, mesh, c.encoding), c.dropped);
    const TriangleMesh read = read_geometry(folder / c.name);
    testing::expect_same_bits(read.vertices.points, mesh.vertices.points, "point");
    testing::expect_same_bits(read.vertices.normals, mesh.vertices.normals, "normal");
    testing::expect_same_bits(read.vertices.colors, mesh.vertices.colors, "color");
    const GeometryInfo info = geometry_info(folder / c.name);
    EXPECT_EQ(info.format, c.format);
    EXPECT_EQ(info.encoding, c.expected_encoding);
    EXPECT_EQ(info.points, 20);
    EXPECT_EQ(info.triangles, c.format == GeometryFormat::kPcd ? 0 : 24);
  }
}

TEST(GeometryFile, TheContentWinsOverTheExtension) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = testing::sample_mesh(4, 4);
  for (const char* name : {"a.ply", "a.pcd", "a.vtk"}) {
    (void)write_geometry(folder / name, mesh);
    std::filesystem::rename(folder / name, folder / "renamed.obj");
    EXPECT_EQ(read_geometry(folder / "renamed.obj").vertices.size(), 16) << name;
    std::filesystem::rename(folder / "renamed.obj", folder / "nothing");
    EXPECT_EQ(read_geometry(folder / "nothing").vertices.size(), 16) << name;
  }
}

TEST(GeometryFile, InfoTellsWhatIsThere) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.ply")
      << "ply\nformat ascii 1.0\ncomment made by hand\nobj_info is_mesh 0\n"
         "comment sextant width 2 height 2\nelement vertex 4\nproperty float x\nproperty float y\n"
         "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
         "property float quality\nend_header\n"
         "1 2 3 0 0 0 1\n-1 5 3 0 0 0 1\nnan 0 0 0 0 0 1\n0 0 inf 0 0 0 1\n";
  const GeometryInfo info = geometry_info(folder / "a.ply");
  EXPECT_STREQ(to_string(info.format), "PLY");
  EXPECT_EQ(info.points, 4);
  EXPECT_EQ(info.invalid_points, 2);
  EXPECT_EQ(info.triangles, 0);
  EXPECT_EQ(info.fields, (Parts{"colors", "quality"}));
  EXPECT_EQ(info.width, 2);
  EXPECT_EQ(info.height, 2);
  EXPECT_EQ(info.bounds.low, (Vec3f{-1, 2, 3}));
  EXPECT_EQ(info.bounds.high, (Vec3f{1, 5, 3}));
  EXPECT_EQ(info.comments, (Parts{"made by hand", "sextant width 2 height 2", "is_mesh 0"}));
  EXPECT_EQ(geometry_info(folder / "a.ply", {.unit_m = 0.5, .progress = {}}).bounds.high.y, 2.5f);
}

TEST(GeometryFile, RefusesWhatItDoesNotKnow) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.doc") << "Dear reader,\n";
  EXPECT_TRUE(mentions(error_message([&] { read_geometry(folder / "a.doc"); }),
                       "is neither PLY, PCD, VTK nor OBJ, nor a text of points"));
  EXPECT_TRUE(
      mentions(error_message([&] { read_geometry(folder / "missing.ply"); }), "missing.ply"));
  const TriangleMesh mesh = testing::sample_mesh(3, 3);
  for (const char* name : {"a.stl", "a.xyz"}) {
    EXPECT_TRUE(mentions(error_message([&] { (void)write_geometry(folder / name, mesh); }),
                         "the extension is none of"));
  }
  for (const char* name : {"a.ply", "a.pcd", "a.obj", "a.vtk"}) {
    EXPECT_TRUE(mentions(error_message([&] { (void)write_geometry(folder / name, mesh, "zip"); }),
                         "'zip'"));
  }
  EXPECT_TRUE(mentions(
      error_message([&] { (void)write_geometry(folder / "a.obj", mesh, "binary"); }), "'binary'"));
}

TEST(GeometryFile, MeshesThatDoNotFitTogetherAreNotWritten) {
  const TemporaryFolder folder;
  TriangleMesh mesh = testing::sample_mesh(3, 3);
  mesh.triangles.data()[0].x = 9;
  for (const char* name : {"a.ply", "a.obj", "a.vtk"}) {
    EXPECT_TRUE(
        mentions(error_message([&] { (void)write_geometry(folder / name, mesh); }), "vertex 9"));
    EXPECT_FALSE(std::filesystem::exists(folder / name));
  }
  mesh.vertices.normals = Buffer<Vec3f>(Context::cpu(), 2);
  EXPECT_TRUE(
      mentions(error_message([&] { (void)write_geometry(folder / "a.pcd", mesh); }), "normals"));
}

TEST(GeometryFile, EmptyFilesAreErrors) {
  const TemporaryFolder folder;
  for (const char* name : {"a.ply", "a.pcd", "a.vtk", "a.xyz"}) {
    std::ofstream(folder / name).flush();
    EXPECT_THROW(read_geometry(folder / name), Error) << name;
  }
  // An OBJ file may be empty.
  std::ofstream(folder / "a.obj").flush();
  EXPECT_EQ(read_geometry(folder / "a.obj").vertices.size(), 0);
}

}  // namespace
}  // namespace sextant
