// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/curvature.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/graph.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/normals.h"
#include "tests/curvature_scene.h"
#include "tests/devices.h"

namespace sextant {
namespace {

using testing::curvature_errors;
using testing::curvature_of;
using testing::CurvatureErrors;
using testing::CylinderSurface;
using testing::degrees;
using testing::each_device;
using testing::HostCurvature;
using testing::look_at;
using testing::metric_curvature;
using testing::OrganisedScene;
using testing::PlaneSurface;
using testing::SceneView;
using testing::SphereSurface;
using testing::with_outliers;

constexpr double kFocal_px = 560;

SceneView square_view(int size, double noise_m = 0) {
  return {.width = size,
          .height = size,
          .focal_px = kFocal_px,
          .noise_m = noise_m,
          .seed = noise_m > 0 ? testing::seed_of_test() : 0};
}

/// Pixels of a centred sphere or cylinder whose patch of `reach_px` stays on it: the middle no
/// farther than this share of the radius from the axis, and the patch in the image.
struct Inside {
  const OrganisedScene& scene;
  double radius_px;
  bool operator()(int u, int v) const {
    return std::hypot(u - (scene.width - 1) / 2.0, v - (scene.height - 1) / 2.0) < radius_px;
  }
};

TEST(Curvature, PlanesAreFlat) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const Vec3d& tilt : {Vec3d{0, 0, -1}, Vec3d{1, 0, -1}, Vec3d{-0.3, 2, -1}}) {
      const OrganisedScene scene = look_at(PlaneSurface{1.0, tilt}, square_view(61));
      const HostCurvature of = curvature_of(context, scene, pixel_curvature());
      const CurvatureErrors errors =
          curvature_errors(scene, of, 0, 0, [](int, int) { return true; });
      EXPECT_EQ(errors.missing, 0);  // up to the corners, where a quarter of the patch is left
      // Coordinates are rounded by 3e-8 m: over a quarter of a patch of 32 mm and 129 samples that
      // makes less than 1e-3 /m, 1e-6 /mm.
      EXPECT_LT(errors.largest, 1e-3);
      EXPECT_LT(errors.largest_normal_deg, 0.003);
      EXPECT_LT(errors.largest_offset_m, 3e-7);
    }
  }
}

TEST(Curvature, PlanesAreFoundFromTheLineOfSight) {
  // 50° oblique, and no normal to start from.
  const OrganisedScene scene = look_at(PlaneSurface{1.0, {1.2, 0, -1}}, square_view(50));
  const std::vector<Vec3f> no_normals(scene.points.size(), Vec3f{NAN, NAN, NAN});
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const HostCurvature of = curvature_of(context, scene, pixel_curvature(), &no_normals);
    const CurvatureErrors errors = curvature_errors(scene, of, 0, 0, [](int, int) { return true; });
    EXPECT_EQ(errors.missing, 0);
    EXPECT_LT(errors.largest, 1e-3);
  }
}

TEST(Curvature, SpheresAndCylindersOfEveryRadiusAreExact) {
  // The patch has a radius of 32 mm: with the paper's paraboloid the smallest would be 25 % wrong.
  CurvatureOptions options = pixel_curvature();
  options.average_cells = false;
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (const double radius_m : {0.04, 0.05, 0.07, 0.1}) {
      const double k = 1 / radius_m;
      const SceneView view = square_view(100);
      const OrganisedScene sphere = look_at(SphereSurface{{0, 0, 1}, radius_m}, view);
      const Inside on_sphere{sphere, 10};
      const CurvatureErrors errors =
          curvature_errors(sphere, curvature_of(context, sphere, options), k, k, on_sphere);
      EXPECT_EQ(errors.missing, 0);
      EXPECT_LT(errors.largest / k, 1e-3) << radius_m;
      EXPECT_LT(errors.largest_normal_deg, 0.01);
      const OrganisedScene cylinder = look_at(CylinderSurface{{0, 0, 1}, radius_m}, view);
      const Inside on_cylinder{cylinder, 10};
      const CurvatureErrors along =
          curvature_errors(cylinder, curvature_of(context, cylinder, options), k, 0, on_cylinder);
      EXPECT_EQ(along.missing, 0);
      EXPECT_LT(along.largest / k, 1e-3) << radius_m;
    }
  }
}

TEST(Curvature, MeansOfCellsMoveSurfacesByLittle) {
  // The mean of a cell of half-width c lies 2/3 c² k / 2 below a surface of curvature k each way:
  // c is 1.9 mm at 1 m, more along a slope. That is 0.02 mm of 100.
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const OrganisedScene sphere = look_at(SphereSurface{}, square_view(120));
    const CurvatureErrors errors = curvature_errors(
        sphere, curvature_of(context, sphere, pixel_curvature()), 10, 10, Inside{sphere, 25});
    EXPECT_EQ(errors.missing, 0);
    EXPECT_LT(errors.largest, 0.02);
    EXPECT_LT(errors.largest_offset_m, 6e-5);
  }
}

TEST(Curvature, ThePapersParaboloidIsTooCurved) {
  // (h / R)² = 0.1: the specification measured +3.5 % with this patch.
  const OrganisedScene sphere = look_at(SphereSurface{}, square_view(120));
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const CurvatureErrors errors = curvature_errors(
        sphere, curvature_of(context, sphere, paper_curvature()), 10, 10, Inside{sphere, 15});
    EXPECT_GT(errors.mean_k1, 10.15);
    EXPECT_LT(errors.mean_k1, 10.5);
  }
}

TEST(Curvature, OfATorus) {
  // k1 = 1/30 mm across the tube, k2 = cos φ / (100 + 30 cos φ) along it, of either sign.
  const auto torus = testing::torus_scene(0.1, 0.03, 0.7, 280, kFocal_px);
  CurvatureOptions options = metric_curvature(0.012f);
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const HostCurvature of = curvature_of(context, torus.scene, options);
    double worst_k1 = 0;
    double worst_k2 = 0;
    int pixels = 0;
    for (std::size_t i = 0; i < of.valid.size(); ++i) {
      const Vec3d normal = torus.scene.normals[i];
      // Away from silhouettes, where the patch would lie half behind.
      if (!is_finite(normal) || normal.z > -0.85) continue;
      ASSERT_EQ(of.valid[i], 1);
      worst_k1 = std::max(worst_k1, std::abs(of.k1[i] - torus.k1[i]));
      worst_k2 = std::max(worst_k2, std::abs(of.k2[i] - torus.k2[i]));
      ++pixels;
    }
    EXPECT_GT(pixels, 5000);
    EXPECT_LT(worst_k1, 0.03 / 0.03);  // 3 % of 33 /m
    EXPECT_LT(worst_k2, 0.6);
  }
}

TEST(Curvature, DirectionsFollowACylindersAxis) {
  // Its axis in the image, turned by 0 to 45°: k1 stays within 2 %, its direction lies across.
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (const double turn_deg : {0.0, 15.0, 30.0, 45.0}) {
      const double turn = turn_deg * std::numbers::pi / 180;
      const Vec3d axis{std::sin(turn), std::cos(turn), 0};
      const OrganisedScene scene = testing::turned_cylinder(axis, 0.09, square_view(90));
      const HostCurvature of = curvature_of(context, scene, pixel_curvature());
      const Inside inside{scene, 12};
      const CurvatureErrors errors = curvature_errors(scene, of, 1 / 0.09, 0, inside);
      EXPECT_EQ(errors.missing, 0);
      EXPECT_LT(errors.largest, 0.02 / 0.09);
      for (int v = 36; v < 54; ++v) {
        for (int u = 36; u < 54; ++u) {
          const auto i = static_cast<std::size_t>(v * scene.width + u);
          const Vec3d d = cast<double>(of.direction1[i]);
          EXPECT_NEAR(norm(d), 1.0, 1e-5);
          EXPECT_NEAR(dot(d, cast<double>(of.normals[i])), 0.0, 1e-4);
          EXPECT_LT(std::abs(dot(d, axis)), 0.01) << turn_deg;
        }
      }
    }
  }
}

TEST(Curvature, ObliqueViewsAgreeWithinTwoPercent) {
  // On a sphere the line of sight meets the surface at 0 to 45°, with a patch in metres.
  const OrganisedScene sphere = look_at(SphereSurface{}, square_view(140));
  CurvatureOptions options = metric_curvature(0.025f);
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const HostCurvature of = curvature_of(context, sphere, options);
    int pixels = 0;
    for (std::size_t i = 0; i < of.valid.size(); ++i) {
      const Vec3d normal = sphere.normals[i];
      if (!is_finite(normal)) continue;
      const double angle = degrees(testing::angle_rad(-normal, cast<double>(sphere.points[i])));
      if (angle > 45) continue;
      ++pixels;
      ASSERT_EQ(of.valid[i], 1);
      ASSERT_NEAR(of.k1[i], 10.0, 0.2) << angle;
      ASSERT_NEAR(of.k2[i], 10.0, 0.2) << angle;
    }
    EXPECT_GT(pixels, 3000);
  }
}

TEST(Curvature, PatchesInMetresAreTheSameAtEveryDistance) {
  // Noise of a fixed size: the error follows the number of samples, not the distance, as long as
  // there are as many; in pixels it would change with the square of the distance.
  CurvatureOptions options = metric_curvature(0.03f);
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (const double distance_m : {0.5, 1.0, 2.0}) {
      const OrganisedScene sphere =
          look_at(SphereSurface{{0, 0, distance_m + 0.1}, 0.1}, square_view(120));
      const CurvatureErrors errors = curvature_errors(
          sphere, curvature_of(context, sphere, options), 10, 10, Inside{sphere, 10});
      EXPECT_EQ(errors.missing, 0);
      EXPECT_LT(errors.largest, 0.1) << distance_m;
    }
  }
}

TEST(Curvature, BeatsCalibratedNormalVariationUnderNoise) {
  // PCL's variation of normals of 20 mm over 20 mm sees points up to 40 mm away; calibrated, its
  // RMS errors of k1 and k2 at 0, 0.5, 1, 2, 3 mm are these, in 1/m.
  constexpr double kNoise_m[] = {0, 0.0005, 0.001, 0.002, 0.003};
  constexpr double kPeer1[] = {0.09, 0.12, 0.20, 0.40, 0.62};
  constexpr double kPeer2[] = {0.25, 0.28, 0.37, 0.59, 0.83};
  CurvatureOptions options = metric_curvature(0.04f);
  options.radius_samples = 8;
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (int i = 0; i < 5; ++i) {
      const OrganisedScene sphere = look_at(SphereSurface{}, square_view(120, kNoise_m[i]));
      const CurvatureErrors errors = curvature_errors(
          sphere, curvature_of(context, sphere, options), 10, 10, Inside{sphere, 25});
      EXPECT_EQ(errors.missing, 0);
      EXPECT_LT(errors.rms_k1, kPeer1[i]) << kNoise_m[i];
      EXPECT_LT(errors.rms_k2, kPeer2[i]) << kNoise_m[i];
    }
  }
}

TEST(Curvature, OwnWeightsBeatThePapersUnderNoise) {
  // The same samples, single pixels, so that only the weights and the model differ.
  CurvatureOptions ours = pixel_curvature();
  ours.average_cells = false;
  CurvatureOptions paper = paper_curvature();
  paper.iterations = ours.iterations;
  const Context context = Context::cpu(2);
  for (const double noise_m : {0.0, 0.0005, 0.001, 0.002, 0.003}) {
    const OrganisedScene sphere = look_at(SphereSurface{}, square_view(110, noise_m));
    const Inside inside{sphere, 20};
    const CurvatureErrors own =
        curvature_errors(sphere, curvature_of(context, sphere, ours), 10, 10, inside);
    const CurvatureErrors papers =
        curvature_errors(sphere, curvature_of(context, sphere, paper), 10, 10, inside);
    EXPECT_LT(own.rms_k1 + own.rms_k2, papers.rms_k1 + papers.rms_k2) << noise_m;
    EXPECT_LT(own.mean_normal_deg, papers.mean_normal_deg + 1e-3) << noise_m;
  }
}

TEST(Curvature, NormalsAreBetterThanPlanesOfTheSamePatch) {
  const Context context = Context::cpu(2);
  for (const double noise_m : {0.0005, 0.003}) {
    const OrganisedScene sphere = look_at(SphereSurface{}, square_view(110, noise_m));
    const Inside inside{sphere, 20};
    const CurvatureErrors ours =
        curvature_errors(sphere, curvature_of(context, sphere, pixel_curvature()), 10, 10, inside);
    HostCurvature planes;
    planes.normals = to_host(
        context, estimate_cloud_normals(context, view_of(sphere.points), {.radius_m = 0.032f}));
    planes.fill_rest(sphere.points);
    const CurvatureErrors pca = curvature_errors(sphere, planes, 10, 10, inside);
    EXPECT_LT(ours.mean_normal_deg, pca.mean_normal_deg) << noise_m;
  }
}

TEST(Curvature, StaysRightWithOutliers) {
  // 60 mm before or behind, always or at most. Of the wild pixels themselves, too, the surface is
  // found; the odd one whose neighbours are as wild is not valid, or (one of a thousand, with a
  // quarter of the pixels anywhere within 60 mm) wrong.
  CurvatureOptions paper = paper_curvature();
  paper.iterations = 5;
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    for (const bool always : {true, false}) {
      for (const double share : {0.1, 0.25}) {
        const OrganisedScene sphere =
            with_outliers(look_at(SphereSurface{}, square_view(120, 0.001)), share, always,
                          testing::seed_of_test());
        const Inside inside{sphere, 25};
        const CurvatureErrors errors = curvature_errors(
            sphere, curvature_of(context, sphere, pixel_curvature()), 10, 10, inside);
        EXPECT_LT(errors.nearly_all, 2.0) << share;
        if (always || share < 0.2) {
          EXPECT_LT(errors.rms_k1, 0.4) << share;
          EXPECT_LT(errors.rms_k2, 0.4) << share;
        }
        EXPECT_LT(errors.missing, 0.01 * errors.pixels);
        const CurvatureErrors papers =
            curvature_errors(sphere, curvature_of(context, sphere, paper), 10, 10, inside);
        EXPECT_GT(papers.nearly_all, 10.0) << share;
      }
    }
  }
}

TEST(Curvature, ReachesDepthEdges) {
  // A cylinder cut off across its axis, a wall behind. Next to the edge half of the patch is wall.
  const auto surface = [](const Vec3d& ray) {
    const auto hit = CylinderSurface{{0, 0, 1}, 0.08}(ray);
    return ray.y < 0.0 && hit ? hit : PlaneSurface{1.02, {0, 0, -1}}(ray);
  };
  const OrganisedScene scene = look_at(surface, square_view(110, 0.0005));
  const auto band = [](int u, int v) { return v >= 50 && v < 55 && u > 45 && u < 65; };
  CurvatureOptions uncut = pixel_curvature();
  uncut.cut_at_edges = false;
  CurvatureOptions paper = paper_curvature();
  paper.iterations = 5;
  for (const Context& context : each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const CurvatureErrors cut =
        curvature_errors(scene, curvature_of(context, scene, pixel_curvature()), 1 / 0.08, 0, band);
    EXPECT_EQ(cut.missing, 0);
    EXPECT_LT(cut.rms_k1, 0.5);
    EXPECT_LT(cut.rms_k2, 1.0);  // along the axis half a patch remains
    const CurvatureErrors plain =
        curvature_errors(scene, curvature_of(context, scene, paper), 1 / 0.08, 0, band);
    EXPECT_GT(plain.rms_k1 + plain.rms_k2, 3 * (cut.rms_k1 + cut.rms_k2));
    const CurvatureErrors robust =
        curvature_errors(scene, curvature_of(context, scene, uncut), 1 / 0.08, 0, band);
    EXPECT_LE(cut.rms_k1 + cut.rms_k2, robust.rms_k1 + robust.rms_k2 + 0.05);
  }
}

TEST(Curvature, ConcaveIsNegative) {
  // The inside of a sphere of 0.2 m, seen from near its centre.
  const auto surface = [](const Vec3d& ray) -> std::optional<testing::Hit> {
    const Vec3d unit = normalized(ray);
    return testing::Hit{0.2 * unit.z, -unit};
  };
  const OrganisedScene scene = look_at(surface, square_view(80));
  for (const Context& context : each_device()) {
    const CurvatureErrors errors =
        curvature_errors(scene, curvature_of(context, scene, pixel_curvature()), -5, -5,
                         [](int, int) { return true; });
    EXPECT_EQ(errors.missing, 0);
    EXPECT_LT(errors.largest, 0.05);
  }
}

TEST(Curvature, ScalesInversely) {
  // A scene half as large has twice the curvature, to the bit when lengths are options too.
  OrganisedScene scene = look_at(SphereSurface{}, square_view(70, 0.001));
  const Context context = Context::cpu(2);
  const HostCurvature large = curvature_of(context, scene, pixel_curvature());
  const std::vector<Vec3f> normals =
      to_host(context, estimate_normals(context, scene.on(context), {}).pixels());
  for (Vec3f& p : scene.points) p = p * 0.5f;
  CurvatureOptions options = pixel_curvature();
  options.weight_scale_m *= 0.5f;
  options.depth_gate_m *= 0.5f;
  const HostCurvature small = curvature_of(context, scene, options, &normals);
  for (std::size_t i = 0; i < small.k1.size(); ++i) {
    ASSERT_EQ(large.valid[i], small.valid[i]);
    if (small.valid[i] == 0) continue;
    ASSERT_EQ(small.k1[i], large.k1[i] * 2);
    ASSERT_EQ(small.k2[i], large.k2[i] * 2);
  }
}

TEST(Curvature, ClampsAndCounts) {
  const OrganisedScene sphere = look_at(SphereSurface{}, square_view(60));
  CurvatureOptions options = pixel_curvature();
  options.clamp_per_m = 4.0f;
  for (const Context& context : each_device()) {
    const HostCurvature of = curvature_of(context, sphere, options);
    for (const float k : of.k1) EXPECT_FLOAT_EQ(k, 4.0f);
  }
  CurvatureOptions many = pixel_curvature();
  many.least_samples = 130;  // more than a patch has
  for (const Context& context : each_device()) {
    const HostCurvature of = curvature_of(context, sphere, many);
    for (const std::uint8_t valid : of.valid) EXPECT_EQ(valid, 0);
    for (const float k : of.k1) EXPECT_TRUE(std::isnan(k));
  }
}

}  // namespace
}  // namespace sextant
