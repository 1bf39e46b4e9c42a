// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh_health.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

constexpr float kNan = NAN;

struct Soup {
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;

  TriangleMesh mesh() const { return testing::mesh_of(points, triangles); }

  /// Adds a mesh, moved, inside out where wanted.
  void add(const TriangleMesh& other, const Vec3f& to, bool inside_out = false) {
    const auto first = static_cast<std::int32_t>(points.size());
    for (const Vec3f& p : other.vertices.points.host()) points.push_back(p + to);
    for (const Vec3i& t : other.triangles.host()) {
      triangles.push_back(inside_out ? Vec3i{t.x + first, t.z + first, t.y + first}
                                     : Vec3i{t.x + first, t.y + first, t.z + first});
    }
  }
};

double volume_m3(const TriangleMesh& mesh) {
  double sum = 0;
  for (const Vec3i& t : mesh.triangles.host()) {
    const auto at = [&](std::int32_t i) {
      return cast<double>(mesh.vertices.points.host()[static_cast<std::size_t>(i)]);
    };
    sum += dot(at(t.x), cross(at(t.y), at(t.z))) / 6;
  }
  return sum;
}

bool says(const MeshHealth& health, const std::string& part) {
  return std::any_of(health.remarks.begin(), health.remarks.end(), [&](const std::string& remark) {
    return remark.find(part) != std::string::npos;
  });
}

/// Whether every triangle faces away from the axis z.
bool faces_away_from_axis(const TriangleMesh& mesh) {
  for (const Vec3i& t : mesh.triangles.host()) {
    const auto at = [&](std::int32_t i) {
      return mesh.vertices.points.host()[static_cast<std::size_t>(i)];
    };
    const Vec3f n = cross(at(t.y) - at(t.x), at(t.z) - at(t.x));
    if (!(n.x * at(t.x).x + n.y * at(t.x).y > 0)) return false;
  }
  return true;
}

/// The wall of a can: open at both ends, or at one.
TriangleMesh can(int sectors, bool with_lid) {
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;
  for (int i = 0; i < sectors; ++i) {
    const double turn = 2 * M_PI * i / sectors;
    for (const float z : {0.0f, 1.0f}) {
      points.push_back({static_cast<float>(std::cos(turn)), static_cast<float>(std::sin(turn)), z});
    }
    const int a = 2 * i, b = 2 * ((i + 1) % sectors);
    triangles.push_back({a, b, b + 1});
    triangles.push_back({a, b + 1, a + 1});
    if (with_lid) triangles.push_back({a + 1, b + 1, 2 * sectors});
  }
  if (with_lid) points.push_back({0, 0, 1});
  return testing::mesh_of(points, triangles);
}

TEST(MeshHealth, LeavesASoundMeshAlone) {
  const TriangleMesh ball = testing::sphere(0.1f, 20, 40);
  const MendedMesh mended = mend_mesh(Context::cpu(), copy(Context::cpu(), ball));
  EXPECT_TRUE(mended.health.watertight());
  EXPECT_TRUE(mended.health.remarks.empty()) << mended.health.remarks[0];
  EXPECT_EQ(mended.health.parts, 1);
  EXPECT_TRUE(std::ranges::equal(mended.mesh.triangles.host(), ball.triangles.host()));
  EXPECT_TRUE(std::ranges::equal(mended.mesh.vertices.points.host(), ball.vertices.points.host()));
}

/// Everything at once: corners of their own for each triangle, a third of them turned, holes,
/// repetitions, backs, needles and unused vertices, in one ball.
TEST(MeshHealth, MendsABrokenBall) {
  const TriangleMesh ball = testing::sphere(0.1f, 20, 40);
  const std::uint64_t seed = testing::seed_of_test();
  Soup soup;
  std::int64_t turned = 0, repeated = 0, two_sided = 0;
  for (std::size_t i = 0; i < ball.triangles.host().size(); ++i) {
    const Vec3i t = ball.triangles.host()[i];
    const auto n = static_cast<std::int32_t>(soup.points.size());
    for (const std::int32_t corner : {t.x, t.y, t.z}) {
      soup.points.push_back(ball.vertices.points.host()[static_cast<std::size_t>(corner)]);
    }
    const bool turn = Random{seed, i}.uniform(0) < 0.3f;
    const Vec3i own = turn ? Vec3i{n, n + 2, n + 1} : Vec3i{n, n + 1, n + 2};
    turned += turn;
    soup.triangles.push_back(own);
    if (Random{seed, i}.uniform(1) < 0.1f) {
      soup.triangles.push_back({own.y, own.z, own.x});
      ++repeated;
    }
    if (Random{seed, i}.uniform(2) < 0.1f) {
      soup.triangles.push_back({own.y, own.x, own.z});
      ++two_sided;
    }
  }
  const auto n = static_cast<std::int32_t>(soup.points.size());
  soup.points.insert(soup.points.end(), {{kNan, 0, 0}, {5, 5, 5}, {0.05f, 0, 0}, {0.06f, 0, 0}});
  soup.triangles.push_back({0, 1, n});  // a corner that is no number
  soup.triangles.push_back({3, 3, 4});  // a segment
  soup.triangles.push_back({n + 2, n + 3, n + 2});
  const MendedMesh mended = mend_mesh(Context::cpu(), soup.mesh());
  const MeshHealth& h = mended.health;
  EXPECT_EQ(h.holes_among_vertices, 1);
  EXPECT_EQ(h.broken_triangles, 1);
  EXPECT_EQ(h.flat_triangles, 2);
  EXPECT_EQ(h.repeated_triangles, repeated);
  EXPECT_EQ(h.two_sided_triangles, two_sided);
  EXPECT_EQ(h.turned_triangles, turned);
  EXPECT_EQ(h.turned_parts, 0);
  EXPECT_EQ(h.unused_vertices, 3);
  EXPECT_EQ(h.parts, 1);
  EXPECT_EQ(h.closed_parts, 1);
  EXPECT_EQ(mended.mesh.vertices.size(), ball.vertices.size());
  EXPECT_EQ(mended.mesh.triangles.size(), ball.triangles.size());
  EXPECT_DOUBLE_EQ(volume_m3(mended.mesh), volume_m3(ball));
  EXPECT_TRUE(says(h, "1 vertex with coordinates that are no numbers was left out."));
  EXPECT_TRUE(says(h, std::to_string(turned) + " triangles wound against their neighbours"));
  EXPECT_TRUE(mend_mesh(Context::cpu(), copy(Context::cpu(), mended.mesh)).health.remarks.empty());
}

TEST(MeshHealth, TurnsPartsThatAreInsideOut) {
  const TriangleMesh ball = testing::sphere(0.1f, 12, 24);
  Soup soup;
  for (int i = 0; i < 12; ++i) soup.add(ball, {0.5f * static_cast<float>(i), 0, 0}, i % 4 == 1);
  const MendedMesh mended = mend_mesh(Context::cpu(), soup.mesh());
  EXPECT_EQ(mended.health.turned_parts, 3);
  EXPECT_EQ(mended.health.closed_parts, 12);
  EXPECT_TRUE(says(mended.health, "3 of 12 parts were inside out and were turned."));
  EXPECT_NEAR(volume_m3(mended.mesh), 12 * volume_m3(ball), 1e-7);
}

TEST(MeshHealth, LeavesCavitiesAndWhatLiesInside) {
  Soup hollow;
  hollow.add(testing::sphere(0.1f, 12, 24), {});
  hollow.add(testing::sphere(0.05f, 12, 24), {}, true);       // a cavity
  hollow.add(testing::sphere(0.01f, 12, 24), {0.02f, 0, 0});  // something in it
  const MendedMesh mended = mend_mesh(Context::cpu(), hollow.mesh());
  EXPECT_EQ(mended.health.turned_parts, 0);
  EXPECT_TRUE(std::ranges::equal(mended.mesh.triangles.host(), hollow.triangles));
}

TEST(MeshHealth, TurnsOpenPartsToWhereTheOpenIs) {
  for (const bool with_lid : {false, true}) {
    Soup soup;
    const TriangleMesh tube = can(24, with_lid);
    soup.add(tube, {}, true);
    const MendedMesh mended = mend_mesh(Context::cpu(), soup.mesh());
    EXPECT_EQ(mended.health.turned_parts, 1);
    EXPECT_EQ(mended.health.closed_parts, 0);
    EXPECT_EQ(mended.health.holes, with_lid ? 1 : 2);
    EXPECT_EQ(mended.health.open_edges, with_lid ? 24 : 48);
    EXPECT_TRUE(says(mended.health, "inside out"));
    // Turned back, its triangles have the corners that they had.
    for (std::size_t i = 0; i < tube.triangles.host().size(); ++i) {
      const Vec3i a = mended.mesh.triangles.host()[i];
      EXPECT_EQ(a, tube.triangles.host()[i]);
    }
    EXPECT_EQ(mend_mesh(Context::cpu(), copy(Context::cpu(), tube)).health.turned_parts, 0);
  }
  EXPECT_TRUE(faces_away_from_axis(mend_mesh(Context::cpu(), can(24, false)).mesh));
  // A sheet has no inside.
  EXPECT_EQ(
      mend_mesh(Context::cpu(), testing::quad({0, 0, 0}, {1, 0, 0}, {0, 1, 0})).health.turned_parts,
      0);
}

TEST(MeshHealth, LeavesAMoebiusStripAsItIs) {
  std::vector<Vec3f> points;
  std::vector<Vec3i> triangles;
  constexpr int kSteps = 30;
  for (int i = 0; i < kSteps; ++i) {
    const double turn = 2 * M_PI * i / kSteps;
    for (const double s : {-0.2, 0.2}) {
      const double r = 1 + s * std::cos(turn / 2);
      points.push_back({static_cast<float>(r * std::cos(turn)),
                        static_cast<float>(r * std::sin(turn)),
                        static_cast<float>(s * std::sin(turn / 2))});
    }
    const bool last = i + 1 == kSteps;
    const int a = 2 * i, b = last ? 1 : 2 * i + 2, c = last ? 0 : 2 * i + 3;
    triangles.push_back({a, b, c});
    triangles.push_back({a, c, a + 1});
  }
  const MendedMesh mended = mend_mesh(Context::cpu(), testing::mesh_of(points, triangles));
  EXPECT_EQ(mended.health.one_sided_parts, 1);
  EXPECT_EQ(mended.health.turned_triangles, 0);
  EXPECT_EQ(mended.health.holes, 1);
  EXPECT_TRUE(std::ranges::equal(mended.mesh.triangles.host(), triangles));
}

Soup cube() {
  Soup soup;
  for (int i = 0; i < 8; ++i) {
    soup.points.push_back({i & 1 ? 1.0f : 0, i & 2 ? 1.0f : 0, i & 4 ? 1.0f : 0});
  }
  soup.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return soup;
}

TEST(MeshHealth, CountsEdgesOfMoreThanTwoTriangles) {
  Soup pair = cube();
  pair.add(cube().mesh(), {1, 1, 0}, true);  // touches the first along an edge
  const MendedMesh mended = mend_mesh(Context::cpu(), pair.mesh());
  EXPECT_EQ(mended.health.crowded_edges, 1);
  EXPECT_EQ(mended.health.welded_vertices, 2);
  EXPECT_EQ(mended.health.turned_parts, 1);
  EXPECT_NEAR(volume_m3(mended.mesh), 2, 1e-6);
  EXPECT_FALSE(mended.health.watertight());
}

TEST(MeshHealth, ClosesCracksOfRounding) {
  Soup soup;
  const std::uint64_t seed = testing::seed_of_test();
  const Soup whole = cube();
  for (const Vec3i& t : whole.triangles) {
    const auto n = static_cast<std::int32_t>(soup.points.size());
    for (const std::int32_t corner : {t.x, t.y, t.z}) {
      const Random random{seed, soup.points.size()};
      const Vec3f error{random.uniform(0) - 0.5f, random.uniform(1) - 0.5f,
                        random.uniform(2) - 0.5f};
      soup.points.push_back(whole.points[static_cast<std::size_t>(corner)] + error * 5e-7f);
    }
    soup.triangles.push_back({n, n + 1, n + 2});
  }
  EXPECT_TRUE(examine_mesh(Context::cpu(), soup.mesh()).watertight());
  const MeshHealth exact = examine_mesh(Context::cpu(), soup.mesh(), {.weld_share = 0});
  EXPECT_GT(exact.parts, 1);
  EXPECT_FALSE(exact.watertight());
}

/// What a corner of a triangle shows: place, normal and texture.
using Shown = std::array<float, 8>;

std::vector<Shown> shown(const TriangleMesh& mesh) {
  std::vector<Shown> all;
  for (std::size_t i = 0; i < mesh.triangles.host().size(); ++i) {
    const Vec3i t = mesh.triangles.host()[i];
    const Vec3i n = mesh.normal_triangles.empty() ? t : mesh.normal_triangles.host()[i];
    const Vec3i c = mesh.texture_triangles.empty() ? t : mesh.texture_triangles.host()[i];
    const auto& normals =
        mesh.normal_triangles.empty() ? mesh.vertices.normals : mesh.corner_normals;
    const std::int32_t corners[3][3] = {{t.x, n.x, c.x}, {t.y, n.y, c.y}, {t.z, n.z, c.z}};
    for (const auto& k : corners) {
      const Vec3f p = mesh.vertices.points.host()[static_cast<std::size_t>(k[0])];
      const Vec3f normal = normals.host()[static_cast<std::size_t>(k[1])];
      const Vec2f uv = mesh.texture_coordinates.host()[static_cast<std::size_t>(k[2])];
      all.push_back({p.x, p.y, p.z, normal.x, normal.y, normal.z, uv.x, uv.y});
    }
  }
  return all;
}

TEST(MeshHealth, KeepsNormalsAndTextureAtSeams) {
  const Soup whole = cube();
  Soup soup;
  std::vector<Vec3f> normals;
  std::vector<Vec2f> uv;
  for (const Vec3i& t : whole.triangles) {
    const auto n = static_cast<std::int32_t>(soup.points.size());
    const auto at = [&](std::int32_t i) { return whole.points[static_cast<std::size_t>(i)]; };
    const Vec3f normal = normalized(cross(at(t.y) - at(t.x), at(t.z) - at(t.x)));
    for (const std::int32_t corner : {t.x, t.y, t.z}) {
      soup.points.push_back(at(corner));
      normals.push_back(normal);
      uv.push_back({static_cast<float>(n), static_cast<float>(corner)});
    }
    soup.triangles.push_back({n, n + 1, n + 2});
  }
  TriangleMesh split = soup.mesh();
  split.vertices.normals = copy(Context::cpu(), normals);
  split.texture_coordinates = copy(Context::cpu(), uv);
  const std::vector<Shown> before = shown(split);
  MendedMesh mended = mend_mesh(Context::cpu(), std::move(split));
  EXPECT_NO_THROW(check_mesh(mended.mesh));
  EXPECT_EQ(mended.mesh.vertices.size(), 8);
  EXPECT_TRUE(mended.health.watertight());
  EXPECT_EQ(shown(mended.mesh), before);
}

TEST(MeshHealth, CarriesColorsMaterialsAndAttributes) {
  TriangleMesh mesh = testing::mesh_of({{9, 9, 9}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}},
                                       {{1, 2, 2}, {1, 4, 3}});
  mesh.vertices.colors = copy(
      Context::cpu(), std::vector<Rgb8>{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}});
  mesh.vertices.attributes.push_back(
      {"pair", copy(Context::cpu(), std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}), 2});
  mesh.triangle_materials = copy(Context::cpu(), std::vector<std::int32_t>{0, 1});
  mesh.materials.resize(2);
  const MendedMesh mended = mend_mesh(Context::cpu(), std::move(mesh));
  EXPECT_NO_THROW(check_mesh(mended.mesh));
  ASSERT_EQ(mended.mesh.triangles.size(), 1);
  EXPECT_EQ(mended.mesh.triangles.host()[0], (Vec3i{0, 1, 2}));
  EXPECT_EQ(mended.mesh.triangle_materials.host()[0], 1);
  EXPECT_EQ(mended.mesh.vertices.colors.host()[1], (Rgb8{2, 2, 2}));  // the first of the two
  const std::vector<float> expected{1, 1, 2, 2, 3, 3};
  EXPECT_TRUE(std::ranges::equal(mended.mesh.vertices.attributes[0].get<float>().host(), expected));
}

TEST(MeshHealth, MendsNormals) {
  TriangleMesh ball = testing::sphere(0.1f, 12, 24);
  const Buffer<Vec3f> truth = copy(Context::cpu(), ball.vertices.normals);
  const auto normals = ball.vertices.normals.host();
  normals[5] = -normals[5];
  normals[6] = {kNan, 0, 0};
  normals[7] = {0, 0, 0};
  const MendedMesh mended = mend_mesh(Context::cpu(), std::move(ball));
  EXPECT_EQ(mended.health.turned_normals, 1);
  EXPECT_EQ(mended.health.new_normals, 2);
  for (std::size_t i = 0; i < truth.host().size(); ++i) {
    EXPECT_GT(dot(mended.mesh.vertices.normals.host()[i], truth.host()[i]), 0.98f);
  }
}

TEST(MeshHealth, TakesPointsNothingAndNoSize) {
  const MendedMesh nothing = mend_mesh(Context::cpu(), {});
  EXPECT_TRUE(says(nothing.health, "no points"));
  TriangleMesh points =
      testing::mesh_of({{0, 0, 0}, {1, 0, 0}, {0, 0, 0}, {kNan, 0, 0}, {2, 0, 0}}, {});
  points.vertices.width = 5;
  points.vertices.height = 1;
  const MendedMesh cloud = mend_mesh(Context::cpu(), std::move(points));
  EXPECT_EQ(cloud.mesh.vertices.size(), 3);
  EXPECT_FALSE(cloud.mesh.vertices.organised());
  EXPECT_TRUE(says(cloud.health, "no triangles, only points"));
  const MendedMesh spot =
      mend_mesh(Context::cpu(), testing::mesh_of({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}, {{0, 1, 2}}));
  EXPECT_EQ(spot.mesh.vertices.size(), 1);
  EXPECT_TRUE(says(spot.health, "All points lie in one place."));
  EXPECT_TRUE(says(spot.health, "No triangle is left"));
  const MendedMesh line =
      mend_mesh(Context::cpu(), testing::mesh_of({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}));
  EXPECT_EQ(line.health.flat_triangles, 1);
  EXPECT_TRUE(line.mesh.triangles.empty());
  EXPECT_THROW(mend_mesh(Context::cpu(), {}, {.weld_share = -1}), Error);
}

TEST(MeshHealth, IsTheSameForAnyNumberOfThreads) {
  Soup soup;
  for (int i = 0; i < 200; ++i) {
    soup.add(can(6, i % 2), {3.0f * static_cast<float>(i), 0, 0}, i % 3 == 0);
  }
  const MendedMesh one = mend_mesh(Context::cpu(1), soup.mesh());
  const MendedMesh seven = mend_mesh(Context::cpu(7), soup.mesh());
  EXPECT_EQ(one.health.turned_parts, 67);
  EXPECT_EQ(one.health.remarks, seven.health.remarks);
  EXPECT_TRUE(std::ranges::equal(one.mesh.triangles.host(), seven.mesh.triangles.host()));
}

}  // namespace
}  // namespace sextant
