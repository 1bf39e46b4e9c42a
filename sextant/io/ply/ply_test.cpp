// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/ply.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "sextant/io/image_file.h"
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

TriangleMesh parse(std::string_view text, const ReadOptions& options = {}) {
  return read_ply(bytes_of(text), "test.ply", options);
}
const std::string kHeader =
    "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
    "property float z\n";

template <class T>
void append_swapped(std::string& text, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  text.append(std::make_reverse_iterator(bytes + sizeof(T)), std::make_reverse_iterator(bytes + 0));
}

TEST(Ply, ReadsTheTextThatItsAuthorsShow) {
  // The cube of the format's description, with two vertices' worth of extras.
  const TriangleMesh mesh = parse(
      "ply\nformat ascii 1.0\ncomment made by hand\ncomment this file is a cube\n"
      "element vertex 8\nproperty float32 x\nproperty float32 y\nproperty float32 z\n"
      "element face 6\nproperty list uint8 int32 vertex_index\nend_header\n"
      "0 0 0\n0 0 1\n0 1 1\n0 1 0\n1 0 0\n1 0 1\n1 1 1\n1 1 0\n"
      "4 0 1 2 3\n4 7 6 5 4\n4 0 4 5 1\n4 1 5 6 2\n4 2 6 7 3\n4 3 7 4 0\n");
  ASSERT_EQ(mesh.vertices.size(), 8);
  ASSERT_EQ(mesh.triangles.size(), 12);
  EXPECT_EQ(mesh.vertices.points.data()[6], (Vec3f{1, 1, 1}));
  EXPECT_EQ(mesh.triangles.data()[0], (Vec3i{0, 1, 2}));
  EXPECT_EQ(mesh.triangles.data()[1], (Vec3i{0, 2, 3}));
  EXPECT_EQ(mesh.triangles.data()[11], (Vec3i{3, 4, 0}));
  EXPECT_TRUE(mesh.vertices.normals.empty());
  EXPECT_TRUE(mesh.materials.empty());
  check_mesh(mesh);
}

TEST(Ply, WritesAndReadsBackTheSameBitsInEveryEncoding) {
  const TemporaryFolder folder;
  const TriangleMesh mesh = testing::sample_mesh(9, 7);
  for (const auto& choice : kPlyEncodings) {
    SCOPED_TRACE(choice.name);
    EXPECT_TRUE(write_ply(folder / "mesh.ply", mesh, {.encoding = choice.value}).empty());
    const TriangleMesh read = read_ply(folder / "mesh.ply");
    expect_same(mesh, read);
    ASSERT_EQ(read.materials.size(), 1u);
    EXPECT_EQ(read.materials[0].texture_file, "mesh_texture.png");
    testing::expect_same_bits(read.materials[0].texture.pixels(),
                              mesh.materials[0].texture.pixels(), "texel");
    EXPECT_TRUE(write_ply(folder / "cloud.ply", mesh.vertices, {.encoding = choice.value}).empty());
    const TriangleMesh cloud = read_ply(folder / "cloud.ply");
    expect_same(mesh.vertices, cloud.vertices);
    EXPECT_TRUE(cloud.triangles.empty());
  }
}

TEST(Ply, WritesAndReadsEmptyClouds) {
  const TemporaryFolder folder;
  for (const auto& choice : kPlyEncodings) {
    write_ply(folder / "empty.ply", Cloud{}, {.encoding = choice.value});
    EXPECT_EQ(read_ply(folder / "empty.ply").vertices.size(), 0);
  }
}

TEST(Ply, ReportsWhatItCannotHold) {
  const TemporaryFolder folder;
  TriangleMesh mesh = testing::sample_mesh(3, 3);
  mesh.materials[0].diffuse = {1, 0, 0};
  EXPECT_EQ(write_ply(folder / "a.ply", mesh), std::vector<std::string>{"diffuse colour"});
  mesh.materials.emplace_back().name = "second";
  EXPECT_EQ(write_ply(folder / "a.ply", mesh), std::vector<std::string>{"materials"});
  EXPECT_TRUE(read_ply(folder / "a.ply").materials.empty());
}

TEST(Ply, AlphaIsWrittenInItsType) {
  const TemporaryFolder folder;
  Cloud cloud = testing::sample_cloud(2, 1);
  const auto header = [&] {
    write_ply(folder / "a.ply", cloud);
    std::ifstream file(folder / "a.ply", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_TRUE(mentions(header(), "property uchar alpha"));
  cloud.attributes[1].values = copy(Context::cpu(), std::vector<float>{0.5f, 1});
  EXPECT_TRUE(mentions(header(), "property float alpha"));
}

TEST(Ply, ReadsBigEndianBytes) {
  std::string text =
      "ply\nformat binary_big_endian 1.0\nelement vertex 2\nproperty double x\nproperty short y\n"
      "property uchar z\nproperty list uchar float weights\nproperty uint label\n"
      "element face 1\nproperty uchar flags\nproperty list ushort uint vertex_indices\n"
      "property float quality\nend_header\n";
  for (int i = 0; i < 2; ++i) {
    append_swapped(text, -0.5 - i);
    append_swapped(text, std::int16_t{-300});
    text += '\x07';
    text += static_cast<char>(i);
    for (int k = 0; k < i; ++k) append_swapped(text, 1.5f);
    append_swapped(text, 70000u);
  }
  text += '\x01';
  append_swapped(text, std::uint16_t{3});
  for (const std::uint32_t index : {0u, 1u, 0u}) append_swapped(text, index);
  append_swapped(text, 2.0f);
  const TriangleMesh mesh = parse(text);
  EXPECT_EQ(mesh.vertices.points.data()[0], (Vec3f{-0.5f, -300, 7}));
  EXPECT_EQ(mesh.vertices.points.data()[1], (Vec3f{-1.5f, -300, 7}));
  ASSERT_EQ(mesh.vertices.attributes.size(), 1u);  // the lists differ in length
  EXPECT_EQ(mesh.vertices.attributes[0].get<std::uint32_t>().data()[1], 70000u);
  ASSERT_EQ(mesh.triangles.size(), 1);
  EXPECT_EQ(mesh.triangles.data()[0], (Vec3i{0, 1, 0}));
}

TEST(Ply, SkipsWhatItDoesNotKnow) {
  const TriangleMesh mesh = parse(
      "ply\r\nformat ascii 1.0\r\nelement material 2\r\nproperty list uchar int colors\r\n"
      "property float shine\r\nelement nothing 1000000000000\r\nelement vertex 3\r\n"
      "property list uchar uchar flags\r\nproperty float x\r\nproperty float y\r\n"
      "property float z\r\nelement edge 1\r\nproperty int a\r\nproperty int b\r\n"
      "element face 1\r\nproperty list uchar float texcoord\r\n"
      "property list uchar int vertex_indices\r\nend_header\r\n"
      "3 1 2 3 0.5\r\n0 0.25\r\n\r\n2 7 7 1 2 3 \r\n0 4 5 +6\r\n1 9 NaN inf -1e-3\r\n0 1\r\n"
      "2 0.5 0.5 3 2 1 0\r\n");
  ASSERT_EQ(mesh.vertices.size(), 3);
  EXPECT_EQ(mesh.vertices.points.data()[1], (Vec3f{4, 5, 6}));
  EXPECT_TRUE(std::isnan(mesh.vertices.points.data()[2].x));
  ASSERT_EQ(mesh.triangles.size(), 1);
  EXPECT_EQ(mesh.triangles.data()[0], (Vec3i{2, 1, 0}));
}

TEST(Ply, ReadsColoursAndTextureCoordinatesByAllTheirNames) {
  const auto color_of = [](const std::string& type, const std::string& names,
                           const std::string& values) {
    std::string text =
        "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\n"
        "property float y\nproperty float z\n";
    std::istringstream list(names);
    for (std::string name; list >> name;) text += "property " + type + " " + name + "\n";
    const TriangleMesh mesh = parse(text + "end_header\n1 2 3 " + values + "\n");
    EXPECT_TRUE(mesh.vertices.attributes.empty());
    return mesh.vertices.colors.host()[0];
  };
  EXPECT_EQ(color_of("uchar", "red green blue", "1 2 255"), (Rgb8{1, 2, 255}));
  EXPECT_EQ(color_of("uchar", "r g b", "1 2 3"), (Rgb8{1, 2, 3}));
  EXPECT_EQ(color_of("int", "diffuse_red diffuse_green diffuse_blue", "-5 2 300"),
            (Rgb8{0, 2, 255}));
  EXPECT_EQ(color_of("float", "red green blue", "0 0.5 1"), (Rgb8{0, 128, 255}));
  EXPECT_EQ(color_of("float", "red green blue", "0 127.6 255"), (Rgb8{0, 128, 255}));
  EXPECT_EQ(color_of("ushort", "red green blue", "0 32896 65535"), (Rgb8{0, 128, 255}));
  for (const char* names : {"s t", "u v", "texture_u texture_v"}) {
    std::istringstream list(names);
    std::string u, v;
    list >> u >> v;
    const TriangleMesh mesh = parse(kHeader + "property float " + u + "\nproperty float " + v +
                                    "\nend_header\n1 2 3 .5 .25\n1 2 3 0 1\n1 2 3 0 0\n");
    ASSERT_EQ(mesh.texture_coordinates.size(), 3) << names;
    EXPECT_EQ(mesh.texture_coordinates.data()[0], (Vec2f{0.5f, 0.25f}));
  }
}

TEST(Ply, LeavesOutFacesWithoutArea) {
  const TriangleMesh mesh = parse(kHeader +
                                  "element face 5\nproperty list uchar int vertex_indices\n"
                                  "end_header\n0 0 0\n1 0 0\n0 1 0\n0\n1 2\n2 0 1\n3 0 1 2\n"
                                  "5 0 1 2 1 0\n");
  EXPECT_EQ(mesh.triangles.size(), 4);
}

TEST(Ply, UnrollsTriangleStrips) {
  const TriangleMesh mesh = parse(
      "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\n"
      "property float z\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n"
      "0 0 0\n1 0 0\n2 0 0\n3 0 0\n4 0 0\n9 0 1 2 3 -1 2 3 4 -1\n");
  ASSERT_EQ(mesh.triangles.size(), 3);
  EXPECT_EQ(mesh.triangles.data()[0], (Vec3i{0, 1, 2}));
  EXPECT_EQ(mesh.triangles.data()[1], (Vec3i{2, 1, 3}));
  EXPECT_EQ(mesh.triangles.data()[2], (Vec3i{2, 3, 4}));
}

TEST(Ply, RangeGridsMakeOrganisedClouds) {
  const std::string grid =
      "ply\nformat ascii 1.0\nobj_info num_cols 3\nobj_info num_rows 2\nelement vertex 2\n"
      "property float x\nproperty float y\nproperty float z\nproperty uchar confidence\n"
      "element range_grid 6\nproperty list uchar int vertex_indices\nend_header\n"
      "1 2 3 9\n4 5 6 8\n";
  const Cloud cloud = parse(grid + "0\n1 1\n0\n1 0\n0\n0\n").vertices;
  EXPECT_EQ(cloud.width, 3);
  EXPECT_EQ(cloud.height, 2);
  ASSERT_EQ(cloud.size(), 6);
  EXPECT_EQ(cloud.points.data()[1], (Vec3f{4, 5, 6}));
  EXPECT_EQ(cloud.points.data()[3], (Vec3f{1, 2, 3}));
  EXPECT_TRUE(std::isnan(cloud.points.data()[0].x));
  EXPECT_EQ(cloud.attributes[0].get<std::uint8_t>().data()[3], 9);
  EXPECT_EQ(cloud.attributes[0].get<std::uint8_t>().data()[0], 0);
  // A vertex that no cell names would be lost: the points stay as they are.
  const Cloud plain = parse(grid + "0\n1 1\n0\n0\n0\n0\n").vertices;
  EXPECT_FALSE(plain.organised());
  EXPECT_EQ(plain.size(), 2);
}

TEST(Ply, SizesInCommentsThatDoNotFitAreIgnored) {
  const std::string vertices =
      "element vertex 2\nproperty float x\nproperty float y\n"
      "property float z\nend_header\n1 2 3\n4 5 6\n";
  const std::string start = "ply\nformat ascii 1.0\ncomment sextant ";
  EXPECT_EQ(parse(start + "width 2 height 1\n" + vertices).vertices.width, 2);
  for (const char* bad : {"width 3 height 1", "width 2", "width -1 height -2", "width x height y",
                          "width 4294967298 height 1", "world_from_sensor 1 2 3 0 0 0 0",
                          "world_from_sensor nan 2 3 1 0 0 0", "world_from_sensor 1 2"}) {
    const Cloud cloud = parse(start + bad + "\n" + vertices).vertices;
    EXPECT_FALSE(cloud.organised()) << bad;
    EXPECT_EQ(cloud.world_from_sensor.translation, (Vec3d{})) << bad;
  }
}

TEST(Ply, TheUnitScalesPositionsAlone) {
  const TemporaryFolder folder;
  const Cloud cloud = testing::sample_cloud(4, 4);
  for (const auto& choice : kPlyEncodings) {
    write_ply(folder / "a.ply", cloud, {.encoding = choice.value});
    const Cloud scaled = read_ply(folder / "a.ply", {.unit_m = 0.001, .progress = {}}).vertices;
    testing::expect_same_bits(cloud.normals, scaled.normals, "normal");
    EXPECT_NEAR(scaled.world_from_sensor.translation.z, 1.0, 1e-12);
    for (std::int64_t i = 8; i < cloud.size(); ++i) {
      const double expected = 0.001 * static_cast<double>(cloud.points.data()[i].z);
      // A text has the digits that were written, of which the float is one rounding.
      const double bound = choice.value == PlyEncoding::kAscii ? 0x1p-23 * expected : 0;
      EXPECT_NEAR(scaled.points.data()[i].z, static_cast<float>(expected), bound);
    }
  }
  EXPECT_TRUE(mentions(
      error_message([&] { read_ply(folder / "a.ply", {.unit_m = 0, .progress = {}}); }), "unit_m"));
}

TEST(Ply, ReadsFacesAcrossBlocksOfAnyLength) {
  // Longer than what is read at once, with polygons of many sizes.
  std::string text =
      "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty uchar x\n"
      "property uchar y\nproperty uchar z\nelement face 60000\n"
      "property list uchar int vertex_indices\nend_header\nabcdefghi";
  std::int64_t expected = 0;
  for (int face = 0; face < 60000; ++face) {
    const int corners = face % 100 == 0 ? 255 : face % 7;
    text += static_cast<char>(corners);
    for (int i = 0; i < corners; ++i) text += std::string{static_cast<char>(i % 3), 0, 0, 0};
    expected += std::max(0, corners - 2);
  }
  const TriangleMesh mesh = parse(text);
  EXPECT_EQ(mesh.triangles.size(), expected);
  check_mesh(mesh);
}

TEST(Ply, ReadsPipes) {
  const TemporaryFolder folder;
  const std::string pipe = (folder / "pipe.ply").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const TriangleMesh mesh = testing::sample_mesh(50, 50);
  write_ply(folder / "mesh.ply", mesh);
  std::ifstream file(folder / "mesh.ply", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes; });
  const TriangleMesh read = read_ply(pipe);
  writer.join();
  expect_same(mesh, read);
}

TEST(Ply, ReportsProgressInBytesAndStopsOnRequest) {
  const TemporaryFolder folder;
  const Cloud cloud = testing::sample_cloud(700, 700);
  for (const auto& choice : kPlyEncodings) {
    write_ply(folder / "a.ply", cloud, {.encoding = choice.value});
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(folder / "a.ply"));
    std::vector<std::int64_t> seen;
    ReadOptions options;
    options.progress = [&](std::int64_t done, std::int64_t total) {
      EXPECT_EQ(total, bytes);
      seen.push_back(done);
      return true;
    };
    read_ply(folder / "a.ply", options);
    ASSERT_GE(seen.size(), 4u);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_EQ(seen.front(), 0);
    EXPECT_EQ(seen.back(), bytes);
    options.progress = [](std::int64_t done, std::int64_t) { return done == 0; };
    EXPECT_THROW(read_ply(folder / "a.ply", options), Cancelled);
  }
}

TEST(Ply, TexturesThatAreMissingOrNoFilesStayEmpty) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo.png").c_str(), 0600), 0);
  std::ofstream(folder / "broken.png") << "no image";
  for (const std::string name :
       {"missing.png", "fifo.png", "/dev/zero", "broken.png", "/proc/self/mem"}) {
    std::ofstream(folder / "a.ply") << "ply\nformat ascii 1.0\ncomment TextureFile " << name
                                    << "\nelement vertex 0\nproperty float x\nproperty float y\n"
                                       "property float z\nend_header\n";
    const TriangleMesh mesh = read_ply(folder / "a.ply");
    ASSERT_EQ(mesh.materials.size(), 1u);
    EXPECT_EQ(mesh.materials[0].texture_file, name);
    EXPECT_TRUE(mesh.materials[0].texture.empty());
  }
}

TEST(Ply, ReadsStanfordsBunny) {
  const auto zipped = testing::shared_data("stanford_bunny/bun_zipper.ply");
  const auto scan = testing::shared_data("stanford_bunny/bun000.ply");
  if (!zipped || !scan) GTEST_SKIP() << "the Stanford bunny is not there";
  const TriangleMesh mesh = read_ply(*zipped);
  EXPECT_EQ(mesh.vertices.size(), 35947);
  EXPECT_EQ(mesh.triangles.size(), 69451);
  ASSERT_EQ(mesh.vertices.attributes.size(), 2u);
  EXPECT_EQ(mesh.vertices.attributes[1].name, "intensity");
  const Cloud range = read_ply(*scan).vertices;
  EXPECT_EQ(range.width, 512);
  EXPECT_EQ(range.height, 400);
  const auto points = range.points.host();
  EXPECT_EQ(std::count_if(points.begin(), points.end(), is_finite<float>), 40256);
}

}  // namespace
}  // namespace sextant
