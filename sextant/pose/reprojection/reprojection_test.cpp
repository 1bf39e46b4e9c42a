// SPDX-License-Identifier: Apache-2.0
#include "sextant/pose/reprojection.h"

#include <gtest/gtest.h>

#include "sextant/pose/backprojection.h"
#include "sextant/pose/backprojection/math.h"
#include "sextant/pose/reprojection/math.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/photo_observations.h"

namespace sextant {
namespace {

using detail::photo_fit::moved;
using testing::camera_row;
using testing::Draws;
using testing::observe;
using testing::seed_of_test;
using testing::views_of;

Rigid3d nearby(const Rigid3d& pose, Draws& draws, double turn_rad, double shift_m) {
  const Vec3d turn = draws.in_box(turn_rad);
  return {exp_rotation(turn) * pose.rotation, pose.translation + draws.in_box(shift_m)};
}

double distance(const Rigid3d& a, const Rigid3d& b) {
  const Rigid3d rest = inverse(a) * b;
  return rotation_angle(rest.rotation) + norm(rest.translation);
}

/// Central differences of `residual(pose)` by the six motions about the pivot.
template <class Residual>
void expect_derivatives(const Rigid3d& pose, const Vec3d& pivot, int count, const double* row,
                        const Residual& residual, double tolerance) {
  for (int k = 0; k < 6; ++k) {
    const double h = 1e-6;
    double forward[6] = {}, back[6] = {};
    forward[k] = h;
    back[k] = -h;
    double ahead[3], behind[3];
    residual(moved(pose, pivot, forward), ahead);
    residual(moved(pose, pivot, back), behind);
    for (int i = 0; i < count; ++i) {
      EXPECT_NEAR(row[6 * i + k], (ahead[i] - behind[i]) / (2 * h), tolerance) << i << " " << k;
    }
  }
}

TEST(PhotoFit, DerivativesAreThoseOfDifferences) {
  const auto cameras = camera_row(2);
  const auto views = views_of(cameras);
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    Draws draws(seed_of_test(), trial);
    const double z = trial % 4 == 0 ? -0.6 : 0.6;
    const Rigid3d pose{draws.rotation(), {draws.uniform(-0.2, 0.2), 0.05, z}};
    const Vec3d point = draws.in_box(0.06);
    const Vec3d pivot = pose * draws.in_box(0.03);
    const Vec2d at{draws.uniform(0, 1280), draws.uniform(0, 720)};
    const PinholeView& view = views[trial % 2];
    const auto plain = [&](const Rigid3d& p) {
      return detail::reprojection::residuals(view, p, pivot, point, at, 1000);
    };
    const auto squared = [&](const Rigid3d& p) {
      return detail::reprojection::squared_residuals(view, p, pivot, point, at);
    };
    const auto ray = detail::backprojection::world_ray(view, at);
    const auto back = [&](const Rigid3d& p) {
      return detail::backprojection::residuals(ray, p, pivot, point);
    };
    const auto check = [&](const auto& residuals, int count, double tolerance) {
      const auto at_pose = residuals(pose);
      expect_derivatives(
          pose, pivot, count, &at_pose.row[0][0],
          [&](const Rigid3d& p, double* values) {
            const auto there = residuals(p);
            for (int i = 0; i < count; ++i) values[i] = there.value[i];
          },
          tolerance);
    };
    // The differences err by h² times the third derivative and by rounding over h.
    check(plain, 2, 1e-4);
    check(squared, 2, 1.0);
    check(back, 3, 1e-8);
  }
}

TEST(PhotoFit, ReturnsToTheTruthFromNearby) {
  for (const int count : {1, 3}) {
    const auto cameras = camera_row(count);
    const auto views = views_of(cameras);
    for (std::uint64_t trial = 0; trial < 200; ++trial) {
      Draws draws(seed_of_test(), trial);
      const Rigid3d truth{draws.rotation(), {0.05, -0.03, 0.7}};
      const auto observations = observe(cameras, truth, 8, 0, draws, trial % 2 == 0);
      const Rigid3d start = nearby(truth, draws, 0.1, 0.02);
      const PhotoFit by_pixels = fit_reprojection(views, observations, start);
      EXPECT_LT(distance(by_pixels.world_from_object, truth), 1e-6);
      EXPECT_LT(by_pixels.squares, 1e-9);
      EXPECT_TRUE(by_pixels.in_front);
      const PhotoFit by_rays = fit_backprojection(views, observations, start);
      EXPECT_LT(distance(by_rays.world_from_object, truth), 1e-6);
      EXPECT_TRUE(by_rays.in_front);
      // A quartic has a flat bottom: the step to it shrinks by a third only.
      const PhotoFit by_fourth_powers =
          fit_reprojection(views, observations, start, {.squared_residuals = true});
      EXPECT_LT(distance(by_fourth_powers.world_from_object, truth), 2e-3);
    }
  }
}

TEST(PhotoFit, ComesFromBehindTheCamera) {
  const auto cameras = camera_row(1);
  const auto views = views_of(cameras);
  int by_rays = 0;
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    Draws draws(seed_of_test(), trial);
    const Rigid3d truth{draws.rotation(), {0.05, -0.03, 0.7}};
    const auto observations = observe(cameras, truth, 12, 0, draws);
    const Rigid3d behind{truth.rotation, {0, 0, -0.5}};
    EXPECT_TRUE(fit_reprojection(views, observations, behind).in_front);
    by_rays += fit_backprojection(views, observations, behind).in_front ? 1 : 0;
  }
  // Distances from rays have another minimum where the object lies about the camera itself.
  EXPECT_GE(by_rays, 40);
}

TEST(PhotoFit, DegenerateInputHasDefinedAnswers) {
  const auto cameras = camera_row(1);
  const auto views = views_of(cameras);
  Draws draws(seed_of_test(), 0);
  const Rigid3d truth{draws.rotation(), {0.05, -0.03, 0.7}};
  const Rigid3d start = nearby(truth, draws, 0.05, 0.01);
  EXPECT_LT(distance(fit_reprojection(views, {}, start).world_from_object, start), 1e-12);
  auto observations = observe(cameras, truth, 5, 0, draws);
  for (PhotoObservation& o : observations) {
    o.point_m = {o.point_m.x, 0, 0};  // on a line, seen where its points are
    o.at_px = project(cameras[0].camera, truth * o.point_m);
  }
  for (const PhotoFit& fit : {fit_reprojection(views, observations, start),
                              fit_backprojection(views, observations, start)}) {
    EXPECT_LT(fit.squares, 1e-6);
    EXPECT_TRUE(is_finite(fit.world_from_object.translation));
    EXPECT_NEAR(determinant(fit.world_from_object.rotation), 1, 1e-9);
  }
  observations[0].camera = 1;
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { fit_reprojection(views, observations, start); }), "camera 1"));
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { fit_backprojection(views, observations, start); }), "camera 1"));
}

/// Mean of eᵀ C⁻¹ e over six freedoms, where e is the error as a motion about the centre.
double normalized_error(const Rigid3d& truth, const Rigid3d& pose,
                        const std::array<double, 36>& covariance) {
  SymN<double, 6> c;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) c.at(i, j) = covariance[static_cast<std::size_t>(6 * i + j)];
  }
  const Vec3d turn = log_rotation(pose.rotation * transpose(truth.rotation));
  const Vec3d shift = pose.translation - truth.translation;
  const double e[6] = {turn.x, turn.y, turn.z, shift.x, shift.y, shift.z};
  double solved[6];
  std::copy(e, e + 6, solved);
  const auto factors = cholesky(c);
  EXPECT_TRUE(factors.ok);
  factors.solve(solved);
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += e[i] * solved[i];
  return sum / 6;
}

TEST(PhotoFit, CovarianceIsThatOfTheErrors) {
  for (const int count : {1, 3}) {
    const auto cameras = camera_row(count);
    const auto views = views_of(cameras);
    for (const bool known : {true, false}) {
      double sum = 0;
      const int trials = 1000;
      for (std::uint64_t trial = 0; trial < trials; ++trial) {
        Draws draws(seed_of_test(), trial);
        const Rigid3d truth{draws.rotation(), {0.05, -0.03, 0.7}};
        const auto observations = observe(cameras, truth, 40, 0.7, draws);
        const PhotoFit fit = fit_reprojection(views, observations, truth);
        PhotoCovarianceOptions options;
        options.noise_px = known ? 0.7 : 0;
        options.prior_observations = 1;
        sum += normalized_error(
            truth, fit.world_from_object,
            photo_covariance(views, observations, fit.world_from_object, {}, options));
      }
      // χ² of 6 freedoms over 6 has deviation 0.58; the mean of 1000, 0.018. The estimated noise
      // adds some: at 40 points its variance is 3 %, and 1 observation pulls it by 2 % to 1 px.
      EXPECT_NEAR(sum / trials, 1, known ? 0.06 : 0.1) << count << " cameras, known " << known;
    }
  }
}

TEST(PhotoFit, OpenDirectionsHaveTheSizeThatIsGiven) {
  const auto views = views_of(camera_row(1));
  const auto covariance = photo_covariance(views, {}, {Mat3d::identity(), {0, 0, 1}}, {},
                                           {.open_m = 0.2, .open_rad = 3});
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(covariance[7 * i], i < 3 ? 9 : 0.04, 1e-12);
  }
}

}  // namespace
}  // namespace sextant
