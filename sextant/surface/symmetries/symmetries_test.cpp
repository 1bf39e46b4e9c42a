// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/symmetries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "sextant/geometry/diameter.h"
#include "sextant/geometry/mesh_health.h"
#include "sextant/geometry/sample_mesh.h"
#include "sextant/io/geometry_file.h"
#include "tests/devices.h"
#include "tests/minutes_under_sanitizers.h"
#include "tests/shared_data.h"
#include "tests/solids.h"

namespace sextant {
namespace {

using testing::Solid;

constexpr double kPi = std::numbers::pi;

/// A solid with what it must have: non-identity rotations and continuous axes.
struct KnownSolid {
  const char* name;
  Solid solid;
  std::size_t discrete;
  std::size_t continuous;
};

std::vector<Vec2d> half_circle(double radius_m, int steps) {
  std::vector<Vec2d> profile;
  for (int i = 0; i <= steps; ++i) {
    const double turn = kPi * i / steps;
    const bool is_pole = i == 0 || i == steps;
    profile.push_back({is_pole ? 0 : radius_m * std::sin(turn), -radius_m * std::cos(turn)});
  }
  return profile;
}

std::vector<KnownSolid> known_solids() {
  using namespace testing;
  std::vector<KnownSolid> all;
  all.push_back({"box", divided(box(0.3, 0.2, 0.1), 4), 3, 0});
  all.push_back({"bar of 10 x 8.5", divided(box(0.4, 0.10, 0.085), 4), 3, 0});
  all.push_back({"square prism", divided(box(0.1, 0.1, 0.25), 4), 7, 0});
  all.push_back({"square plate", divided(box(0.2, 0.2, 0.03), 4), 7, 0});
  all.push_back({"cube", divided(box(0.1, 0.1, 0.1), 4), 23, 0});
  all.push_back({"triangular prism", divided(prism(regular_polygon(3, 0.1), 0.2), 4), 5, 0});
  all.push_back({"pentagonal prism", divided(prism(regular_polygon(5, 0.1), 0.07), 4), 9, 0});
  all.push_back({"hexagonal prism", divided(prism(regular_polygon(6, 0.1), 0.15), 4), 11, 0});
  all.push_back({"pyramid",
                 [] {
                   Solid s = box(0.2, 0.2, 0.3);
                   for (std::size_t i = 4; i < 8; ++i) s.points[i] = {0.1, 0.1, 0.2};
                   return divided(std::move(s), 4);
                 }(),
                 3, 0});
  all.push_back({"tetrahedron", divided(tetrahedron(0.1), 4), 11, 0});
  all.push_back({"icosahedron", divided(icosahedron(0.1), 3), 59, 0});
  all.push_back(
      {"L of equal arms",
       divided(prism({{0.05, 0.05}, {0.05, 0.2}, {0, 0.2}, {0, 0}, {0.2, 0}, {0.2, 0.05}}, 0.08),
               4),
       1, 0});
  all.push_back(
      {"L of different arms",
       divided(prism({{0.05, 0.05}, {0.05, 0.2}, {0, 0.2}, {0, 0}, {0.13, 0}, {0.13, 0.05}}, 0.08),
               4),
       0, 0});
  all.push_back({"cylinder", divided(prism(regular_polygon(48, 0.05), 0.2), 3), 1, 1});
  // Its inertia is that of a ball: height² = 3 radius² for a solid, about 1.5 for a shell.
  all.push_back({"flat cylinder", divided(prism(regular_polygon(48, 0.1), 0.12), 3), 1, 1});
  all.push_back({"cone", divided(revolved({{0, 0}, {0.1, 0}, {0, 0.25}}, 48), 2), 0, 1});
  all.push_back({"ball",
                 [] {
                   Solid s = divided(icosahedron(0.1), 4);
                   for (Vec3d& p : s.points) p = normalized(p) * 0.1;
                   return s;
                 }(),
                 0, 3});
  all.push_back({"egg",
                 [] {
                   Solid s = revolved(half_circle(0.1, 40), 80);
                   for (Vec3d& p : s.points) p.z *= p.z > 0 ? 1.6 : 1.0;
                   return s;
                 }(),
                 0, 1});
  all.push_back({"bowl",
                 divided(revolved({{0, 0},
                                   {0.05, 0},
                                   {0.08, 0.03},
                                   {0.1, 0.07},
                                   {0.095, 0.07},
                                   {0.075, 0.035},
                                   {0.05, 0.005},
                                   {0, 0.005}},
                                  48),
                         2),
                 0, 1});
  all.push_back({"mug", divided(cup(0.04, 0.09, true), 1), 0, 0});
  all.push_back({"mug without handle", divided(cup(0.04, 0.09, false), 1), 0, 1});
  return all;
}

Rigid3d any_pose(std::uint64_t seed, std::uint64_t item) {
  const Random random{seed, item};
  return {exp_rotation(Vec3d{random.normal(0), random.normal(1), random.normal(2)} * 2.0),
          {random.normal(3), random.normal(4), random.normal(5)}};
}

/// Whether the motions and the identity are closed under products.
bool is_group(const std::vector<Rigid3d>& motions) {
  std::vector<Rigid3d> all = motions;
  all.push_back({});
  for (const Rigid3d& a : all) {
    for (const Rigid3d& b : all) {
      const bool found = std::any_of(all.begin(), all.end(), [&](const Rigid3d& c) {
        return rotation_angle(transpose((a * b).rotation) * c.rotation) < 1e-6 &&
               norm((a * b).translation - c.translation) < 1e-6;
      });
      if (!found) return false;
    }
  }
  return true;
}

/// How far the motions carry corners of the exact solid off its corners: the accuracy of axes.
double worst_miss_m(const Solid& solid, const Symmetries& found, std::size_t corners) {
  double worst = 0;
  for (const Rigid3d& m : found.discrete) {
    for (std::size_t i = 0; i < corners; ++i) {
      double nearest = INFINITY;
      for (std::size_t j = 0; j < corners; ++j) {
        nearest = std::min(nearest, norm(m * solid.points[i] - solid.points[j]));
      }
      worst = std::max(worst, nearest);
    }
  }
  return worst;
}

TEST(FindSymmetries, FindsTheGroupsOfSolidsInAnyPose) {
  SEXTANT_MINUTES_UNDER_SANITIZERS();
  const std::uint64_t seed = testing::seed_of_test();
  std::uint64_t item = 0;
  for (const KnownSolid& known : known_solids()) {
    SCOPED_TRACE(known.name);
    const Solid solid = testing::moved(known.solid, any_pose(seed, item++));
    const FoundSymmetries found = find_symmetries(Context::cpu(), solid.mesh());
    EXPECT_EQ(found.shape.discrete.size(), known.discrete);
    EXPECT_EQ(found.shape.continuous.size(), known.continuous);
    EXPECT_EQ(found.appearance.discrete.size(), known.discrete);
    if (known.continuous == 0) {
      EXPECT_TRUE(is_group(found.shape.discrete));
    }
  }
}

TEST(FindSymmetries, NoiseOfHalfAPercentChangesNothing) {
  SEXTANT_MINUTES_UNDER_SANITIZERS();
  const std::uint64_t seed = testing::seed_of_test();
  std::uint64_t item = 0;
  for (const KnownSolid& known : known_solids()) {
    SCOPED_TRACE(known.name);
    const Solid clean = testing::moved(known.solid, any_pose(seed, item++));
    const double diameter = diameter_m(Context::cpu(), clean.mesh().vertices.points);
    const Solid solid = testing::with_noise(clean, 0.005 * diameter, seed + item);
    const FoundSymmetries found = find_symmetries(Context::cpu(), solid.mesh());
    EXPECT_EQ(found.shape.discrete.size(), known.discrete);
    EXPECT_EQ(found.shape.continuous.size(), known.continuous);
  }
}

TEST(FindSymmetries, AxesAreAccurate) {
  const std::uint64_t seed = testing::seed_of_test();
  const Solid cube = testing::moved(testing::box(0.1, 0.1, 0.1), any_pose(seed, 0));
  const FoundSymmetries turned = find_symmetries(Context::cpu(), cube.mesh());
  ASSERT_EQ(turned.shape.discrete.size(), 23u);
  EXPECT_LT(worst_miss_m(cube, turned.shape, 8), 0.0005);
  const Rigid3d pose = any_pose(seed, 1);
  const Solid can = testing::moved(
      testing::divided(testing::prism(testing::regular_polygon(64, 0.04), 0.1), 3), pose);
  const Symmetries round = find_symmetries(Context::cpu(), can.mesh()).shape;
  ASSERT_EQ(round.continuous.size(), 1u);
  const Vec3d axis = pose.rotation * Vec3d{0, 0, 1};
  EXPECT_LT(norm(cross(round.continuous[0].axis, axis)), 0.01);
  EXPECT_LT(norm(cross(round.continuous[0].point_m - pose * Vec3d{}, axis)), 0.0005);
  // The half turn carries one end to the other.
  ASSERT_EQ(round.discrete.size(), 1u);
  EXPECT_LT(norm(round.discrete[0] * (pose * Vec3d{}) - pose * Vec3d{0, 0, 0.1}), 0.001);
}

TEST(FindSymmetries, SamplesOfASurfaceAreEnough) {
  for (const KnownSolid& known : known_solids()) {
    const std::string name = known.name;
    if (name != "box" && name != "cylinder" && name != "mug" && name != "hexagonal prism") continue;
    SCOPED_TRACE(name);
    const MeshSamples samples = sample_mesh(Context::cpu(), known.solid.mesh(), 20000);
    TriangleMesh cloud;
    cloud.vertices.points = copy(Context::cpu(), samples.points);
    cloud.vertices.normals = copy(Context::cpu(), samples.normals);
    const FoundSymmetries found = find_symmetries(Context::cpu(), cloud);
    EXPECT_EQ(found.shape.discrete.size(), known.discrete);
    EXPECT_EQ(found.shape.continuous.size(), known.continuous);
  }
}

/// Paints a solid by the place of its vertices.
template <class Paint>
TriangleMesh painted(const Solid& solid, const Paint& paint) {
  TriangleMesh mesh = solid.mesh();
  std::vector<Rgb8> colors;
  for (const Vec3d& p : solid.points) colors.push_back(paint(p));
  mesh.vertices.colors = copy(Context::cpu(), colors);
  return mesh;
}

TEST(FindSymmetries, ColorsBreakSymmetries) {
  const Solid box = testing::divided(testing::box(0.3, 0.2, 0.1), 4);
  const Rgb8 red{200, 30, 30}, white{230, 230, 230};
  const auto plain =
      find_symmetries(Context::cpu(), painted(box, [&](const Vec3d&) { return red; }));
  EXPECT_EQ(plain.appearance.discrete.size(), 3u);
  const auto top = find_symmetries(
      Context::cpu(), painted(box, [&](const Vec3d& p) { return p.z > 0.05 ? red : white; }));
  EXPECT_EQ(top.shape.discrete.size(), 3u);
  ASSERT_EQ(top.appearance.discrete.size(), 1u);
  EXPECT_GT(std::abs(normalized(log_rotation(top.appearance.discrete[0].rotation)).z), 0.999);
  const auto corner = find_symmetries(Context::cpu(), painted(box, [&](const Vec3d& p) {
                                        return p.z > 0.05 && p.x > 0.15 && p.y > 0.1 ? red : white;
                                      }));
  EXPECT_TRUE(corner.appearance.none());

  const Solid can =
      testing::divided(testing::revolved({{0, 0}, {0.05, 0}, {0.05, 0.15}, {0, 0.15}}, 48), 2);
  const auto banded = find_symmetries(
      Context::cpu(), painted(can, [&](const Vec3d& p) { return p.z > 0.1 ? red : white; }));
  EXPECT_EQ(banded.shape.discrete.size(), 1u);
  EXPECT_EQ(banded.appearance.continuous.size(), 1u);
  EXPECT_TRUE(banded.appearance.discrete.empty());
  const auto sectors = find_symmetries(Context::cpu(), painted(can, [&](const Vec3d& p) {
                                         // Borders lie between vertices.
                                         const double turn =
                                             std::atan2(p.y, p.x) / (2 * kPi) + 0.5 + 1.0 / 1000;
                                         return std::fmod(turn * 3, 1.0) < 0.5 ? red : white;
                                       }));
  EXPECT_TRUE(sectors.appearance.continuous.empty());
  EXPECT_EQ(sectors.appearance.discrete.size(), 5u);  // thirds, and half turns across
}

struct CapturedObject {
  const char* file;
  double unit_m;
  std::size_t discrete;
  std::size_t continuous;
};

/// What one sees when one turns them: boxes, cans, a paper cup and bodies without symmetry.
TEST(FindSymmetries, HoldsOnCapturedObjects) {
  SEXTANT_MINUTES_UNDER_SANITIZERS();
  const CapturedObject objects[] = {
      {"densely_packed_bins/models/dove_mesh.obj", 1, 3, 0},
      {"densely_packed_bins/models/toothpaste_points.ply", 1, 3, 0},
      {"visp_rbt/models/cube.obj", 1, 23, 0},
      {"icbin_cups/coffee_cup.ply", 0.001, 0, 1},
      {"linemod_ape/obj_01.ply", 0.001, 0, 0},
      {"ycbv_frames/meshes/002_master_chef_can.obj", 1, 1, 1},
      {"ycbv_frames/meshes/003_cracker_box.obj", 1, 3, 0},
      {"ycbv_frames/meshes/005_tomato_soup_can.obj", 1, 1, 1},
      {"ycbv_frames/meshes/009_gelatin_box.obj", 1, 3, 0},
      {"ycbv_frames/meshes/011_banana.obj", 1, 0, 0},
      {"ycbv_frames/meshes/035_power_drill.obj", 1, 0, 0},
      {"library_meshes/rocker-arm.obj", 1, 0, 0},
  };
  if (!testing::shared_data(objects[0].file)) GTEST_SKIP() << "no captured data";
  for (const CapturedObject& object : objects) {
    SCOPED_TRACE(object.file);
    const auto path = testing::shared_data(object.file);
    if (!path) continue;
    const MendedMesh mended =
        mend_mesh(Context::cpu(), read_geometry(*path, {.unit_m = object.unit_m}));
    const Symmetries found = find_symmetries(Context::cpu(), mended.mesh).shape;
    EXPECT_EQ(found.discrete.size(), object.discrete);
    EXPECT_EQ(found.continuous.size(), object.continuous);
  }
}

TEST(FindSymmetries, IsTheSameForAnyNumberOfThreads) {
  const Solid solid = testing::divided(testing::box(0.1, 0.1, 0.1), 2);
  const Symmetries one = find_symmetries(Context::cpu(1), solid.mesh()).shape;
  const Symmetries seven = find_symmetries(Context::cpu(7), solid.mesh()).shape;
  ASSERT_EQ(one.discrete.size(), seven.discrete.size());
  for (std::size_t i = 0; i < one.discrete.size(); ++i) {
    EXPECT_EQ(one.discrete[i].translation, seven.discrete[i].translation);
    for (int r = 0; r < 3; ++r) {
      EXPECT_EQ(one.discrete[i].rotation.row[r], seven.discrete[i].rotation.row[r]);
    }
  }
}

TEST(FindSymmetries, OfTooLittleAreNone) {
  EXPECT_TRUE(find_symmetries(Context::cpu(), {}).shape.none());
  EXPECT_TRUE(find_symmetries(Context::cpu(), testing::mesh_of({{1, 2, 3}}, {})).shape.none());
  EXPECT_TRUE(
      find_symmetries(Context::cpu(), testing::mesh_of({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {}))
          .shape.none());
  EXPECT_THROW(find_symmetries(Context::cpu(), {}, {.tolerance = 0}), Error);
  const Progress stop = [](std::int64_t, std::int64_t) { return false; };
  EXPECT_THROW(find_symmetries(Context::cpu(), testing::box(1, 2, 3).mesh(), {}, stop), Cancelled);
}

}  // namespace
}  // namespace sextant
