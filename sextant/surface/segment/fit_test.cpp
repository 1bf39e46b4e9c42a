// SPDX-License-Identifier: Apache-2.0
// Planes, spheres and cylinders through points whose truth is known.
#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "sextant/surface/segment/region_math.h"
#include "tests/devices.h"

namespace sextant {

using namespace detail::segment;
namespace {

struct Patch {
  std::vector<Vec3d> points, normals;
};

RegionFit fit(const Patch& patch, double tolerance_m = 1e-3, int steps = 3) {
  const Vec3d origin = patch.points[0];
  RegionMoments moments;
  for (std::size_t i = 0; i < patch.points.size(); ++i) {
    moments.points += 1;
    add_to_moments(moments, patch.points[i] - origin, patch.normals[i]);
  }
  RegionFit result = fit_from_moments(moments, origin, tolerance_m, true);
  for (int step = 0; step < steps; ++step) {
    RegionResiduals residuals;
    for (const Vec3d& p : patch.points) add_to_residuals(residuals, result.curved, p - origin);
    improve(result, residuals);
  }
  return result;
}

/// Part of a surface with parameters a, b in [0, 1], every point moved along its normal.
template <class Surface>
Patch sample(const Surface& surface, double noise_m, std::uint64_t seed) {
  Patch patch;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Random random{seed, i};
    const auto [point, normal] = surface(double{random.uniform(0)}, double{random.uniform(1)});
    patch.points.push_back(point + normal * (noise_m * random.normal(2)));
    patch.normals.push_back(normal);
  }
  return patch;
}

constexpr Vec3d kCentre{0.3, -0.2, 1.4};

/// A cap of 60° half angle about the direction to the camera.
std::pair<Vec3d, Vec3d> on_sphere(double a, double b) {
  const double z = -1 + 0.5 * a;
  const double flat = std::sqrt(1 - z * z);
  const Vec3d n{flat * std::cos(6.2831853 * b), flat * std::sin(6.2831853 * b), z};
  return {kCentre + n * 0.05, n};
}

const Vec3d kAxis = normalized(Vec3d{0.4, 0.8, -0.3});

std::pair<Vec3d, Vec3d> on_cylinder(double a, double b) {
  const Vec3d across = detail::any_perpendicular(kAxis);
  const Vec3d beside = cross(kAxis, across);
  const double angle = 2.4 * (a - 0.5);
  const Vec3d n = across * std::cos(angle) + beside * std::sin(angle);
  return {kCentre + n * 0.04 + kAxis * (0.15 * (b - 0.5)), n};
}

const Vec3d kPlaneNormal = normalized(Vec3d{0.2, -0.6, -0.7});

std::pair<Vec3d, Vec3d> on_plane(double a, double b) {
  const Vec3d across = detail::any_perpendicular(kPlaneNormal);
  const Vec3d at = kCentre + across * (0.2 * a) + cross(kPlaneNormal, across) * (0.1 * b);
  return {at, kPlaneNormal};
}

TEST(SegmentFit, ThirdMomentsAreThoseAboutTheMean) {
  const Patch patch = sample(on_sphere, 0, testing::seed_of_test());
  RegionMoments moments;
  Vec3d mean;
  const double n = static_cast<double>(patch.points.size());
  for (const Vec3d& p : patch.points) {
    add_to_moments(moments, p, {0, 0, 1});
    mean += p / n;
  }
  const CentralCubes cubes = central_cubes(moments);
  double truth[3][3][3] = {};
  for (const Vec3d& p : patch.points) {
    const Vec3d d = p - mean;
    const double c[3] = {d.x, d.y, d.z};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        for (int k = 0; k < 3; ++k) truth[i][j][k] += c[i] * c[j] * c[k] / n;
      }
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(cubes.at(i, j, k), truth[i][j][k], 1e-12);
    }
  }
}

TEST(SegmentFit, ExactShapes) {
  const std::uint64_t seed = testing::seed_of_test();
  const SurfaceRegion sphere = finished_region(fit(sample(on_sphere, 0, seed)), 7);
  EXPECT_EQ(sphere.kind, SurfaceKind::kSphere);
  EXPECT_EQ(sphere.first_index, 7);
  EXPECT_NEAR(sphere.radius_m, 0.05, 1e-7);
  EXPECT_LT(norm(cast<double>(sphere.model_centre_m) - kCentre), 1e-6);
  const SurfaceRegion cylinder = finished_region(fit(sample(on_cylinder, 0, seed)), 0);
  EXPECT_EQ(cylinder.kind, SurfaceKind::kCylinder);
  EXPECT_NEAR(cylinder.radius_m, 0.04, 1e-7);
  EXPECT_LT(norm(cross(cast<double>(cylinder.axis), kAxis)), 1e-6);
  EXPECT_GT(cylinder.axis.y, 0);  // its largest component
  const Vec3d off = cast<double>(cylinder.model_centre_m) - kCentre;
  EXPECT_LT(norm(off - kAxis * dot(off, kAxis)), 1e-6);
  const SurfaceRegion plane = finished_region(fit(sample(on_plane, 0, seed)), 0);
  EXPECT_EQ(plane.kind, SurfaceKind::kPlane);
  EXPECT_LT(norm(cast<double>(plane.normal) - kPlaneNormal), 1e-6);
  EXPECT_NEAR(plane.offset_m, dot(kPlaneNormal, kCentre), 1e-6);
}

// The deviation of a least-squares radius is the noise over √n times what the patch's shape makes
// of it; the bounds leave ten times that for caps of 60° and arcs of 137° (3 and 2).
TEST(SegmentFit, NoisyShapes) {
  const std::uint64_t seed = testing::seed_of_test();
  const double noise_m = 5e-4;
  const double deviation_m = noise_m / std::sqrt(2000.0);
  const SurfaceRegion sphere = finished_region(fit(sample(on_sphere, noise_m, seed)), 0);
  EXPECT_EQ(sphere.kind, SurfaceKind::kSphere);
  EXPECT_NEAR(sphere.radius_m, 0.05, 30 * deviation_m);
  EXPECT_NEAR(sphere.rms_m, noise_m, 0.1 * noise_m);
  const SurfaceRegion cylinder = finished_region(fit(sample(on_cylinder, noise_m, seed)), 0);
  EXPECT_EQ(cylinder.kind, SurfaceKind::kCylinder);
  EXPECT_NEAR(cylinder.radius_m, 0.04, 20 * deviation_m);
  EXPECT_NEAR(cylinder.rms_m, noise_m, 0.1 * noise_m);
  const SurfaceRegion plane = finished_region(fit(sample(on_plane, noise_m, seed)), 0);
  EXPECT_EQ(plane.kind, SurfaceKind::kPlane);
  EXPECT_NEAR(plane.rms_m, noise_m, 0.1 * noise_m);
}

TEST(SegmentFit, StepsConvergeFromAWrongStart) {
  const Patch patch = sample(on_cylinder, 0, testing::seed_of_test());
  RegionFit start = fit(patch, 1e-3, 0);
  CylinderModel& m = start.curved.cylinder;
  m.axis = normalized(m.axis + m.across * 0.1);
  m.across = normalized(m.across - m.axis * dot(m.axis, m.across));
  m.beside = cross(m.axis, m.across);
  m.radius_m *= 1.1;
  double rms_m[4];
  for (double& rms : rms_m) {
    RegionResiduals residuals;
    for (const Vec3d& p : patch.points) {
      add_to_residuals(residuals, start.curved, p - start.origin);
    }
    improve(start, residuals);
    rms = start.curved.cylinder.rms_m;
  }
  EXPECT_GT(rms_m[0], 1e-3);
  EXPECT_LT(rms_m[1], 0.2 * rms_m[0]);
  EXPECT_LT(rms_m[3], 1e-7);
}

TEST(SegmentFit, WhatFitsNothingIsFreeForm) {
  // A saddle: no plane, no sphere, no cylinder.
  const auto saddle = [](double a, double b) {
    const double x = 0.2 * (a - 0.5), y = 0.2 * (b - 0.5);
    return std::pair{kCentre + Vec3d{x, y, 5 * (x * x - y * y)},
                     normalized(Vec3d{10 * x, -10 * y, -1})};
  };
  const SurfaceRegion region = finished_region(fit(sample(saddle, 0, testing::seed_of_test())), 0);
  EXPECT_EQ(region.kind, SurfaceKind::kFreeForm);
  EXPECT_TRUE(std::isnan(region.radius_m));
  EXPECT_TRUE(std::isnan(region.offset_m));
}

TEST(SegmentFit, DegeneratePatches) {
  const Vec3d n{0, 0, -1};
  const Patch same{std::vector<Vec3d>(50, kCentre), std::vector<Vec3d>(50, n)};
  const SurfaceRegion point = finished_region(fit(same), 0);
  EXPECT_EQ(point.kind, SurfaceKind::kPlane);
  EXPECT_EQ(point.rms_m, 0);
  Patch line;
  for (int i = 0; i < 50; ++i) {
    line.points.push_back(kCentre + Vec3d{0.01 * i, 0, 0});
    const double turn = 0.1 * i;
    line.normals.push_back({0, std::sin(turn), -std::cos(turn)});
  }
  const SurfaceRegion rod = finished_region(fit(line), 0);
  EXPECT_TRUE(is_finite(rod.centre_m));
  EXPECT_EQ(rod.kind, SurfaceKind::kPlane);
}

TEST(SegmentFit, PlanesAreJoinedOnlyWhenOneLiesOnTheOther) {
  const std::uint64_t seed = testing::seed_of_test();
  const Patch patch = sample(on_plane, 2e-4, seed);
  const RegionFit large = fit(patch);
  const auto moved = [&](const Rigid3d& motion) {
    Patch part;
    for (std::size_t i = 0; i < 500; ++i) {
      part.points.push_back(motion * patch.points[i]);
      part.normals.push_back(motion.rotation * patch.normals[i]);
    }
    return fit(part);
  };
  const double cos_angle = std::cos(0.26);
  const Vec3d across = detail::any_perpendicular(kPlaneNormal);
  EXPECT_TRUE(is_same_plane(large, moved({Mat3d::identity(), across * 0.3}), cos_angle));
  EXPECT_TRUE(is_same_plane(moved({Mat3d::identity(), across * 0.3}), large, cos_angle));
  EXPECT_FALSE(is_same_plane(large, moved({Mat3d::identity(), kPlaneNormal * 0.003}), cos_angle));
  const Rigid3d tilted{exp_rotation(across * 0.1), kCentre - exp_rotation(across * 0.1) * kCentre};
  EXPECT_FALSE(is_same_plane(large, moved(tilted), cos_angle));
}

}  // namespace
}  // namespace sextant
