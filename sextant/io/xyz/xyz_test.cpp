// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/xyz.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sextant/io/geometry_file.h"
#include "tests/error_message.h"
#include "tests/same_geometry.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::bytes_of;
using testing::error_message;
using testing::mentions;

Cloud parse(std::string_view text) { return read_xyz(bytes_of(text), "test.xyz"); }
std::string message_of(std::string_view text) {
  return error_message([&] { parse(text); });
}
std::string attribute_names(const Cloud& cloud) {
  std::string names;
  for (const Attribute& attribute : cloud.attributes) names += attribute.name + " ";
  return names;
}

TEST(Xyz, ReadsEverySeparatorAndComments) {
  for (const char* text :
       {"1 2 3\n4 5 6\n", "1\t2  3\r\n4 5 6 \r\n", "1,2,3\n4,5,6", "1, 2, 3\n4, 5, 6\n",
        "1;2;3\n4;5;6;\n", "# a scan\n// made by hand\n\n1 2 3\n# between\n4 5 6\n\n",
        "\xef\xbb\xbf\x31 2 3\n4 5 6\n", "2\n1 2 3\n4 5 6\n", "X Y Z\n1 2 3\n4 5 6\n",
        "//X,Y,Z\n1,2,3\n4,5,6\n", "+1 2.0 3e0\n4 50e-1 6\n"}) {
    SCOPED_TRACE(text);
    const Cloud cloud = parse(text);
    ASSERT_EQ(cloud.size(), 2);
    EXPECT_EQ(cloud.points.data()[0], (Vec3f{1, 2, 3}));
    EXPECT_EQ(cloud.points.data()[1], (Vec3f{4, 5, 6}));
    EXPECT_TRUE(cloud.attributes.empty());
    check_cloud(cloud);
  }
}

TEST(Xyz, TakesColumnsForWhatTheirNumbersAre) {
  const Cloud normals = parse("1 2 3 0 0.6 0.8\n4 5 6 1 0 0\n7 8 9 nan nan nan\n");
  ASSERT_EQ(normals.normals.size(), 3);
  EXPECT_EQ(normals.normals.data()[0], (Vec3f{0, 0.6f, 0.8f}));
  EXPECT_TRUE(normals.colors.empty());
  const Cloud bytes = parse("1 2 3 255 0 7\n4 5 6 1 2 3\n");
  ASSERT_EQ(bytes.colors.size(), 2);
  EXPECT_EQ(bytes.colors.data()[0], (Rgb8{255, 0, 7}));
  const Cloud levels = parse("1 2 3 1 0 0.5\n4 5 6 0 0 0.25\n");
  ASSERT_EQ(levels.colors.size(), 2);
  EXPECT_EQ(levels.colors.data()[0], (Rgb8{255, 0, 128}));
  for (const char* both : {"1 2 3 0 0 1 10 20 30\n", "1 2 3 10 20 30 0 0 1\n"}) {
    const Cloud cloud = parse(both);
    ASSERT_EQ(cloud.normals.size(), 1) << both;
    EXPECT_EQ(cloud.normals.data()[0], (Vec3f{0, 0, 1}));
    EXPECT_EQ(cloud.colors.host()[0], (Rgb8{10, 20, 30}));
  }
  const Cloud scanner = parse("1 2 3 -1200 10 20 30\n4 5 6 -1100 40 50 60\n");
  EXPECT_EQ(scanner.colors.host()[1], (Rgb8{40, 50, 60}));
  ASSERT_EQ(attribute_names(scanner), "column_4 ");
  EXPECT_EQ(scanner.attributes[0].get<std::int32_t>().data()[1], -1100);
  EXPECT_EQ(attribute_names(parse("1 2 3 300 2000 17.5\n")), "column_4 column_5 column_6 ");
}

TEST(Xyz, IntensityBeforeColoursIsNoColour) {
  for (const char* text :
       {"2\n1 2 3 12 255 0 7\n4 5 6 13 1 2 7\n", "1 2 3 12 255 0 7\n4 5 6 13 1 2 3\n"}) {
    const Cloud cloud = parse(text);
    EXPECT_EQ(cloud.colors.host()[0], (Rgb8{255, 0, 7})) << text;
    ASSERT_EQ(attribute_names(cloud), "column_4 ") << text;
    EXPECT_EQ(cloud.attributes[0].get<std::int32_t>().data()[1], 13) << text;
  }
  const Cloud opaque = parse("1 2 3 12 34 56 255\n4 5 6 1 2 3 255\n");
  EXPECT_EQ(opaque.colors.host()[0], (Rgb8{12, 34, 56}));
  EXPECT_EQ(attribute_names(opaque), "column_7 ");
}

TEST(Xyz, NamesDecideWhereThereAreSome) {
  const Cloud cloud =
      parse("time,z,y,x,R,G,B\n1700000000.25,3,2,1,255,0,7\n1700000000.5,6,5,4,1,2,3\n");
  EXPECT_EQ(cloud.points.data()[0], (Vec3f{1, 2, 3}));
  EXPECT_EQ(cloud.colors.host()[0], (Rgb8{255, 0, 7}));
  ASSERT_EQ(attribute_names(cloud), "time ");
  EXPECT_EQ(cloud.attributes[0].get<double>().data()[0], 1700000000.25);
  EXPECT_TRUE(mentions(message_of("x y z\n1 2 3 4\n"), "line 2: expected 3 numbers as there are"));
}

TEST(Xyz, RefusesWhatItCannotUnderstand) {
  EXPECT_TRUE(mentions(message_of(""), "has no line with the numbers of a point"));
  EXPECT_TRUE(mentions(message_of("Dear reader\n"), "line 1: expected the numbers of a point"));
  EXPECT_TRUE(mentions(message_of("3\nwater\nO 0 0 0\n"), "line 2: expected the numbers"));
  EXPECT_TRUE(mentions(message_of("1 2\n"), "line 1: expected x y z"));
  EXPECT_TRUE(mentions(message_of("1 2 3\n4 5\n"), "line 2: expected 3 numbers as on the lines"));
  EXPECT_TRUE(mentions(message_of("1 2 3\n4 x 6\n"), "line 2: expected a number, found 'x'"));
  // A comma may not stand for the point of a number.
  EXPECT_TRUE(mentions(message_of("1,5 2,5 3,5\n"), "expected a number, found '5 2'"));
  EXPECT_TRUE(mentions(message_of("1,5;2,5;3,5\n"), "line 1: expected the numbers"));
  EXPECT_TRUE(mentions(message_of("3\n1 2 3\n4 5 6\n"), "promises 3 points, the file has 2"));
  EXPECT_TRUE(mentions(message_of("1,,3\n"), "found ''"));
}

TEST(Xyz, TheUnitScalesPositionsAlone) {
  const Cloud cloud =
      read_xyz(bytes_of("1 2 3000 0 0 1\n"), "a.xyz", {.unit_m = 0.001, .progress = {}});
  EXPECT_EQ(cloud.points.data()[0], (Vec3f{0.001f, 0.002f, 3.0f}));
  EXPECT_EQ(cloud.normals.data()[0], (Vec3f{0, 0, 1}));
}

TEST(Xyz, IsRecognisedByExtensionAndContent) {
  const testing::TemporaryFolder folder;
  for (const char* name : {"a.xyz", "a.pts", "a.csv", "A.XYZ", "nothing"}) {
    std::ofstream(folder / name) << "# points\n1 2 3\n4 5 6\n";
    EXPECT_EQ(read_geometry(folder / name).vertices.size(), 2) << name;
    EXPECT_EQ(geometry_info(folder / name).format, GeometryFormat::kXyz) << name;
  }
  std::ofstream(folder / "mesh") << "# mesh\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  EXPECT_EQ(geometry_info(folder / "mesh").format, GeometryFormat::kObj);
}

}  // namespace
}  // namespace sextant
