// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/pose_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

constexpr double kPi = std::numbers::pi;

/// One number after the other.
struct RandomStream {
  Random random;
  std::uint64_t draw = 0;

  explicit RandomStream(std::uint64_t seed) : random{seed, 0} {}
  float uniform(float low, float high) { return low + (high - low) * random.uniform(draw++); }
};

TriangleMesh mesh_of(const std::vector<Vec3f>& points) {
  TriangleMesh mesh;
  mesh.vertices.points = copy(Context::cpu(), points);
  mesh.triangles = copy(Context::cpu(), std::vector<Vec3i>{{0, 1, 2}});
  return mesh;
}

/// The corners of a box of 0.2 x 0.1 x 0.06 m about a middle.
std::vector<Vec3f> corners(const Vec3f& middle = {}) {
  std::vector<Vec3f> points;
  for (int i = 0; i < 8; ++i) {
    points.push_back(
        middle + Vec3f{(i & 1) ? 0.1f : -0.1f, (i & 2) ? 0.05f : -0.05f, (i & 4) ? 0.03f : -0.03f});
  }
  return points;
}

/// Half turns about the three axes.
Symmetries half_turns() {
  Symmetries symmetries;
  for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}) {
    symmetries.discrete.push_back({exp_rotation(axis * kPi), {}});
  }
  return symmetries;
}

Rigid3d at(const Vec3d& omega_rad, const Vec3d& t_m) { return {exp_rotation(omega_rad), t_m}; }

TEST(PoseError, OfAShiftIsTheShift) {
  const EvaluatedModel box = make_evaluated_model(1, mesh_of(corners()), {});
  EXPECT_NEAR(box.diameter_m, std::sqrt(0.2 * 0.2 + 0.1 * 0.1 + 0.06 * 0.06), 1e-7);
  const Rigid3d truth = at({0.3, -1.0, 0.2}, {0.1, 0.2, 1.0});
  const Vec3d shift{0.003, -0.004, 0.012};  // 13 mm
  const Rigid3d estimate{truth.rotation, truth.translation + shift};
  EXPECT_NEAR(add_error_m(box, estimate, truth), 0.013, 1e-12);
  EXPECT_NEAR(mssd_error_m(box, estimate, truth), 0.013, 1e-12);
  // Corners are farther apart than the shift, so each is nearest to itself.
  EXPECT_NEAR(adds_error_m(box, estimate, truth), 0.013, 1e-12);
  const PoseDifference difference = pose_difference(box, estimate, truth);
  EXPECT_NEAR(difference.translation_m, 0.013, 1e-12);
  EXPECT_NEAR(difference.rotation_rad, 0, 1e-7);
}

TEST(PoseError, OfATurnFollowsFromTheCorners) {
  const EvaluatedModel box = make_evaluated_model(1, mesh_of(corners()), {});
  // About z each corner, sqrt(0.1² + 0.05²) from the axis, moves along a chord.
  const double angle = 0.1;
  const double chord = 2 * std::sin(angle / 2) * std::hypot(0.1, 0.05);
  const Rigid3d truth = at({}, {0, 0, 1}), estimate = at({0, 0, angle}, {0, 0, 1});
  EXPECT_NEAR(add_error_m(box, estimate, truth), chord, 1e-8);
  EXPECT_NEAR(mssd_error_m(box, estimate, truth), chord, 1e-8);
  EXPECT_NEAR(pose_difference(box, estimate, truth).rotation_rad, angle, 1e-12);
  // A half turn puts each corner where another was.
  const Rigid3d half = at({0, 0, kPi}, {0, 0, 1});
  EXPECT_NEAR(add_error_m(box, half, truth), 2 * std::hypot(0.1, 0.05), 1e-7);
  EXPECT_NEAR(adds_error_m(box, half, truth), 0, 1e-8);
}

TEST(PoseError, ProjectionsInPixels) {
  const EvaluatedModel box = make_evaluated_model(1, mesh_of(corners()), {});
  const Camera camera{640, 480, 500, 400, 320, 240, {}};
  const Rigid3d truth = at({}, {0, 0, 1});
  // The nearest corners stand at 0.97 m: 9.7 mm aside are 5 px there.
  EXPECT_NEAR(mspd_error_px(box, camera, at({}, {0.0097, 0, 1}), truth), 5, 1e-6);
  EXPECT_NEAR(mspd_error_px(box, camera, at({}, {0, 0.0097, 1}), truth), 4, 1e-6);
  EXPECT_TRUE(std::isinf(mspd_error_px(box, camera, at({}, {0, 0, 0.01}), truth)));
}

TEST(PoseError, ATwinOfASymmetricObjectIsRight) {
  const EvaluatedModel box = make_evaluated_model(1, mesh_of(corners()), half_turns());
  ASSERT_EQ(box.motions.size(), 4u);
  const Camera camera{640, 480, 500, 500, 320, 240, {}};
  const Rigid3d truth = at({0.3, -1.0, 0.2}, {0.1, 0.05, 1.0});
  for (const Rigid3d& motion : box.motions) {
    const Rigid3d twin = truth * motion;
    EXPECT_LT(mssd_error_m(box, twin, truth), 1e-8);
    EXPECT_LT(mspd_error_px(box, camera, twin, truth), 1e-5);
    EXPECT_LT(pose_difference(box, twin, truth).rotation_rad, 1e-7);
  }
  // A quarter turn is no symmetry of this box.
  EXPECT_NEAR(pose_difference(box, truth * at({0, 0, kPi / 2}, {}), truth).rotation_rad, kPi / 2,
              1e-9);
}

TEST(PoseError, AboutAnAxisOnlyItsDirectionCounts) {
  // A ring about the line through (0.3, 0, 0) along z, far from the origin.
  std::vector<Vec3f> ring;
  for (int i = 0; i < 720; ++i) {
    const double a = 2 * kPi * i / 720;
    for (const float z : {0.0f, 0.1f}) {
      ring.push_back({static_cast<float>(0.3 + 0.04 * std::cos(a)),
                      static_cast<float>(0.04 * std::sin(a)), z});
    }
  }
  Symmetries symmetries;
  symmetries.continuous.push_back({{0, 0, 1}, {0.3, 0, 0}});
  const EvaluatedModel model = make_evaluated_model(1, mesh_of(ring), symmetries);
  EXPECT_EQ(model.motions.size(), 315u);
  const Rigid3d truth = at({1.0, 0.4, -2.0}, {0, 0, 1});
  const Mat3d spin = exp_rotation(Vec3d{0, 0, 1.2345});
  const Rigid3d turned = truth * Rigid3d{spin, Vec3d{0.3, 0, 0} - spin * Vec3d{0.3, 0, 0}};
  const PoseDifference same = pose_difference(model, turned, truth);
  EXPECT_LT(same.rotation_rad, 1e-7);
  EXPECT_LT(same.translation_m, 1e-7);
  // In steps of 1/315 turn the worst point is off by half a step at most.
  EXPECT_LT(mssd_error_m(model, turned, truth), 0.04 * kPi / 315 + 1e-6);
  EXPECT_LT(mssd_error_m(model, truth, truth), 1e-12);
  // A tilt of the axis is not taken away by any turn.
  const Rigid3d tilted = turned * at({0.2, 0, 0}, {});
  EXPECT_NEAR(pose_difference(model, tilted, truth).rotation_rad, 0.2, 1e-9);
  symmetries.continuous.push_back({{1, 0, 0}, {0.3, 0, 0}});
  const EvaluatedModel ball = make_evaluated_model(1, mesh_of(ring), symmetries);
  EXPECT_LT(pose_difference(ball, tilted, truth).rotation_rad, 1e-12);
}

TEST(PoseError, EqualsTheDefinitionsByBruteForce) {
  RandomStream random(testing::seed_of_test());
  std::vector<Vec3f> points;
  for (int i = 0; i < 300; ++i) {
    points.push_back({random.uniform(-0.1f, 0.1f), random.uniform(-0.05f, 0.05f),
                      random.uniform(-0.03f, 0.03f)});
  }
  const EvaluatedModel model = make_evaluated_model(1, mesh_of(points), half_turns());
  const Camera camera{640, 480, 520, 530, 310, 250, {}};
  for (int trial = 0; trial < 20; ++trial) {
    const auto number = [&](float reach) {
      return static_cast<double>(random.uniform(-reach, reach));
    };
    const Rigid3d truth = at({number(3), number(3), number(3)}, {number(0.1f), number(0.1f), 0.8});
    const Rigid3d estimate = truth * at({number(0.3f), number(0.3f), number(0.3f)},
                                        {number(0.02f), number(0.02f), number(0.02f)});
    double add = 0, adds = 0, mssd = INFINITY, mspd = INFINITY;
    for (const Vec3f& a : points) {
      const Vec3d p = cast<double>(a);
      add += norm(estimate * p - truth * p) / 300;
      double nearest = INFINITY;
      for (const Vec3f& b : points) {
        nearest = std::min(nearest, norm(estimate * cast<double>(b) - truth * p));
      }
      adds += nearest / 300;
    }
    for (int s = 0; s < 4; ++s) {
      const Rigid3d twin = s == 0 ? truth : truth * half_turns().discrete[s - 1];
      double far = 0, wide = 0;
      for (const Vec3f& a : points) {
        const Vec3d e = estimate * cast<double>(a), t = twin * cast<double>(a);
        far = std::max(far, norm(e - t));
        wide = std::max(wide,
                        std::hypot(520 * (e.x / e.z - t.x / t.z), 530 * (e.y / e.z - t.y / t.z)));
      }
      mssd = std::min(mssd, far);
      mspd = std::min(mspd, wide);
    }
    EXPECT_NEAR(add_error_m(model, estimate, truth), add, 1e-9 * add);
    EXPECT_NEAR(adds_error_m(model, estimate, truth), adds, 1e-9 * adds);
    EXPECT_NEAR(mssd_error_m(model, estimate, truth), mssd, 1e-9 * mssd);
    EXPECT_NEAR(mspd_error_px(model, camera, estimate, truth), mspd, 1e-9 * mspd);
  }
}

TEST(PoseError, CriteriaAreSharesOfWhatIsAllowed) {
  const EvaluatedModel box = make_evaluated_model(1, mesh_of(corners({0, 0, 2})), {}, 0.2);
  const Rigid3d truth = at({}, {0, 0, -1});
  const Rigid3d moved = at({}, {0, 0, -0.99});
  PoseCriterion criterion{PoseMeasure::kAdd, 0.1, 0.02, 0.1};
  EXPECT_NEAR(criterion_error(box, moved, truth, criterion), 0.5, 1e-6);
  criterion.measure = PoseMeasure::kDistanceAndAngle;
  EXPECT_NEAR(criterion_error(box, moved, truth, criterion), 0.5, 1e-6);
  // Turned about its own middle, two metres from its origin, only the angle differs.
  const Mat3d turn = exp_rotation(Vec3d{0, 0.05, 0});
  const Rigid3d turned{turn, Vec3d{0, 0, 1} - turn * Vec3d{0, 0, 2}};
  EXPECT_NEAR(criterion_error(box, turned, truth, criterion), 0.5, 1e-6);
  criterion.share = -1;
  EXPECT_THROW(criterion_error(box, turned, truth, criterion), Error);
}

TEST(EvaluatedModel, RefusesNothing) {
  EXPECT_TRUE(testing::mentions(
      testing::error_message([] { make_evaluated_model(7, TriangleMesh{}, {}); }), "object 7"));
}

}  // namespace
}  // namespace sextant
