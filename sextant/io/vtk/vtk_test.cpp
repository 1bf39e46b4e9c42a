// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/vtk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>

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

const std::string kStart = "# vtk DataFile Version 3.0\na title\nASCII\nDATASET POLYDATA\n";
const std::string kPoints = kStart + "POINTS 4 float\n0 0 0  1 0 0\n1 1 0\n0 1 NaN\n";

TriangleMesh parse(std::string_view text) { return read_vtk(bytes_of(text), "test.vtk"); }
std::string message_of(std::string_view text) {
  return error_message([&] { parse(text); });
}
std::string attribute_names(const TriangleMesh& mesh) {
  std::string names;
  for (const Attribute& attribute : mesh.vertices.attributes) names += attribute.name + " ";
  return names;
}

template <class T>
void append(std::string& text, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  text.append(std::make_reverse_iterator(bytes + sizeof(T)), std::make_reverse_iterator(bytes + 0));
}

TEST(Vtk, ReadsPolygonsStripsAndVertices) {
  const TriangleMesh mesh = parse(kPoints +
                                  "VERTICES 2 4\n1 0\n1 3\nLINES 1 3\n2 0 1\n"
                                  "POLYGONS 2 9\n3 0 1 2\n4 0 1 2 3\n"
                                  "TRIANGLE_STRIPS 1 5\n4 0 1 2 3\n");
  EXPECT_EQ(mesh.vertices.size(), 4);
  EXPECT_TRUE(std::isnan(mesh.vertices.points.data()[3].z));
  EXPECT_EQ(triangles_of(mesh),
            (std::vector<Vec3i>{{0, 1, 2}, {0, 1, 2}, {0, 2, 3}, {0, 1, 2}, {2, 1, 3}}));
}

TEST(Vtk, ReadsCellsOfVersion5) {
  const TriangleMesh mesh = parse(kPoints +
                                  "METADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION x\n"
                                  "DATA 2 0 1\n\nPOLYGONS 3 7\nOFFSETS vtktypeint64\n0 3 7\n"
                                  "CONNECTIVITY vtktypeint64\n0 1 2 0 1 2 3\n");
  EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}, {0, 1, 2}, {0, 2, 3}}));
}

TEST(Vtk, PointDataBecomeNormalsColoursAndAttributes) {
  const TriangleMesh mesh =
      parse(kPoints +
            "CELL_DATA 1\nSCALARS area float\nLOOKUP_TABLE default\n0.5\nNORMALS n float\n0 0 1\n"
            "POINT_DATA 4\nSCALARS stick double 1\nLOOKUP_TABLE mine\n1 2 3 4\n"
            "LOOKUP_TABLE mine 2\n0 0 0 1\n1 1 1 1\n"
            "COLOR_SCALARS rgb 3\n0 0.5 1  0 0 0  1 1 1  0 0 0\n"
            "VECTORS flow float\n1 2 3 4 5 6 7 8 9 10 11 12\n"
            "NORMALS normals float\n0 0 1 0 0 1 0 0 1 0 0 1\n"
            "TEXTURE_COORDINATES uv 2 float\n0 0 1 0 1 1 0 1\n"
            "TENSORS t float\n1 0 0 0 1 0 0 0 1\n1 0 0 0 1 0 0 0 1\n1 0 0 0 1 0 0 0 1\n1 0 0 0 1 0 "
            "0 0 9\n"
            "FIELD more 3\nlabel 1 4 int\n7 8 9 10\npair 2 4 float\n1 2 3 4 5 6 7 8\n"
            "hist 17 4 float\n" +
            [] {
              std::string zeros;
              for (int i = 0; i < 68; ++i) zeros += "0 ";
              return zeros;
            }());
  EXPECT_EQ(attribute_names(mesh), "stick flow t label pair hist ");
  EXPECT_EQ(mesh.vertices.colors.host()[0], (Rgb8{0, 128, 255}));
  EXPECT_EQ(mesh.vertices.normals.size(), 4);
  EXPECT_EQ(mesh.texture_coordinates.host()[2], (Vec2f{1, 1}));
  const auto& attributes = mesh.vertices.attributes;
  EXPECT_EQ(attributes[0].get<double>().data()[3], 4.0);
  EXPECT_EQ(attributes[1].components, 3);
  EXPECT_EQ(attributes[1].get<float>().data()[4], 5.0f);
  EXPECT_EQ(attributes[2].components, 9);
  EXPECT_EQ(attributes[2].get<float>().data()[35], 9.0f);
  EXPECT_EQ(attributes[3].get<std::int32_t>().data()[2], 9);
  EXPECT_EQ(attributes[4].get<float>().data()[7], 8.0f);
  EXPECT_EQ(attributes[5].components, 17);
}

TEST(Vtk, BytesOfThreeOrFourAreColours) {
  const TriangleMesh mesh =
      parse(kPoints +
            "POINT_DATA 4\nSCALARS RGBA unsigned_char 4\nLOOKUP_TABLE default\n"
            "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 255\n");
  EXPECT_EQ(mesh.vertices.colors.host()[3], (Rgb8{13, 14, 15}));
  ASSERT_EQ(attribute_names(mesh), "alpha ");
  EXPECT_EQ(mesh.vertices.attributes[0].get<std::uint8_t>().data()[3], 255);
}

TEST(Vtk, SkipsFieldsOfTheFile) {
  const TriangleMesh mesh = parse(kStart +
                                  "FIELD FieldData 2\nTIME 1 1 double\n0.5\nnames 1 2 string\n"
                                  "first one\nsecond\nPOINTS 1 double\n1 2 3\n");
  EXPECT_EQ(mesh.vertices.points.host()[0], (Vec3f{1, 2, 3}));
}

TEST(Vtk, ReadsBinaryArrays) {
  std::string text =
      "# vtk DataFile Version 4.2\ntitle\nBINARY\nDATASET POLYDATA\nPOINTS 3 float\n";
  for (const float value : {0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.5f}) append(text, value);
  text += "\nPOLYGONS 1 4\n";
  for (const std::int32_t value : {3, 0, 1, 2}) append(text, value);
  text += "\nPOINT_DATA 3\nSCALARS k double\nLOOKUP_TABLE default\n";
  for (const double value : {10.0, 0.25, -1.0}) append(text, value);
  text += "\nCOLOR_SCALARS rgb 3\n";
  for (int i = 0; i < 9; ++i) text += static_cast<char>(20 * i);
  text += "\nSCALARS id short\n";
  for (const int value : {-1, 2, 3}) append(text, static_cast<std::int16_t>(value));
  const TriangleMesh mesh = parse(text + "\n");
  EXPECT_EQ(mesh.vertices.points.host()[2], (Vec3f{0, 1, 0.5f}));
  EXPECT_EQ(triangles_of(mesh), (std::vector<Vec3i>{{0, 1, 2}}));
  ASSERT_EQ(attribute_names(mesh), "k id ");
  EXPECT_EQ(mesh.vertices.attributes[0].get<double>().data()[0], 10.0);
  EXPECT_EQ(mesh.vertices.attributes[1].get<std::int16_t>().data()[0], -1);
  EXPECT_EQ(mesh.vertices.colors.host()[2], (Rgb8{120, 140, 160}));
  EXPECT_TRUE(mentions(message_of(text.substr(0, 100)), "room for"));
}

TEST(Vtk, WritesAndReadsBackTheSameBits) {
  const TemporaryFolder folder;
  TriangleMesh mesh = testing::sample_mesh(8, 5);
  EXPECT_EQ(write_vtk(folder / "a.vtk", mesh),
            (std::vector<std::string>{"organised size", "sensor pose", "materials"}));
  mesh.vertices.width = mesh.vertices.height = 0;
  mesh.vertices.world_from_sensor = {};
  expect_same(mesh, read_vtk(folder / "a.vtk"));
  mesh.triangles = {};
  write_vtk(folder / "cloud.vtk", mesh);
  expect_same(mesh, read_vtk(folder / "cloud.vtk"));
  write_vtk(folder / "empty.vtk", TriangleMesh{});
  EXPECT_EQ(read_vtk(folder / "empty.vtk").vertices.size(), 0);
}

TEST(Vtk, TheUnitScalesPositions) {
  const TriangleMesh mesh = read_vtk(bytes_of(kStart + "POINTS 1 float\n1 2 3000\n"), "a.vtk",
                                     {.unit_m = 0.001, .progress = {}});
  EXPECT_EQ(mesh.vertices.points.host()[0], (Vec3f{0.001f, 0.002f, 3.0f}));
}

TEST(Vtk, RefusesBrokenFiles) {
  EXPECT_TRUE(mentions(message_of(""), "is no VTK file"));
  EXPECT_TRUE(mentions(message_of("# vtk DataFile Version 3.0\nt\nEBCDIC\n"), "found 'EBCDIC'"));
  EXPECT_TRUE(mentions(message_of("# vtk DataFile Version 3.0\nt\nASCII\nDATASET VOLUME\n"),
                       "line 4: expected POLYDATA, found 'VOLUME'"));
  EXPECT_TRUE(mentions(message_of(kStart), "has no POINTS"));
  EXPECT_TRUE(mentions(message_of(kStart + "POINTS 2 float\n0 0 0\n"), "room for"));
  EXPECT_TRUE(
      mentions(message_of(kStart + "POINTS 9223372036854775807 float\n0 0 0\n"), "is promised"));
  EXPECT_TRUE(mentions(message_of(kStart + "POINTS -1 float\n"), "negative"));
  EXPECT_TRUE(mentions(message_of(kStart + "POINTS 1 quad\n0 0 0\n"), "found 'quad'"));
  EXPECT_TRUE(
      mentions(message_of(kStart + "POINTS 1 float\n0 a 0\n"), "line 6: expected a number"));
  EXPECT_TRUE(mentions(message_of(kPoints + "POLYGONS 1 4\n3 0 1 4\n"), "the point index 4"));
  EXPECT_TRUE(mentions(message_of(kPoints + "POLYGONS 2 4\n3 0 1 2\n"), "the 2 cells"));
  EXPECT_TRUE(mentions(message_of(kPoints + "POLYGONS 1 4\n9 0 1 2\n"), "a cell of 9 points"));
  EXPECT_TRUE(mentions(message_of(kPoints + "POLYGONS 2 3\nOFFSETS long\n0 4\nCONNECTIVITY long\n"
                                            "0 1 2\n"),
                       "the OFFSETS 0, 4 do not fit 3"));
  EXPECT_TRUE(mentions(message_of(kPoints + "POINT_DATA 3\n"), "POINT_DATA for 3 points"));
  EXPECT_TRUE(mentions(message_of(kPoints + "POINT_DATA 4\nFIELD f 1\na 1 3 int\n1 2 3\n"),
                       "has 3 tuples for 4 points"));
  EXPECT_TRUE(mentions(message_of(kPoints + "GARBAGE\n"), "the keyword 'GARBAGE'"));
  const std::string scalars = "SCALARS a int\nLOOKUP_TABLE default\n1 2 3 4\n";
  EXPECT_TRUE(
      mentions(message_of(kPoints + "POINT_DATA 4\n" + scalars + scalars), "'a' appears twice"));
}

TEST(Vtk, ReadsTheTensorVotersClouds) {
  const auto sparse = testing::shared_data("tensor_voting/outputSparse.vtk");
  if (!sparse) GTEST_SKIP() << "the clouds of the tensor voting paper are not there";
  const TriangleMesh mesh = read_vtk(*sparse);
  EXPECT_EQ(mesh.vertices.size(), 2963);
  EXPECT_EQ(attribute_names(mesh), "stick plate ball ");
  EXPECT_EQ(mesh.vertices.points.host()[0], (Vec3f{5.83615f, -2.47426f, 6.07259f}));
  EXPECT_EQ(to_floats(mesh.vertices.attributes[2])[2962], 1.70031f);
  for (const char* name : {"Curveplane", "sparseFloor", "winter_sparse"}) {
    const auto path = testing::shared_data(("tensor_voting/" + std::string(name) + ".vtk").c_str());
    ASSERT_TRUE(path.has_value()) << name;
    EXPECT_GT(read_vtk(*path).vertices.size(), 0) << name;
  }
}

}  // namespace
}  // namespace sextant
