// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/synth/catalogue/polygonize.h"
#include "sextant/synth/catalogue/solid_fields.h"
#include "sextant/synth/mesh_report.h"
#include "sextant/synth/table_scene/resting_body.h"
#include "tests/error_message.h"
#include "tests/meshes.h"

namespace sextant {

using namespace detail::catalogue;
namespace {

TEST(Catalogue, EveryObjectIsAClosedSolidOfItsSize) {
  for (const CatalogueEntry& entry : object_catalogue()) {
    SCOPED_TRACE(entry.name);
    const TriangleMesh mesh = make_object(entry.name);
    const MeshReport report = inspect_mesh(mesh);
    EXPECT_EQ(report.open_edges, 0);
    EXPECT_EQ(report.crowded_edges, 0);
    EXPECT_EQ(report.opposed_edges, 0);
    EXPECT_EQ(report.flat_triangles, 0);
    EXPECT_GT(report.volume_m3, 0);
    EXPECT_TRUE(report.watertight());
    EXPECT_EQ(report.components, 1);
    // The mask has a handle around either eye and one around the mouth.
    EXPECT_EQ(report.euler_characteristic(), entry.name == "mask" ? 2 - 2 * 3 : 2);
    const Bounds box = bounds(Context::cpu(), mesh.vertices.points);
    EXPECT_EQ(box.low.z, 0.0f);
    EXPECT_GT(box.diagonal_m(), 0.06f);
    EXPECT_LT(box.diagonal_m(), 0.30f);
    EXPECT_TRUE(mesh.vertices.normals.size() == mesh.vertices.size());
    EXPECT_TRUE(!mesh.vertices.colors.empty() || !mesh.texture_coordinates.empty());
  }
}

TEST(Catalogue, NormalsAreUnitAndPointOutward) {
  for (const CatalogueEntry& entry : object_catalogue()) {
    SCOPED_TRACE(entry.name);
    const TriangleMesh mesh = make_object(entry.name);
    const auto points = mesh.vertices.points.host();
    const auto normals = mesh.vertices.normals.host();
    for (const Vec3f& n : normals) ASSERT_NEAR(norm(n), 1, 1e-5);
    double against = 0, area = 0;
    for (const Vec3i& t : mesh.triangles.host()) {
      const Vec3f c = cross(points[t.y] - points[t.x], points[t.z] - points[t.x]);
      const bool agrees =
          dot(c, normals[t.x]) > 0 && dot(c, normals[t.y]) > 0 && dot(c, normals[t.z]) > 0;
      area += norm(c);
      against += agrees ? 0 : norm(c);
    }
    // Only slivers in creases narrower than a cell may disagree.
    EXPECT_LT(against, 0.01 * area);
  }
}

TEST(Catalogue, EveryRestingPoseIsStable) {
  for (const CatalogueEntry& entry : object_catalogue()) {
    const TriangleMesh mesh = make_object(entry.name);
    const Vec3d mass = inspect_mesh(mesh).centroid_m;
    const auto rotations = resting_rotations(entry.name);
    for (std::size_t i = 0; i < rotations.size(); ++i) {
      SCOPED_TRACE(std::string(entry.name) + " pose " + std::to_string(i));
      EXPECT_NEAR(determinant(rotations[i]), 1, 1e-12);
      const detail::table_scene::RestingBody body =
          detail::table_scene::set_down(mesh, rotations[i]);
      const Vec3d above = body.ground_from_object * mass;
      EXPECT_TRUE(detail::table_scene::contains(body.contact, {above.x, above.y}));
      EXPECT_TRUE(detail::table_scene::contains(body.footprint, body.contact, -1e-9));
    }
  }
}

TEST(Catalogue, PrintedThingsAreFullOfCorners) {
  for (const CatalogueEntry& entry : object_catalogue()) {
    if (entry.set != ObjectSet::kPrinted) continue;
    SCOPED_TRACE(entry.name);
    const TriangleMesh mesh = make_object(entry.name);
    ASSERT_EQ(mesh.materials.size(), 1u);
    const Image<Rgb8>& texture = mesh.materials[0].texture;
    EXPECT_GE(texture.width(), 512);
    EXPECT_LE(texture.width(), 1024);
    // Blocks of 32 pixels whose structure tensor has two large eigenvalues.
    int blocks = 0, cornered = 0;
    for (int v0 = 1; v0 + 33 < texture.height(); v0 += 32) {
      for (int u0 = 1; u0 + 33 < texture.width(); u0 += 32) {
        double xx = 0, xy = 0, yy = 0;
        for (int v = v0; v < v0 + 32; ++v) {
          for (int u = u0; u < u0 + 32; ++u) {
            const double gx = texture(u + 1, v).y - texture(u - 1, v).y;
            const double gy = texture(u, v + 1).y - texture(u, v - 1).y;
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
          }
        }
        const double smaller =
            0.5 * (xx + yy - std::sqrt((xx - yy) * (xx - yy) + 4 * xy * xy)) / 1024;
        ++blocks;
        cornered += smaller > 100;
      }
    }
    EXPECT_GT(cornered, 0.25 * blocks);
  }
}

TEST(Catalogue, TheSameObjectEveryTime) {
  for (const char* name : {"apple", "soup_can"}) {
    const TriangleMesh a = make_object(name), b = make_object(name);
    ASSERT_EQ(a.vertices.size(), b.vertices.size());
    EXPECT_EQ(std::memcmp(a.vertices.points.data(), b.vertices.points.data(),
                          a.vertices.points.host().size_bytes()),
              0);
  }
  const std::string message = testing::error_message([] { make_object("teapot"); });
  EXPECT_TRUE(testing::mentions(message, "teapot"));
  EXPECT_TRUE(testing::mentions(message, "tortoise"));
}

TEST(Polygonize, ABallIsABall) {
  constexpr double kRadius = 0.05;
  const Vec3d center{0.01, 0.02, -0.03};
  const auto ball = [&](const Vec3d& p) { return detail::catalogue::ball(p, center, kRadius); };
  const FieldGrid grid{{-0.05, -0.04, -0.09}, {0.07, 0.08, 0.03}, 0.005};
  const TriangleMesh mesh = polygonize(ball, grid);
  const MeshReport report = inspect_mesh(mesh);
  EXPECT_TRUE(report.watertight());
  EXPECT_EQ(report.euler_characteristic(), 2);
  for (std::int64_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3d from = cast<double>(mesh.vertices.points.data()[i]) - center;
    // Newton on a distance is exact; the last step is taken from the mean over a small
    // tetrahedron, which lies step² / R off: (0.05 · 5 mm)² / 50 mm.
    ASSERT_NEAR(norm(from), kRadius, 3e-6);
    ASSERT_GT(dot(from, cast<double>(mesh.vertices.normals.data()[i])), 0.9999 * norm(from));
  }
  // Chords of at most a cell cut h²/8R from the radius, three times that from the volume.
  const double exact = 4.0 / 3 * M_PI * kRadius * kRadius * kRadius;
  EXPECT_LT(report.volume_m3, exact);
  EXPECT_GT(report.volume_m3, exact * (1 - 3 * 0.005 * 0.005 / (8 * kRadius * kRadius)));
}

TEST(Polygonize, Misuse) {
  const auto ball = [](const Vec3d& p) { return norm(p) - 1; };
  using testing::error_message;
  using testing::mentions;
  EXPECT_TRUE(mentions(error_message([&] {
                         polygonize(ball, {{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}, 0.1});
                       }),
                       "box"));
  EXPECT_TRUE(mentions(error_message([&] {
                         polygonize(ball, {{-2, -2, -2}, {2, 2, 2}, 0});
                       }),
                       "cell_m"));
  EXPECT_TRUE(mentions(error_message([&] {
                         polygonize(ball, {{-2, -2, -2}, {2, 2, 2}, 1e-5});
                       }),
                       "cells"));
  const auto nothing = [](const Vec3d&) { return 1.0; };
  EXPECT_EQ(polygonize(nothing, {{0, 0, 0}, {1, 1, 1}, 0.2}).triangles.size(), 0);
}

TEST(MeshReport, TellsWhatIsWrong) {
  const TriangleMesh closed = testing::sphere(0.1f, 8, 12);
  EXPECT_TRUE(inspect_mesh(closed).watertight());
  const std::vector<Vec3f> corners{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const std::vector<Vec3i> faces{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  const MeshReport tetrahedron = inspect_mesh(testing::mesh_of(corners, faces));
  EXPECT_TRUE(tetrahedron.watertight());
  EXPECT_NEAR(tetrahedron.volume_m3, 1.0 / 6, 1e-7);
  EXPECT_NEAR(norm(tetrahedron.centroid_m - Vec3d{0.25, 0.25, 0.25}), 0, 1e-7);
  std::vector<Vec3i> open(faces.begin(), faces.end() - 1);
  EXPECT_EQ(inspect_mesh(testing::mesh_of(corners, open)).open_edges, 3);
  std::vector<Vec3i> turned = faces;
  std::swap(turned[0].x, turned[0].y);
  EXPECT_EQ(inspect_mesh(testing::mesh_of(corners, turned)).opposed_edges, 3);
  std::vector<Vec3i> doubled = faces;
  doubled.push_back(faces[0]);
  EXPECT_EQ(inspect_mesh(testing::mesh_of(corners, doubled)).crowded_edges, 3);
  EXPECT_FALSE(inspect_mesh(TriangleMesh{}).watertight());
}

TEST(ConvexPolygon, HullAreaAndSeparation) {
  const detail::table_scene::ConvexPolygon square = detail::table_scene::convex_hull(
      {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.5, 0.5}, {0.5, 0}, {1, 1}});
  EXPECT_EQ(square.size(), 4u);
  EXPECT_DOUBLE_EQ(detail::table_scene::area(square), 1);
  EXPECT_TRUE(detail::table_scene::contains(square, Vec2d{0.5, 0.5}, 0.49));
  EXPECT_FALSE(detail::table_scene::contains(square, Vec2d{0.5, 0.5}, 0.51));
  const auto right = detail::table_scene::moved(square, 0, {1.1, 0});
  EXPECT_TRUE(detail::table_scene::apart(square, right, 0.09));
  EXPECT_FALSE(detail::table_scene::apart(square, right, 0.11));
  EXPECT_FALSE(detail::table_scene::apart(
      square, detail::table_scene::moved(square, M_PI / 4, {1.1, 0}), 0));
  EXPECT_EQ(detail::table_scene::convex_hull({{1, 2}, {1, 2}}).size(), 1u);
}

}  // namespace
}  // namespace sextant
