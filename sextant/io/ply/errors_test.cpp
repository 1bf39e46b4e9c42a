// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "sextant/io/ply.h"
#include "tests/error_message.h"
#include "tests/same_geometry.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::bytes_of;
using testing::error_message;
using testing::mentions;
using testing::TemporaryFolder;

TriangleMesh parse(std::string_view text) { return read_ply(bytes_of(text), "test.ply"); }
std::string message_of(std::string_view text) {
  return error_message([&] { parse(text); });
}

const std::string kHeader =
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property float z\n";

TEST(PlyErrors, ErrorsNameFileAndLine) {
  EXPECT_EQ(message_of(kHeader + "end_header\n0 0 0\n1 x 0\n0 0 0\n"),
            "test.ply: line 9: expected a number for y, found 'x'");
  EXPECT_EQ(message_of(kHeader + "end_header\n0 0 0\n1 0\n0 0 0\n1\n"),
            "test.ply: line 9: expected a number for z, the line ends");
  EXPECT_EQ(message_of(kHeader + "end_header\n0 0 0\n1 0 0 7\n0 0 0\n"),
            "test.ply: line 9: expected the end of the line, found '7'");
  EXPECT_TRUE(mentions(message_of(kHeader + "end_header\n0.00 0 0\n1.00 0 0\n"),
                       "line 10: the file ends, expected another vertex"));
  const std::string face =
      "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
      "0 0 0\n1 0 0\n0 1 0\n";
  EXPECT_TRUE(mentions(message_of(kHeader + face + "3 0 1 3\n"),
                       "line 13: the vertex index 3 is outside 0 .. 2"));
  EXPECT_TRUE(mentions(message_of(kHeader + face + "3 0 -1 2\n"), "the vertex index -1"));
  EXPECT_TRUE(mentions(message_of(kHeader + face + "-3 0 1 2\n"), "has the length -3"));
  EXPECT_TRUE(mentions(message_of(kHeader + face + "9 0 1 2\n"), "has the length 9"));
}

TEST(PlyErrors, RefusesBrokenHeaders) {
  EXPECT_TRUE(mentions(message_of(""), "is no PLY file"));
  EXPECT_TRUE(mentions(message_of("plyx\n"), "is no PLY file"));
  EXPECT_TRUE(mentions(message_of("ply\nformat ascii 1.0\nelement vertex 1\n"), "no end_header"));
  EXPECT_TRUE(mentions(message_of("ply\nend_header\n"), "no format"));
  EXPECT_TRUE(mentions(message_of("ply\nformat ascii 1.0\nend_header\n"), "no element vertex"));
  EXPECT_TRUE(mentions(message_of("ply\nformat ascii 2.0\nend_header\n"), "version 1.0"));
  EXPECT_TRUE(mentions(message_of("ply\nformat ebcdic 1.0\nend_header\n"), "'ebcdic'"));
  EXPECT_TRUE(mentions(message_of("ply\nformat ascii 1.0\nproperty int x\nend_header\n"),
                       "line 3: a property before"));
  EXPECT_TRUE(
      mentions(message_of("ply\nformat ascii 1.0\nelement vertex -1\nend_header\n"), "negative"));
  EXPECT_TRUE(mentions(message_of(kHeader + "property vec3 n\nend_header\n"), "found 'vec3'"));
  EXPECT_TRUE(mentions(message_of(kHeader + "property list float int n\nend_header\n"), "float"));
  EXPECT_TRUE(mentions(message_of(kHeader + "nonsense\nend_header\n"), "found 'nonsense'"));
  EXPECT_TRUE(mentions(message_of(kHeader + "element vertex 1\nend_header\n"), "appears twice"));
  EXPECT_TRUE(
      mentions(message_of(kHeader + "property float x\nend_header\n0 0 0 0\n0 0 0 0\n0 0 0 0\n"),
               "'x' appears twice"));
  EXPECT_TRUE(mentions(message_of("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n"
                                  "end_header\n0\n"),
                       "has no fields x, y and z"));
  EXPECT_TRUE(mentions(message_of(kHeader + "element face 1\nproperty int a\nend_header\n"
                                            "0 0 0\n0 0 0\n0 0 0\n1\n"),
                       "no list vertex_indices"));
}

TEST(PlyErrors, HeadersThatLieAreRefusedBeforeAnyAllocation) {
  for (const char* format : {"ascii", "binary_little_endian", "binary_big_endian"}) {
    for (const char* count : {"1000", "4000000000000", "9223372036854775807"}) {
      const std::string text = "ply\nformat " + std::string(format) + " 1.0\nelement vertex " +
                               count + "\nproperty double x\nproperty double y\n" +
                               "property double z\nend_header\n0 0 0\n";
      EXPECT_TRUE(mentions(message_of(text), std::string("promises ") + count)) << format;
    }
  }
  std::string text =
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty uchar x\n"
      "property uchar y\nproperty uchar z\nelement face 1\n"
      "property list uint int vertex_indices\nend_header\n";
  EXPECT_TRUE(mentions(message_of(text + std::string("abc\xff\xff\xff\x7f", 7)), "2147483647"));
  EXPECT_TRUE(mentions(message_of(text + "abc"), "promises 1 elements 'face'"));
}

TEST(PlyErrors, BinaryErrorsNameTheByte) {
  const std::string text =
      "ply\nformat binary_little_endian 1.0\nelement vertex 1\n"
      "property uchar x\nproperty uchar y\nproperty uchar z\nelement face 2\n"
      "property list uchar int vertex_indices\nend_header\nabc";
  const std::string good("\x03\0\0\0\0\0\0\0\0\0\0\0\0", 13);
  const std::string bad("\x03\0\0\0\0\0\0\0\0\x05\0\0\0", 13);
  EXPECT_TRUE(mentions(message_of(text + good + bad),
                       "byte " + std::to_string(text.size() + 13) + ": the vertex index 5"));
  EXPECT_TRUE(mentions(message_of(text + good + "\x03"), "ends in the middle"));
  EXPECT_EQ(parse(text + good + good).triangles.size(), 2);
}

TEST(PlyErrors, RefusesAttributesThatCannotBeNamed) {
  const TemporaryFolder folder;
  Cloud cloud = testing::sample_cloud(2, 1);
  for (const char* name : {"x", "nx", "a b", "", "a\n", "_"}) {
    cloud.attributes[0].name = name;
    EXPECT_TRUE(mentions(error_message([&] { write_ply(folder / "a.ply", cloud); }), "attribute"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "a.ply"));
}

}  // namespace
}  // namespace sextant
