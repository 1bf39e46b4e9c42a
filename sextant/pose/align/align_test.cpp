// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/align.h"

#include <gtest/gtest.h>

#include "sextant/core/random.h"
#include "sextant/depth/surface_from_depth.h"
#include "sextant/geometry/transform.h"
#include "sextant/pose/descriptor_alignment.h"
#include "sextant/render/rasterize.h"
#include "sextant/surface/surface_operations.h"
#include "sextant/synth/catalogue.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

/// Points drawn evenly from the triangles of a mesh, with the triangles' normals.
Surface sampled(const TriangleMesh& mesh, int count, std::uint64_t item) {
  const auto points = mesh.vertices.points.host();
  std::vector<double> area{0};
  for (const Vec3i& t : mesh.triangles.host()) {
    const Vec3f a = points[static_cast<std::size_t>(t.x)];
    const Vec3f n =
        cross(points[static_cast<std::size_t>(t.y)] - a, points[static_cast<std::size_t>(t.z)] - a);
    area.push_back(area.back() + static_cast<double>(norm(n)));
  }
  const Random random{testing::seed_of_test(), item};
  std::vector<Vec3f> drawn, normals;
  for (int i = 0; i < count; ++i) {
    const auto draw = static_cast<std::uint64_t>(3 * i);
    const double at = area.back() * static_cast<double>(random.uniform(draw));
    const auto triangle =
        static_cast<std::size_t>(std::upper_bound(area.begin(), area.end(), at) - area.begin() - 1);
    const Vec3i t = mesh.triangles.host()[std::min(triangle, area.size() - 2)];
    const Vec3f a = points[static_cast<std::size_t>(t.x)];
    const Vec3f b = points[static_cast<std::size_t>(t.y)] - a;
    const Vec3f c = points[static_cast<std::size_t>(t.z)] - a;
    float u = random.uniform(draw + 1), v = random.uniform(draw + 2);
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    drawn.push_back(a + b * u + c * v);
    normals.push_back(normalized(cross(b, c)));
  }
  Surface surface;
  surface.points = copy(Context::cpu(), drawn);
  surface.normals = copy(Context::cpu(), normals);
  return surface;
}

Surface moved(const Surface& surface, const Rigid3d& motion) {
  const Context host = Context::cpu();
  Surface result;
  result.points = transform_points(host, motion, surface.points);
  result.normals = turn_directions(host, motion.rotation, surface.normals);
  return result;
}

double angle_between(const Rigid3d& a, const Rigid3d& b) {
  return rotation_angle(transpose(a.rotation) * b.rotation);
}

const Rigid3d kTruth{exp_rotation(Vec3d{0.10, -0.06, 0.12}), {0.012, -0.008, 0.006}};

TEST(Align, FindsAMotionOnEveryDevice) {
  const TriangleMesh mesh = make_object("speaker");
  const Surface target = sampled(mesh, 20000, 1);
  const Surface source = moved(sampled(mesh, 20000, 2), inverse(kTruth));
  Alignment first;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Alignment found = align(context, copy(context, source), copy(context, target));
    EXPECT_EQ(found.stop, AlignStop::kConverged);
    EXPECT_EQ(found.degenerate, 0);
    EXPECT_GT(found.inlier_share, 0.9);
    // Partners on the same plane have no residual. Those across an edge are off by up to a spacing
    // (2 mm) and are a tenth of all; their weighted mean over 20 000 points is far below 0.1 mm.
    EXPECT_LT(norm(found.target_from_source.translation - kTruth.translation), 2e-4);
    EXPECT_LT(angle_between(found.target_from_source, kTruth), 2e-3);
    if (first.pairs == 0) first = found;
    if (context.is_cpu()) {
      EXPECT_EQ(found.target_from_source.translation, first.target_from_source.translation);
      EXPECT_EQ(found.pairs, first.pairs);
      EXPECT_EQ(found.covariance.at(3, 3), first.covariance.at(3, 3));
    }
    // A thousandth of the spacing, as the header says.
    EXPECT_LT(norm(found.target_from_source.translation - first.target_from_source.translation),
              2e-6);
    EXPECT_LT(angle_between(found.target_from_source, first.target_from_source), 2e-5);
  }
}

TEST(Align, CarriesAMotionOfBothSurfaces) {
  const TriangleMesh mesh = make_object("tortoise");
  const Surface target = sampled(mesh, 6000, 1);
  const Surface source = moved(sampled(mesh, 6000, 2), inverse(kTruth));
  const Rigid3d turn{exp_rotation(Vec3d{1, 2, -0.5}), {3, -2, 1}};
  const Context context = Context::cpu();
  const Alignment one = align(context, source, target);
  const Alignment two =
      align(context, moved(source, turn), moved(target, turn), turn * Rigid3d{} * inverse(turn));
  const Rigid3d back = inverse(turn) * two.target_from_source * turn;
  // Voxels of coarse levels lie differently; both end within a tenth of a spacing of each other.
  EXPECT_LT(norm(back.translation - one.target_from_source.translation), 2e-4);
  EXPECT_LT(angle_between(back, one.target_from_source), 2e-3);
}

TEST(Align, APlaneSlidesAndSaysSo) {
  Surface plane;
  std::vector<Vec3f> points;
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 60; ++j) {
      points.push_back({0.002f * static_cast<float>(i), 0.002f * static_cast<float>(j), 0});
    }
  }
  plane.points = copy(Context::cpu(), points);
  plane.normals = copy(Context::cpu(), std::vector<Vec3f>(points.size(), Vec3f{0, 0, 1}));
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Rigid3d guess{Mat3d::identity(), {0.003, 0.001, 0.004}};
    const Alignment found = align(context, copy(context, plane), copy(context, plane), guess);
    EXPECT_EQ(found.degenerate, 3);
    EXPECT_NEAR(found.target_from_source.translation.z, 0, 1e-6);
    EXPECT_NEAR(found.target_from_source.translation.x, 0.003, 1e-6);  // as it was given
    EXPECT_NEAR(found.target_from_source.translation.y, 0.001, 1e-6);
    EXPECT_GT(found.covariance.at(3, 3), 1e-5);  // it knows that it does not know
  }
}

TEST(Align, ABallTurnsAndSaysSo) {
  Surface ball;
  std::vector<Vec3f> normals;
  for (int i = 0; i < 8000; ++i) {  // Fibonacci's lattice
    const double z = 1 - (2.0 * i + 1) / 8000, turn = i * 2.399963229728653;
    const double r = std::sqrt(1 - z * z);
    normals.push_back(cast<float>(Vec3d{r * std::cos(turn), r * std::sin(turn), z}));
  }
  std::vector<Vec3f> points;
  for (const Vec3f& n : normals) points.push_back(n * 0.05f);
  ball.points = copy(Context::cpu(), points);
  ball.normals = copy(Context::cpu(), normals);
  const Alignment found = align(Context::cpu(), ball, ball, {Mat3d::identity(), {0.003, 0, 0.002}});
  EXPECT_EQ(found.degenerate, 3);
  EXPECT_LT(norm(found.target_from_source.translation), 1e-4);
}

/// Depth of an object on the host, at 0.7 m, from a direction about the vertical.
Surface depth_view(const TriangleMesh& mesh, const Camera& camera, double angle,
                   Rigid3d& camera_from_object) {
  const Rigid3d upright{Mat3d{{{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}}, {0, 0.05, 0.7}};
  camera_from_object = upright * Rigid3d{exp_rotation(Vec3d{0, 0, angle}), {}};
  const Context host = Context::cpu();
  const Instance instance{0, 0, 0, cast<float>(camera_from_object)};
  const Rendering picture = render(host, RenderScene(host, mesh), camera, std::span(&instance, 1));
  Surface surface = surface_from_depth(host, picture.depth_m_of(0), camera);
  estimate_normals(host, surface);
  return surface;
}

TEST(Align, ProjectedPartnersOfDepthMaps) {
  const TriangleMesh mesh = make_object("tasmanian_devil");
  const Camera camera{320, 240, 300, 300, 159.5, 119.5, {}};
  Rigid3d pose_a, pose_b;
  const Surface a = depth_view(mesh, camera, 0.0, pose_a);
  const Surface b = depth_view(mesh, camera, 0.15, pose_b);
  const Rigid3d truth = pose_a * inverse(pose_b);
  const Rigid3d guess =
      motion_about({{0.03, -0.02, 0.03}, {0.004, -0.003, 0.004}}, {0, 0, 0.7}) * truth;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (AlignAssociation association :
         {AlignAssociation::kProjected, AlignAssociation::kNearest}) {
      const Alignment found = align(context, copy(context, b), copy(context, a), guess,
                                    {.association = association, .max_distance_m = 0.02f});
      EXPECT_EQ(found.stop, AlignStop::kConverged);
      // Pixels are 2.3 mm apart on the object; windows of normals round its creases off. A fifth of
      // a pixel is what is left.
      const Vec3d middle{0, 0, 0.7};
      EXPECT_LT(norm(found.target_from_source * middle - truth * middle), 5e-4);
      EXPECT_LT(angle_between(found.target_from_source, truth), 1e-2);
    }
  }
}

TEST(Align, CovarianceIsWhatNoiseDoes) {
  const TriangleMesh mesh = make_object("speaker");
  const Surface target = sampled(mesh, 8000, 1);
  constexpr int kTrials = 60;
  constexpr double kNoise = 5e-4;
  double squares = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Surface source = sampled(mesh, 1500, static_cast<std::uint64_t>(10 + trial));
    const Random random{testing::seed_of_test(), static_cast<std::uint64_t>(1000 + trial)};
    for (std::int64_t i = 0; i < source.size(); ++i) {
      source.points.data()[i] +=
          source.normals.data()[i] *
          static_cast<float>(kNoise * random.normal(static_cast<std::uint64_t>(i)));
    }
    const Alignment found =
        align(Context::cpu(), source, target, {},
              {.levels = 1, .max_distance_m = 0.008f, .fine_distance_m = 0.008f});
    EXPECT_NEAR(found.rms_m, kNoise, 0.25 * kNoise);
    const Rigid3d& pose = found.target_from_source;
    const Rigid3d about{pose.rotation,
                        pose.translation + pose.rotation * found.centre_m - found.centre_m};
    const Twist3<double> error = log(about);
    double e[6] = {error.omega_rad.x, error.omega_rad.y, error.omega_rad.z,
                   error.v_m.x,       error.v_m.y,       error.v_m.z};
    double solved[6];
    std::copy(e, e + 6, solved);
    const Cholesky<double, 6> factor = cholesky(found.covariance);
    ASSERT_TRUE(factor.ok);
    factor.solve(solved);
    for (int i = 0; i < 6; ++i) squares += e[i] * solved[i];
  }
  // The normalised squared error has mean 6; of 60 trials √(12 / 60) = 0.45 deviation. Points near
  // edges and the loss of weight to outliers add up to a third.
  EXPECT_GT(squares / kTrials, 3.5);
  EXPECT_LT(squares / kTrials, 9.5);
}

TEST(Align, BadInputIsAResultOrAnError) {
  const Context context = Context::cpu();
  const Surface empty;
  EXPECT_EQ(align(context, empty, empty).stop, AlignStop::kTooFew);
  const TriangleMesh mesh = make_object("cube");
  const Surface cube = sampled(mesh, 500, 1);
  Surface holes = sampled(mesh, 500, 1);
  for (Vec3f& p : holes.points.host()) p = {NAN, 0, 0};
  EXPECT_EQ(align(context, holes, cube).stop, AlignStop::kTooFew);
  Surface bare;
  bare.points = copy(context, cube.points);
  EXPECT_NE(testing::error_message([&] { align(context, cube, bare); }).find("normals"),
            std::string::npos);
  EXPECT_EQ(align(context, bare, cube).degenerate, 0);  // the source needs none
  const Alignment far = align(context, cube, cube, {Mat3d::identity(), {5, 0, 0}});
  EXPECT_EQ(far.stop, AlignStop::kTooFew);
  EXPECT_EQ(far.inlier_share, 0);
  EXPECT_GT(far.covariance.at(0, 0), 0);
  EXPECT_THROW(align(context, cube, cube, {Mat3d::identity() * 2.0, {}}), Error);
  EXPECT_THROW(align(context, cube, cube, {}, {.association = AlignAssociation::kProjected}),
               Error);
  EXPECT_THROW(align(context, cube, cube, {}, {.levels = 0}), Error);
}

TEST(DescriptorAlignment, FindsAnyMotionAndIsTheSameForAnyThreads) {
  const TriangleMesh mesh = make_object("tasmanian_devil");
  const Rigid3d truth{exp_rotation(Vec3d{1.5, 0.7, -1.2}), {0.4, -0.3, 0.2}};
  const Surface target = sampled(mesh, 15000, 1);
  const Surface source = moved(sampled(mesh, 15000, 2), inverse(truth));
  std::vector<std::int32_t> inliers;
  for (int threads : {1, 2, 7}) {
    const Context context = Context::cpu(threads);
    const RansacAlignment found = align_by_descriptors(context, source, target, {.trials = 5000});
    ASSERT_TRUE(found.found) << found.reason;
    if (threads == 1) inliers = found.inliers;
    EXPECT_EQ(found.inliers, inliers);
    const Alignment fine = align(context, source, target, found.target_from_source);
    EXPECT_LT(angle_between(fine.target_from_source, truth), 5e-3);
    EXPECT_LT(norm(fine.target_from_source.translation - truth.translation), 2e-3);
  }
  EXPECT_FALSE(align_by_descriptors(Context::cpu(), {}, {}).found);
}

}  // namespace
}  // namespace sextant
