// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/origin.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iomanip>

#include "sextant/core/random.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/pcd.h"
#include "sextant/io/ply.h"
#include "tests/same_geometry.h"
#include "tests/temporary_folder.h"

namespace sextant::detail::points {
namespace {

using sextant::testing::TemporaryFolder;

constexpr Vec3d kMapCentre{443527.3, 5411873.6, 312.4};
constexpr double kRadius_m = 0.1;

/// Points of a ball of 0.2 m in the coordinates of a map.
std::vector<Vec3d> ball(std::size_t count, const Vec3d& centre = kMapCentre) {
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < count; ++i) {
    const Random random{3, i};
    const double z = 2 * static_cast<double>(random.uniform(0)) - 1;
    const double angle = 2 * M_PI * static_cast<double>(random.uniform(1));
    const double r = std::sqrt(1 - z * z);
    points.push_back(centre + Vec3d{r * std::cos(angle), r * std::sin(angle), z} * kRadius_m);
  }
  return points;
}

double off_the_ball_m(const Vec3d& p, const Vec3d& centre = kMapCentre) {
  return std::abs(norm(p - centre) - kRadius_m);
}

TEST(Origin, IsZeroWhereFloatsWillDo) {
  EXPECT_EQ(origin_for({}), Vec3d{});
  EXPECT_EQ(origin_for(ball(5000, {0.3, -0.2, 1.5})), Vec3d{});
  EXPECT_EQ(origin_for(ball(5000, {10, -10, 3})), Vec3d{});
  EXPECT_EQ(origin_for(std::vector<Vec3d>{{1, 2, 3000}}), Vec3d{});
  EXPECT_EQ(origin_for(std::vector<Vec3d>{{NAN, 0, 0}, {INFINITY, 1, 1}, {0, 0, 0}}), Vec3d{});
  // A far point among near ones moves nothing.
  std::vector<Vec3d> points = ball(5000, {0, 0, 1});
  points.push_back({1e6, 1e6, 1e6});
  EXPECT_EQ(origin_for(points), Vec3d{});
}

TEST(Origin, IsNearThePointsOfAMap) {
  std::vector<Vec3d> points = ball(5000);
  // A third of them where the sensor saw nothing.
  for (std::size_t i = 0; i < points.size(); i += 3) points[i] = {};
  const Vec3d origin = origin_for(points);
  EXPECT_LT(norm(origin - kMapCentre), 1.0);
  EXPECT_EQ(static_cast<double>(static_cast<float>(origin.y)), origin.y);
  Cloud cloud;
  set_points(cloud, points);
  EXPECT_EQ(in_file(cloud, cloud.points.data()[0]), Vec3d{});
  // The floats lie within a metre of the origin, so half a step of them is below 2^-24 m an axis.
  for (std::size_t i = 1; i < points.size(); i += 3) {
    ASSERT_LT(norm(in_file(cloud, cloud.points.host()[i]) - points[i]), 2e-7);
  }
}

TEST(Origin, ASinglePlaceIsKeptToAMillimetre) {
  Cloud cloud;
  const std::vector<Vec3d> one{{443527.3456, 5411873.6789, 0.25}};
  set_points(cloud, one);
  EXPECT_LT(norm(in_file(cloud, cloud.points.data()[0]) - one[0]), 1e-3);
}

TEST(Origin, KeepsWhereTheSensorStood) {
  Cloud cloud;
  set_points(cloud, ball(1000));
  EXPECT_EQ(sensor_in_file(cloud).translation, Vec3d{});
  set_sensor_in_file(cloud, {Mat3d::identity(), kMapCentre});
  EXPECT_LT(norm(cloud.world_from_sensor.translation), 1.0);
  EXPECT_LT(norm(sensor_in_file(cloud).translation - kMapCentre), 1e-9);
}

/// The ball as text, of which every format reads one of these kinds.
std::string coordinates(const std::vector<Vec3d>& points, const char* before = "") {
  std::ostringstream text;
  text << std::setprecision(12);
  for (const Vec3d& p : points) text << before << p.x << " " << p.y << " " << p.z << "\n";
  return text.str();
}

TEST(Origin, EveryFormatKeepsAMapThereAndBack) {
  const TemporaryFolder folder;
  const std::vector<Vec3d> points = ball(2000);
  const std::string count = std::to_string(points.size());
  std::ofstream(folder / "in.xyz") << coordinates(points);
  std::ofstream(folder / "in.obj") << coordinates(points, "v ");
  // Headers that say float lie: the digits are there.
  for (const char* type : {"float", "double"}) {
    std::ofstream(folder / (std::string(type) + ".ply"))
        << "ply\nformat ascii 1.0\nelement vertex " << count << "\nproperty " << type
        << " x\nproperty " << type << " y\nproperty " << type << " z\nend_header\n"
        << coordinates(points);
    std::ofstream(folder / (std::string(type) + ".vtk"))
        << "# vtk DataFile Version 3.0\nmap\nASCII\nDATASET POLYDATA\nPOINTS " << count << " "
        << type << "\n"
        << coordinates(points);
  }
  std::ofstream(folder / "in.pcd")
      << "FIELDS x y z\nSIZE 8 8 8\nTYPE F F F\nVIEWPOINT 443527 5411870 300 1 0 0 0\nPOINTS "
      << count << "\nDATA ascii\n"
      << coordinates(points);
  for (const char* name :
       {"in.xyz", "in.obj", "float.ply", "double.ply", "float.vtk", "double.vtk", "in.pcd"}) {
    const TriangleMesh mesh = read_geometry(folder / name);
    EXPECT_LT(norm(mesh.vertices.origin_m - kMapCentre), 400) << name;
    for (const Vec3f& p : mesh.vertices.points.host()) {
      ASSERT_LT(off_the_ball_m(in_file(mesh.vertices, p)), 1e-5) << name;
    }
    for (const char* out : {"out.ply", "out.pcd", "out.obj", "out.vtk"}) {
      SCOPED_TRACE(std::string(name) + " " + out);
      for (const char* encoding : {"ascii", "binary"}) {
        const bool has_binary = std::string(out) == "out.ply" || std::string(out) == "out.pcd";
        if (*encoding == 'b' && !has_binary) continue;
        (void)write_geometry(folder / out, mesh, encoding);
        const TriangleMesh back = read_geometry(folder / out);
        ASSERT_EQ(back.vertices.size(), mesh.vertices.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
          ASSERT_LT(norm(in_file(back.vertices, back.vertices.points.host()[i]) - points[i]), 1e-4);
        }
      }
    }
  }
  const Cloud sensed = read_pcd(folder / "in.pcd");
  write_ply(folder / "sensed.ply", sensed);
  EXPECT_LT(norm(sensor_in_file(read_ply(folder / "sensed.ply").vertices).translation -
                 Vec3d{443527, 5411870, 300}),
            1e-6);
}

}  // namespace
}  // namespace sextant::detail::points
