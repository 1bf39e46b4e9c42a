// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/mesh/concave.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>

#include "sextant/core/random.h"
#include "sextant/io/geometry_file.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/temporary_folder.h"

namespace sextant::detail::mesh {
namespace {

std::vector<Vec3i> ears_of(std::span<const Vec3d> corners) {
  return ears_of_polygon(corners, "file");
}

double area_of_triangle(std::span<const Vec3d> corners, const Vec3i& t) {
  const auto at = [&](std::int32_t i) { return corners[static_cast<std::size_t>(i)]; };
  return cross(at(t.y) - at(t.x), at(t.z) - at(t.x)).z / 2;
}

/// Of a polygon in the plane z = 0.
double area_of_outline(std::span<const Vec3d> corners) {
  double sum = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Vec3d& a = corners[i];
    const Vec3d& b = corners[(i + 1) % corners.size()];
    sum += a.x * b.y - a.y * b.x;
  }
  return sum / 2;
}

/// Triangles that are all turned like the polygon and have its area cover it once.
void expect_covers(std::span<const Vec3d> corners, const std::vector<Vec3i>& triangles) {
  ASSERT_EQ(triangles.size(), corners.size() - 2);
  const double whole = area_of_outline(corners);
  double sum = 0;
  for (const Vec3i& t : triangles) {
    const double area = area_of_triangle(corners, t);
    EXPECT_GE(area * whole, 0.0);
    sum += area;
  }
  EXPECT_NEAR(sum, whole, 1e-12 * std::abs(whole));
}

const std::vector<Vec3d> kEl{{2, 2, 0}, {0, 2, 0}, {0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {2, 1, 0}};

TEST(Concave, FansThatStayInsideAreKept) {
  EXPECT_TRUE(ears_of(std::vector<Vec3d>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}).empty());
  // An arrow's head seen from its tip and from its notch.
  const std::vector<Vec3d> arrow{{0, 1, 0}, {-1, -1, 0}, {0, 0, 0}, {1, -1, 0}};
  EXPECT_TRUE(ears_of(arrow).empty());
}

TEST(Concave, EarsCoverTheOutlineFromEveryCorner) {
  for (std::size_t first = 0; first < kEl.size(); ++first) {
    for (const bool turned : {false, true}) {
      std::vector<Vec3d> corners;
      for (std::size_t i = 0; i < kEl.size(); ++i) corners.push_back(kEl[(first + i) % kEl.size()]);
      if (turned) std::reverse(corners.begin(), corners.end());
      const std::vector<Vec3i> ears = ears_of(corners);
      if (!ears.empty()) expect_covers(corners, ears);
    }
  }
  EXPECT_FALSE(ears_of(kEl).empty());
}

// Stars of random radii, from a corner that never sees all others.
TEST(Concave, EarsCoverStars) {
  const Random random{testing::seed_of_test(), 0};
  for (int round = 0; round < 50; ++round) {
    const int spikes = 3 + round;
    std::vector<Vec3d> corners;
    for (int i = 0; i < 2 * spikes; ++i) {
      const double angle = std::numbers::pi * i / spikes;
      const double radius = i % 2 == 0 ? 2 + random.uniform(1000 * round + i) : 0.3;
      corners.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    }
    expect_covers(corners, ears_of(corners));
  }
}

TEST(Concave, AnOutlineWithABridgeToItsHole) {
  const std::vector<Vec3d> frame{{0, 0, 0}, {3, 0, 0}, {3, 3, 0}, {0, 3, 0}, {0, 0, 0},
                                 {1, 1, 0}, {1, 2, 0}, {2, 2, 0}, {2, 1, 0}, {1, 1, 0}};
  expect_covers(frame, ears_of(frame));
  EXPECT_DOUBLE_EQ(area_of_outline(frame), 8);
}

TEST(Concave, LargeStarsAreCutAndVeryLargeOnesRefused) {
  for (const int corners : {4000, 17000}) {
    std::vector<Vec3d> star;
    for (int i = 0; i < corners; ++i) {
      const double angle = 2 * std::numbers::pi * i / corners;
      const double radius = i % 2 == 0 ? 1 : 0.5;
      star.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
    }
    if (corners == 4000) {
      expect_covers(star, ears_of(star));
    } else {
      EXPECT_TRUE(testing::mentions(testing::error_message([&] { ears_of(star); }),
                                    "file: a face has 17000 corners"));
    }
  }
}

TEST(Concave, WhatHasNoInsideKeepsItsFan) {
  EXPECT_TRUE(ears_of({}).empty());
  const std::vector<Vec3d> line{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0.5, 0, 0}};
  EXPECT_TRUE(ears_of(line).empty());
  const std::vector<Vec3d> hole{{0, 0, 0}, {1, 0, 0}, {NAN, 0, 0}, {0, 1, 0}};
  EXPECT_TRUE(ears_of(hole).empty());
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

double area_of(const TriangleMesh& mesh) {
  double sum = 0;
  for (const Vec3i& t : mesh.triangles.host()) {
    const auto at = [&](std::int32_t i) { return mesh.vertices.points.data()[i]; };
    sum += norm(cross(at(t.y) - at(t.x), at(t.z) - at(t.x))) / 2;
  }
  return sum;
}

// The L stands across all axes; a fan around its first corner would have an area of 4 instead of 3.
TEST(Concave, EveryReaderTriangulatesAnL) {
  const testing::TemporaryFolder folder;
  const char* vertices[] = {"2 0 2", "0 0 2", "0 0 0", "1 0 0", "1 0 1", "2 0 1"};
  std::string obj, lines;
  for (const char* vertex : vertices) {
    obj += std::string("v ") + vertex + "\n";
    lines += std::string(vertex) + "\n";
  }
  write_text(folder / "l.obj", obj + "vt 0 0\nvt 1 0\nf 1/1 2/2 3/1 4/2 5/1 6/2\n");
  write_text(folder / "l.ply",
             "ply\nformat ascii 1.0\nelement vertex 6\nproperty float x\nproperty float y\n"
             "property float z\nelement face 1\nproperty list uchar int vertex_indices\n"
             "end_header\n" +
                 lines + "6 0 1 2 3 4 5\n");
  write_text(folder / "l.vtk",
             "# vtk DataFile Version 3.0\nl\nASCII\nDATASET POLYDATA\nPOINTS 6 float\n" + lines +
                 "POLYGONS 1 7\n6 0 1 2 3 4 5\n");
  for (const char* name : {"l.obj", "l.ply", "l.vtk"}) {
    const TriangleMesh mesh = read_geometry(folder / name);
    EXPECT_EQ(mesh.triangles.size(), 4) << name;
    EXPECT_FLOAT_EQ(static_cast<float>(area_of(mesh)), 3) << name;
  }
  // The corners keep their texture coordinates: odd vertices have u = 0.
  const TriangleMesh textured = read_geometry(folder / "l.obj");
  ASSERT_EQ(textured.texture_coordinates.size(), 6);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(textured.texture_coordinates.data()[i].x, i % 2);
}

}  // namespace
}  // namespace sextant::detail::mesh
