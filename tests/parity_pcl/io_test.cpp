// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <pcl/console/print.h>
#include <pcl/io/lzf.h>
#include <pcl/io/pcd_io.h>
#include <pcl/io/ply_io.h>
#include <pcl/point_types.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "sextant/core/random.h"
#include "sextant/io/pcd.h"
#include "sextant/io/pcd/lzf.h"
#include "sextant/io/ply.h"
#include "tests/devices.h"
#include "tests/same_geometry.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::TemporaryFolder;

/// PCL tells the terminal about every file.
const bool kQuiet = [] {
  pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  return true;
}();

bool same_bits(const float* a, const float* b, int count) {
  return std::memcmp(a, b, sizeof(float) * static_cast<std::size_t>(count)) == 0;
}
/// Text has only one NaN.
bool same_numbers(const float* a, const float* b, int count) {
  for (int i = 0; i < count; ++i) {
    if (!(std::isnan(a[i]) && std::isnan(b[i])) && !same_bits(a + i, b + i, 1)) return false;
  }
  return true;
}
using SameFloats = bool (*)(const float*, const float*, int);

bool same_parts(const Cloud& cloud, std::int64_t i, const pcl::PointXYZ& p, SameFloats same) {
  return same(&cloud.points.data()[i].x, p.data, 3);
}
bool same_parts(const Cloud& cloud, std::int64_t i, const pcl::PointXYZI& p, SameFloats same) {
  return same(&cloud.points.data()[i].x, p.data, 3) &&
         same(cloud.attributes.at(0).get<float>().data() + i, &p.intensity, 1);
}
template <class Point>
bool same_color(const Cloud& cloud, std::int64_t i, const Point& p) {
  return cloud.colors.data()[i] == Rgb8{p.r, p.g, p.b};
}
bool same_parts(const Cloud& cloud, std::int64_t i, const pcl::PointXYZRGB& p, SameFloats same) {
  return same(&cloud.points.data()[i].x, p.data, 3) && same_color(cloud, i, p);
}
bool same_parts(const Cloud& cloud, std::int64_t i, const pcl::PointXYZRGBA& p, SameFloats same) {
  return same(&cloud.points.data()[i].x, p.data, 3) && same_color(cloud, i, p);
}
bool same_parts(const Cloud& cloud, std::int64_t i, const pcl::PointNormal& p, SameFloats same) {
  return same(&cloud.points.data()[i].x, p.data, 3) &&
         same(&cloud.normals.data()[i].x, p.normal, 3);
}
bool same_parts(const Cloud& cloud, std::int64_t i, const pcl::PointXYZRGBNormal& p,
                SameFloats same) {
  return same(&cloud.points.data()[i].x, p.data, 3) &&
         same(&cloud.normals.data()[i].x, p.normal, 3) && same_color(cloud, i, p);
}

template <class Point>
void expect_same(const Cloud& ours, const pcl::PointCloud<Point>& theirs, SameFloats same) {
  ASSERT_EQ(ours.size(), static_cast<std::int64_t>(theirs.size()));
  if (theirs.height > 1) {
    EXPECT_EQ(ours.width, static_cast<int>(theirs.width));
    EXPECT_EQ(ours.height, static_cast<int>(theirs.height));
  } else {
    EXPECT_FALSE(ours.organised());
  }
  for (std::int64_t i = 0; i < ours.size(); ++i) {
    ASSERT_TRUE(same_parts(ours, i, theirs[static_cast<std::size_t>(i)], same)) << "point " << i;
  }
}

/// PCL keeps the sensor's pose in single precision and writes quaternions with six digits: half a
/// millionth off in each of four, twice in every product of two.
template <class Point>
void expect_same_pose(const Cloud& ours, const pcl::PointCloud<Point>& theirs) {
  constexpr double kBound = 5e-6;
  const Eigen::Matrix3f rotation = theirs.sensor_orientation_.toRotationMatrix();
  for (int row = 0; row < 3; ++row) {
    const Vec3d& r = ours.world_from_sensor.rotation.row[row];
    EXPECT_NEAR(r.x, rotation(row, 0), kBound);
    EXPECT_NEAR(r.y, rotation(row, 1), kBound);
    EXPECT_NEAR(r.z, rotation(row, 2), kBound);
  }
  EXPECT_NEAR(ours.world_from_sensor.translation.x, theirs.sensor_origin_[0], kBound);
  EXPECT_NEAR(ours.world_from_sensor.translation.y, theirs.sensor_origin_[1], kBound);
  EXPECT_NEAR(ours.world_from_sensor.translation.z, theirs.sensor_origin_[2], kBound);
}

void set_extras(std::size_t, pcl::PointXYZ&) {}
void set_extras(std::size_t i, pcl::PointXYZI& p) {
  p.intensity = 1.0f / static_cast<float>(i + 3);
}
template <class Point>
void set_color(std::size_t i, Point& p) {
  p.r = static_cast<std::uint8_t>(i);
  p.g = static_cast<std::uint8_t>(i / 3);
  p.b = static_cast<std::uint8_t>(255 - i);
}
void set_extras(std::size_t i, pcl::PointXYZRGB& p) { set_color(i, p); }
void set_extras(std::size_t i, pcl::PointXYZRGBA& p) { set_color(i, p); }
template <class Point>
void set_normal(std::size_t i, Point& p) {
  const Random random{9, i};
  const Vec3f n = normalized(Vec3f{random.uniform(3), random.uniform(4), random.uniform(5)});
  p.normal_x = n.x;
  p.normal_y = n.y;
  p.normal_z = n.z;
  p.curvature = random.uniform(6);
}
void set_extras(std::size_t i, pcl::PointNormal& p) { set_normal(i, p); }
void set_extras(std::size_t i, pcl::PointXYZRGBNormal& p) {
  set_color(i, p);
  set_normal(i, p);
}

/// Random points, every seventh a hole when asked for.
template <class Point>
pcl::PointCloud<Point> make_cloud(unsigned width, unsigned height, bool holes) {
  pcl::PointCloud<Point> cloud(width, height);
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const Random random{8, i};
    Point& p = cloud[i];
    p.x = 2 * random.uniform(0) - 1;
    p.y = 1e-3f * random.uniform(1);
    p.z = 1e3f * random.uniform(2);
    set_extras(i, p);
    if (holes && i % 7 == 3) p.x = p.y = p.z = std::nanf("");
  }
  cloud.is_dense = !holes;
  return cloud;
}

template <class Point>
void set_pose(pcl::PointCloud<Point>& cloud) {
  cloud.sensor_origin_ = Eigen::Vector4f(0.5f, -2.0f, 3.25f, 0.0f);
  cloud.sensor_orientation_ = Eigen::AngleAxisf(1.1f, Eigen::Vector3f(1, 2, -0.5f).normalized());
}

template <class Point>
class WithPoint : public ::testing::Test {};
using Points = ::testing::Types<pcl::PointXYZ, pcl::PointXYZI, pcl::PointXYZRGB, pcl::PointXYZRGBA,
                                pcl::PointNormal, pcl::PointXYZRGBNormal>;
TYPED_TEST_SUITE(WithPoint, Points);

TYPED_TEST(WithPoint, WeReadThePcdFilesThatPclWrites) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.pcd").string();
  for (const bool organised : {false, true}) {
    auto cloud =
        organised ? make_cloud<TypeParam>(37, 21, true) : make_cloud<TypeParam>(500, 1, true);
    set_pose(cloud);
    pcl::PCDWriter writer;
    ASSERT_EQ(writer.writeBinary(file, cloud), 0);
    expect_same(read_pcd(file), cloud, same_bits);
    ASSERT_EQ(writer.writeBinaryCompressed(file, cloud), 0);
    expect_same(read_pcd(file), cloud, same_bits);
    expect_same_pose(read_pcd(file), cloud);
    // Nine digits are enough for every float.
    ASSERT_EQ(writer.writeASCII(file, cloud, 9), 0);
    expect_same(read_pcd(file), cloud, same_numbers);
  }
}

template <class Point>
Cloud cloud_of(const pcl::PointCloud<Point>& theirs, const TemporaryFolder& folder) {
  const std::string file = (folder / "source.pcd").string();
  pcl::io::savePCDFileBinary(file, theirs);
  return read_pcd(file);
}

TYPED_TEST(WithPoint, PclReadsThePcdFilesThatWeWrite) {
  const TemporaryFolder folder;
  auto cloud = make_cloud<TypeParam>(37, 21, true);
  set_pose(cloud);
  const Cloud ours = cloud_of(cloud, folder);
  for (const auto& choice : kPcdEncodings) {
    SCOPED_TRACE(choice.name);
    const std::string file = (folder / "a.pcd").string();
    write_pcd(file, ours, {.encoding = choice.value});
    pcl::PointCloud<TypeParam> read;
    ASSERT_EQ(pcl::io::loadPCDFile(file, read), 0);
    expect_same(ours, read, choice.value == PcdEncoding::kAscii ? same_numbers : same_bits);
    expect_same_pose(ours, read);
  }
}

TYPED_TEST(WithPoint, WeReadThePlyFilesThatPclWrites) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.ply").string();
  for (const bool organised : {false, true}) {
    auto cloud =
        organised ? make_cloud<TypeParam>(37, 21, true) : make_cloud<TypeParam>(500, 1, true);
    set_pose(cloud);
    pcl::PLYWriter writer;
    for (const bool binary : {false, true}) {
      SCOPED_TRACE(binary ? "binary" : "ascii");
      // With a camera element, which holds the size and the pose.
      ASSERT_EQ(writer.write(file, cloud, binary, true), 0);
      pcl::PointCloud<TypeParam> again;
      ASSERT_EQ(pcl::io::loadPLYFile(file, again), 0);
      expect_same(read_ply(file).vertices, again, binary ? same_bits : same_numbers);
      expect_same_pose(read_ply(file).vertices, cloud);
      if (binary) expect_same(read_ply(file).vertices, cloud, same_bits);
    }
  }
}

TYPED_TEST(WithPoint, WeReadTheRangeGridsThatPclWrites) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.ply").string();
  const auto cloud = make_cloud<TypeParam>(37, 21, true);
  pcl::PLYWriter writer;
  ASSERT_EQ(writer.write(file, cloud, true, false), 0);
  const Cloud read = read_ply(file).vertices;
  ASSERT_EQ(read.width, 37);
  ASSERT_EQ(read.height, 21);
  for (std::int64_t i = 0; i < read.size(); ++i) {
    const auto& p = cloud[static_cast<std::size_t>(i)];
    if (std::isnan(p.x)) {
      EXPECT_TRUE(std::isnan(read.points.data()[i].x)) << i;
    } else {
      ASSERT_TRUE(same_parts(read, i, p, same_bits)) << "point " << i;
    }
  }
}

TYPED_TEST(WithPoint, PclReadsThePlyFilesThatWeWrite) {
  const TemporaryFolder folder;
  Cloud ours = cloud_of(make_cloud<TypeParam>(37, 21, true), folder);
  ours.width = ours.height = 0;  // PCL does not know our comment
  for (const auto& choice : kPlyEncodings) {
    SCOPED_TRACE(choice.name);
    const std::string file = (folder / "a.ply").string();
    write_ply(file, ours, {.encoding = choice.value});
    pcl::PointCloud<TypeParam> read;
    ASSERT_EQ(pcl::io::loadPLYFile(file, read), 0);
    expect_same(ours, read, choice.value == PlyEncoding::kAscii ? same_numbers : same_bits);
  }
}

TEST(ParityPcl, MeshesAreTheSame) {
  const TemporaryFolder folder;
  TriangleMesh mesh = testing::sample_mesh(9, 7);
  mesh.vertices.attributes.clear();
  const std::string file = (folder / "a.ply").string();
  write_ply(file, mesh);
  pcl::PolygonMesh read;
  ASSERT_EQ(pcl::io::loadPLYFile(file, read), 0);
  ASSERT_EQ(read.polygons.size(), static_cast<std::size_t>(mesh.triangles.size()));
  for (std::size_t i = 0; i < read.polygons.size(); ++i) {
    const auto& corners = read.polygons[i].vertices;
    ASSERT_EQ(corners.size(), 3u);
    EXPECT_EQ(mesh.triangles.data()[i],
              (Vec3i{static_cast<int>(corners[0]), static_cast<int>(corners[1]),
                     static_cast<int>(corners[2])}));
  }
  ASSERT_EQ(pcl::io::savePLYFileBinary(file, read), 0);
  testing::expect_same_bits(read_ply(file).triangles, mesh.triangles, "triangle");
}

TEST(ParityPcl, LzfStreamsGoBothWays) {
  const std::uint64_t seed = testing::seed_of_test();
  for (std::uint64_t round = 0; round < 200; ++round) {
    const Random random{seed, round};
    std::string data;
    const std::uint32_t size = 1 + random.below(20000, 0);
    const std::uint32_t variety = 1 + random.below(256, 1);
    for (std::uint64_t i = 0; i < size; ++i) {
      data += static_cast<char>(random.below(variety, 2 + i));
    }
    const std::vector<std::byte> ours = lzf_compress(testing::bytes_of(data));
    std::string back(size, '?');
    ASSERT_EQ(
        pcl::lzfDecompress(ours.data(), static_cast<unsigned>(ours.size()), back.data(), size),
        size);
    ASSERT_EQ(back, data);
    std::string theirs(size + size / 16 + 64, '\0');
    const unsigned compressed =
        pcl::lzfCompress(data.data(), size, theirs.data(), static_cast<unsigned>(theirs.size()));
    ASSERT_GT(compressed, 0u);
    back.assign(size, '?');
    lzf_decompress(testing::bytes_of(std::string_view(theirs).substr(0, compressed)),
                   std::as_writable_bytes(std::span(back)), "theirs");
    ASSERT_EQ(back, data);
  }
}

template <class Point>
void expect_same_pcd(const std::filesystem::path& path) {
  pcl::PointCloud<Point> theirs;
  ASSERT_EQ(pcl::io::loadPCDFile(path.string(), theirs), 0);
  const Cloud ours = read_pcd(path);
  expect_same(ours, theirs, same_numbers);
  expect_same_pose(ours, theirs);
}

TEST(ParityPcl, CapturedPcdFilesAreTheSame) {
  const auto folder = testing::shared_data("pcl_kinect");
  if (!folder) GTEST_SKIP() << "the captured clouds are not there";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
    if (entry.path().extension() != ".pcd") continue;
    SCOPED_TRACE(entry.path().string());
    const Cloud cloud = read_pcd(entry.path());
    if (!cloud.colors.empty()) {
      expect_same_pcd<pcl::PointXYZRGBA>(entry.path());
    } else if (!cloud.normals.empty()) {
      expect_same_pcd<pcl::PointNormal>(entry.path());
    } else if (!cloud.attributes.empty()) {
      expect_same_pcd<pcl::PointXYZI>(entry.path());
    } else {
      expect_same_pcd<pcl::PointXYZ>(entry.path());
    }
    ++files;
  }
  EXPECT_GT(files, 20);
}

template <class Point>
void expect_same_ply(const std::filesystem::path& path) {
  pcl::PointCloud<Point> theirs;
  ASSERT_EQ(pcl::io::loadPLYFile(path.string(), theirs), 0);
  expect_same(read_ply(path).vertices, theirs, same_numbers);
}

TEST(ParityPcl, CapturedPlyFilesAreTheSame) {
  const char* names[] = {"stanford_bunny/bun_zipper.ply",
                         "stanford_bunny/bun000.ply",
                         "registration/teaser_redkitchen/cloud_bin_0.ply",
                         "registration/teaser_object_in_scene/matcher-test-scene-1.ply",
                         "tum_objrec/tum_rabbit.ply",
                         "uwa_mian/rs1_normals.ply",
                         "linemod_ape/obj_01.ply",
                         "library_meshes/mario_bologna.ply",
                         "icbin_cups/coffee_cup.ply"};
  for (const char* name : names) {
    const auto path = testing::shared_data(name);
    if (!path) GTEST_SKIP() << name << " is not there";
    SCOPED_TRACE(name);
    const Cloud cloud = read_ply(*path).vertices;
    if (!cloud.colors.empty() && !cloud.normals.empty()) {
      expect_same_ply<pcl::PointXYZRGBNormal>(*path);
    } else if (!cloud.colors.empty()) {
      expect_same_ply<pcl::PointXYZRGB>(*path);
    } else if (!cloud.normals.empty()) {
      expect_same_ply<pcl::PointNormal>(*path);
    } else {
      expect_same_ply<pcl::PointXYZ>(*path);
    }
  }
}

}  // namespace
}  // namespace sextant
