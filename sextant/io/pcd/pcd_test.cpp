// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/pcd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "sextant/io/pcd/lzf.h"
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

Cloud parse(std::string_view text) { return read_pcd(bytes_of(text), "test.pcd"); }
std::string message_of(std::string_view text) {
  return error_message([&] { parse(text); });
}

/// The lines that every header shares, for fields of four-byte floats.
std::string header(const std::string& fields, const std::string& rest) {
  return "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS " + fields + "\n" + rest;
}

template <class T>
void append(std::string& text, T value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

TEST(Pcd, WritesAndReadsBackTheSameBitsInEveryEncoding) {
  const TemporaryFolder folder;
  const Cloud cloud = testing::sample_cloud(31, 17);
  for (const auto& choice : kPcdEncodings) {
    SCOPED_TRACE(choice.name);
    write_pcd(folder / "a.pcd", cloud, {.encoding = choice.value});
    expect_same(cloud, read_pcd(folder / "a.pcd"));
    write_pcd(folder / "empty.pcd", Cloud{}, {.encoding = choice.value});
    EXPECT_EQ(read_pcd(folder / "empty.pcd").size(), 0);
  }
}

TEST(Pcd, ReadsEarlyVersionsWithoutSomeLines) {
  const Cloud cloud = parse(
      "# .PCD v.5 - Point Cloud Data file format\r\nVERSION .5\r\nFIELDS x y z\r\nSIZE 4 4 4\r\n"
      "TYPE F F F\r\nCOUNT 1 1 1\r\nWIDTH 2\r\nHEIGHT 1\r\nPOINTS 2\r\nDATA ascii\r\n"
      "0.5 +1 nan\r\n\r\n-2 3e2 -Inf \r\n");
  ASSERT_EQ(cloud.size(), 2);
  EXPECT_EQ(cloud.points.data()[0].x, 0.5f);
  EXPECT_TRUE(std::isnan(cloud.points.data()[0].z));
  EXPECT_EQ(cloud.points.data()[1], (Vec3f{-2, 300, -INFINITY}));
  EXPECT_FALSE(cloud.organised());
  EXPECT_EQ(parse("COLUMNS x y z\nPOINTS 1\nDATA ascii\n1 2 3").size(), 1);
  EXPECT_EQ(parse("FIELDS x y z\nPOINTS 0\nDATA ascii").size(), 0);
}

TEST(Pcd, ReadsFieldsOfEveryTypeAndCount) {
  std::string text = header("x _ y z n tag hist rgb",
                            "SIZE 8 1 2 4 8 1 4 4\nTYPE F U I F U I F F\nCOUNT 1 3 1 1 1 2 17 1\n"
                            "WIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ");
  std::string binary = text + "binary\n";
  for (int i = 0; i < 2; ++i) {
    append(binary, 0.25 + i);
    binary += "___";
    append(binary, std::int16_t{-7});
    append(binary, 1.5f);
    append(binary, std::uint64_t{1} << 33);
    append(binary, std::int8_t{-1});
    append(binary, std::int8_t{5});
    for (int k = 0; k < 17; ++k) append(binary, 0.0f);
    append(binary, std::uint32_t{0x010203});
  }
  std::string ascii = text + "ascii\n";
  for (const char* x : {"0.25", "1.25"}) {
    ascii += std::string(x) + " 95 95 95 -7 1.5 8589934592 -1 5";
    for (int k = 0; k < 17; ++k) ascii += " 0";
    ascii += " 9.2557e-41\n";  // the float whose bits are 0x010203
  }
  for (const std::string& file : {binary, ascii}) {
    const Cloud cloud = parse(file);
    ASSERT_EQ(cloud.size(), 2);
    EXPECT_EQ(cloud.points.data()[1], (Vec3f{1.25f, -7, 1.5f}));
    EXPECT_EQ(cloud.colors.host()[1], (Rgb8{1, 2, 3}));
    std::string names;
    for (const Attribute& attribute : cloud.attributes) names += attribute.name + " ";
    EXPECT_EQ(names, "n tag hist ");
    EXPECT_EQ(cloud.attributes[0].get<std::uint64_t>().data()[1], 8589934592u);
    EXPECT_EQ(cloud.attributes[1].components, 2);
    EXPECT_EQ(cloud.attributes[1].get<std::int8_t>().data()[2], -1);
    EXPECT_EQ(cloud.attributes[1].get<std::int8_t>().data()[3], 5);
    EXPECT_EQ(cloud.attributes[2].components, 17);
  }
}

TEST(Pcd, CompressedBlocksMayHoldPaddingOrNot) {
  const std::string text = header("x y z _ k",
                                  "SIZE 4 4 4 1 4\nTYPE F F F U F\nCOUNT 1 1 1 3 1\n"
                                  "WIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA binary_compressed\n");
  for (const bool padded : {false, true}) {
    std::string data;
    for (const float value : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}) append(data, value);
    if (padded) data += "______";
    append(data, 7.0f);
    append(data, 8.0f);
    const std::vector<std::byte> compressed = lzf_compress(bytes_of(data));
    std::string file = text;
    append(file, static_cast<std::uint32_t>(compressed.size()));
    append(file, static_cast<std::uint32_t>(data.size()));
    file.append(reinterpret_cast<const char*>(compressed.data()), compressed.size());
    const Cloud cloud = parse(file);
    EXPECT_EQ(cloud.points.data()[0], (Vec3f{1, 3, 5}));
    EXPECT_EQ(cloud.points.data()[1], (Vec3f{2, 4, 6}));
    EXPECT_EQ(cloud.attributes[0].get<float>().data()[1], 8.0f);
  }
}

TEST(Pcd, ViewpointsBecomePoses) {
  const std::string rest = "WIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3\n";
  const Cloud cloud = parse(header("x y z", "VIEWPOINT 1 2 3 0 2 0 0\n" + rest));
  EXPECT_EQ(cloud.world_from_sensor.translation, (Vec3d{1, 2, 3}));
  EXPECT_EQ(cloud.world_from_sensor.rotation.row[1], (Vec3d{0, -1, 0}));
  // No rotation at all is none; numbers that are none are refused.
  const Cloud zero = parse(header("x y z", "VIEWPOINT 0 0 0 0 0 0 0\n" + rest));
  EXPECT_EQ(zero.world_from_sensor.rotation.row[0], (Vec3d{1, 0, 0}));
  EXPECT_TRUE(mentions(message_of(header("x y z", "VIEWPOINT nan 0 0 1 0 0 0\n" + rest)),
                       "VIEWPOINT must be finite"));
}

TEST(Pcd, RefusesBrokenHeaders) {
  EXPECT_TRUE(mentions(message_of(""), "is no PCD file"));
  EXPECT_TRUE(mentions(message_of("WIDTH 5\n"), "no DATA line"));
  const std::string rest = "WIDTH 1\nHEIGHT 1\nPOINTS 1\nDATA ascii\n1 2 3\n";
  EXPECT_TRUE(mentions(message_of(header("x y", rest)), "has no fields x, y and z"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "SIZE 4 4\n" + rest)), "SIZE has 2 entries"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "SIZE 4 4 3\n" + rest)), "SIZE 3"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "TYPE F F Q\n" + rest)), "TYPE Q"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "COUNT 1 1 -1\n" + rest)), "COUNT -1"));
  EXPECT_TRUE(mentions(message_of(header("x y z w", "COUNT 1 1 1 9223372036854775807\n" + rest)),
                       "makes no sense"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "WIDTH 2\nHEIGHT 3\nPOINTS 5\nDATA ascii\n")),
                       "POINTS is 5, WIDTH times HEIGHT is 6"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "DATA ascii\n")), "neither WIDTH nor POINTS"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "WIDTH -1\nDATA ascii\n")), "negative"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "DATA zip\n")), "line 4: expected DATA ascii"));
  EXPECT_TRUE(mentions(message_of(header("x y z", "HELLO\nDATA ascii\n")), "found 'HELLO'"));
}

TEST(Pcd, ErrorsNameFileAndLine) {
  const std::string text = header("x y z", "WIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA ascii\n");
  EXPECT_EQ(message_of(text + "0 0 0\n0 what 0\n"),
            "test.pcd: line 9: expected a number for y, found 'what'");
  EXPECT_TRUE(mentions(message_of(text + "0 0 0\n0 0\n \n"), "line 9: expected a number for z"));
  EXPECT_TRUE(mentions(message_of(text + "0 0 0 1\n0 0 0\n"), "line 8: expected the end"));
  EXPECT_TRUE(mentions(message_of(text + "0.0 0.0 0.0\n"), "ends after 1 of 2 points"));
}

TEST(Pcd, HeadersThatLieAreRefusedBeforeAnyAllocation) {
  for (const char* encoding : {"ascii", "binary"}) {
    for (const char* size : {"WIDTH 100\nHEIGHT 1\n", "WIDTH 2000000000\nHEIGHT 2000000000\n"}) {
      EXPECT_TRUE(mentions(
          message_of(header("x y z", std::string(size) + "DATA " + encoding + "\n1 2 3\n")),
          "the header promises"));
    }
  }
  const std::string text = header("x y z", "WIDTH 300000000\nHEIGHT 1\nDATA binary_compressed\n");
  std::string too_long = text, impossible = text, wrong = text;
  for (const std::uint32_t number : {1000u, 3600000000u}) append(too_long, number);
  EXPECT_TRUE(mentions(message_of(too_long + "abc"), "1000 bytes of compressed data"));
  for (const std::uint32_t number : {3u, 3600000000u}) append(impossible, number);
  EXPECT_TRUE(mentions(message_of(impossible + "abc"), "cannot unfold to 3600000000"));
  for (const std::uint32_t number : {3u, 200u}) append(wrong, number);
  EXPECT_TRUE(mentions(message_of(wrong + "abc"), "unfold to 200 bytes, expected 300000000"));
  EXPECT_TRUE(mentions(message_of(text + "abc"), "ends after"));
}

TEST(Pcd, TruncatedAndDamagedFilesAreErrors) {
  const TemporaryFolder folder;
  for (const auto& choice : kPcdEncodings) {
    write_pcd(folder / "a.pcd", testing::sample_cloud(16, 4), {.encoding = choice.value});
    std::ifstream file(folder / "a.pcd", std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    for (std::size_t size = 0; size + 8 < bytes.size(); size += 7) {
      EXPECT_THROW(parse(std::string_view(bytes).substr(0, size)), Error) << choice.name << size;
    }
  }
}

TEST(Pcd, StopsOnRequest) {
  const TemporaryFolder folder;
  const Cloud cloud = testing::sample_cloud(700, 700);
  ReadOptions options;
  options.progress = [](std::int64_t done, std::int64_t) { return done == 0; };
  for (const auto& choice : kPcdEncodings) {
    write_pcd(folder / "a.pcd", cloud, {.encoding = choice.value});
    EXPECT_THROW(read_pcd(folder / "a.pcd", options), Cancelled) << choice.name;
  }
}

TEST(Pcd, ReadsCapturedClouds) {
  const auto scene = testing::shared_data("mosd_kinect/test0.pcd");
  const auto bunny = testing::shared_data("pcl_kinect/bun0.pcd");
  const auto padded = testing::shared_data("pcl_kinect/template_alignment/object_template_0.pcd");
  if (!scene || !bunny || !padded) GTEST_SKIP() << "the captured clouds are not there";
  const Cloud kinect = read_pcd(*scene);
  EXPECT_EQ(kinect.width, 640);
  EXPECT_EQ(kinect.height, 480);
  EXPECT_EQ(kinect.colors.size(), 307200);
  ASSERT_EQ(kinect.attributes.size(), 1u);
  EXPECT_EQ(kinect.attributes[0].name, "label");
  const Cloud with_normals = read_pcd(*bunny);
  EXPECT_EQ(with_normals.normals.size(), 397);
  EXPECT_NEAR(norm(with_normals.normals.data()[0]), 1.0f, 1e-5f);
  EXPECT_EQ(read_pcd(*padded).size(), 1397);
}

}  // namespace
}  // namespace sextant
