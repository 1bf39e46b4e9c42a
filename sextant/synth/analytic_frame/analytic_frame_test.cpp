// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/analytic_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "sextant/synth/analytic_shape/polynomial_roots.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

Rigid3d turned(double z_m) { return {exp_rotation(Vec3d{0.7, -0.4, 0.3}), {0.01, -0.02, z_m}}; }

std::vector<AnalyticShape> every_shape() {
  return {AnalyticShape::plane(turned(1.0)), AnalyticShape::sphere(0.2, turned(0.8)),
          AnalyticShape::cylinder(0.1, 0.3, turned(0.9)),
          AnalyticShape::torus(0.15, 0.06, turned(0.7)),
          AnalyticShape::box({0.3, 0.2, 0.1}, turned(1.1))};
}

/// The distance to the surface, in the shape's frame: an oracle that knows no rays.
double distance_to(const AnalyticShape& shape, const Vec3d& p) {
  const Vec3d& size = shape.size_m;
  const double from_axis = std::hypot(p.x, p.y);
  switch (shape.kind) {
    case ShapeKind::kPlane:
      return std::abs(p.z);
    case ShapeKind::kSphere:
      return norm(p) - size.x;
    case ShapeKind::kTorus:
      return std::hypot(from_axis - size.x, p.z) - size.y;
    case ShapeKind::kCylinder: {
      const double r = from_axis - size.x, z = std::abs(p.z) - size.z / 2;
      return std::min(std::max(r, z), 0.0) + std::hypot(std::max(r, 0.0), std::max(z, 0.0));
    }
    case ShapeKind::kBox: {
      const Vec3d q{std::abs(p.x) - size.x / 2, std::abs(p.y) - size.y / 2,
                    std::abs(p.z) - size.z / 2};
      return std::min(std::max({q.x, q.y, q.z}), 0.0) +
             norm(Vec3d{std::max(q.x, 0.0), std::max(q.y, 0.0), std::max(q.z, 0.0)});
    }
  }
  return NAN;
}

/// Walks along the ray by the distance that is surely free.
struct March {
  double depth_m = INFINITY;
  double closest_m = INFINITY;
};
March march(const AnalyticShape& shape, const Vec3d& ray) {
  const Rigid3d shape_from_camera = inverse(shape.camera_from_shape);
  March result;
  double s = 0;
  for (int step = 0; step < 100000 && s < 5; ++step) {
    const double distance = distance_to(shape, shape_from_camera * (ray * s));
    result.closest_m = std::min(result.closest_m, distance);
    if (distance < 1e-12) {
      result.depth_m = s;
      break;
    }
    s += distance / norm(ray);
  }
  return result;
}

TEST(AnalyticFrame, DepthIsWhereARayMarchEnds) {
  const Camera camera{64, 48, 70, 70, 31.5, 23.5, {}};
  for (const AnalyticShape& shape : every_shape()) {
    SCOPED_TRACE(name_of(shape.kind, kShapeKinds));
    const AnalyticFrame frame = render_analytic(Context::cpu(), camera, {&shape, 1});
    int met = 0;
    for (int v = 0; v < camera.height; ++v) {
      for (int u = 0; u < camera.width; ++u) {
        const Vec3d ray = unproject(camera, Vec2d{double(u), double(v)});
        const March expected = march(shape, ray);
        if (std::isinf(expected.depth_m)) {
          // A ray that misses by less than the march resolves may be said to hit.
          if (expected.closest_m > 1e-9) {
            ASSERT_TRUE(std::isnan(frame.depth_m(u, v))) << u << ' ' << v;
            ASSERT_EQ(frame.ids(u, v), -1);
          }
          continue;
        }
        ++met;
        // The march ends 1e-12 m before the surface, along the ray up to 1e-12 / cos; float rounds
        // by 6e-8 m at 1 m.
        ASSERT_NEAR(frame.depth_m(u, v), expected.depth_m, 1.2e-7) << u << ' ' << v;
      }
    }
    EXPECT_GT(met, 100);
  }
}

/// The curvatures from the change of the normal between neighbouring rays: the eigenvalues of
/// dn = S dp in the tangent plane.
Vec2d differenced_curvatures(const AnalyticShape& shape, const Vec3d& ray, double h) {
  const auto at = [&](double x, double y) { return intersect(shape, ray + Vec3d{x, y, 0}); };
  const auto point = [&](double x, double y) { return (ray + Vec3d{x, y, 0}) * at(x, y).depth_m; };
  const Vec3d pu = point(h, 0) - point(-h, 0), pv = point(0, h) - point(0, -h);
  const Vec3d nu = at(h, 0).normal - at(-h, 0).normal, nv = at(0, h).normal - at(0, -h).normal;
  const double e = dot(pu, pu), f = dot(pu, pv), g = dot(pv, pv);
  const double l = dot(nu, pu), m = 0.5 * (dot(nu, pv) + dot(nv, pu)), n = dot(nv, pv);
  const double det = e * g - f * f;
  const double mean = 0.5 * (e * n - 2 * f * m + g * l) / det;
  const double gauss = (l * n - m * m) / det;
  const double root = std::sqrt(std::max(0.0, mean * mean - gauss));
  return {mean + root, mean - root};
}

TEST(AnalyticShape, CurvatureIsTheChangeOfTheNormal) {
  for (const AnalyticShape& shape : every_shape()) {
    SCOPED_TRACE(name_of(shape.kind, kShapeKinds));
    int checked = 0;
    for (double x = -0.3; x <= 0.3; x += 0.0137) {
      for (double y = -0.3; y <= 0.3; y += 0.0119) {
        const Vec3d ray{x, y, 1};
        const ShapeHit hit = intersect(shape, ray);
        if (!std::isfinite(hit.depth_m)) continue;
        ASSERT_NEAR(norm(hit.normal), 1, 1e-12);
        ASSERT_LE(dot(hit.normal, ray), 0);
        ASSERT_GE(hit.k1_per_m, hit.k2_per_m);
        // Differences need the same smooth piece around the ray, not seen along it.
        constexpr double h = 1e-5;
        bool smooth = dot(hit.normal, ray) < -0.3;
        for (const Vec3d& side : {Vec3d{h, 0, 0}, {-h, 0, 0}, {0, h, 0}, {0, -h, 0}}) {
          const ShapeHit near = intersect(shape, ray + side);
          smooth = smooth && std::abs(near.depth_m - hit.depth_m) < 1e-4 &&
                   std::abs(near.k1_per_m - hit.k1_per_m) < 0.5 &&
                   dot(near.normal, hit.normal) > 0.999;
        }
        if (!smooth) continue;
        ++checked;
        const Vec2d expected = differenced_curvatures(shape, ray, h);
        // Truncation is h² times third derivatives (< 1e-5); roundings of 1e-15 over steps of 1e-5
        // are amplified by the root where both curvatures coincide: sqrt(1e-9).
        ASSERT_NEAR(hit.k1_per_m, expected.x, 1e-3) << x << ' ' << y;
        ASSERT_NEAR(hit.k2_per_m, expected.y, 1e-3) << x << ' ' << y;
      }
    }
    EXPECT_GT(checked, 100);
  }
}

TEST(AnalyticShape, ASphereFromOutsideAndFromInside) {
  const ShapeHit outside = intersect(AnalyticShape::sphere(0.5, {{}, {0, 0, 2}}), {0, 0, 1});
  EXPECT_TRUE(std::isinf(outside.depth_m)) << "a zero rotation is no pose";
  const Rigid3d far{Mat3d::identity(), {0, 0, 2}};
  const ShapeHit front = intersect(AnalyticShape::sphere(0.5, far), {0, 0, 1});
  EXPECT_DOUBLE_EQ(front.depth_m, 1.5);
  EXPECT_DOUBLE_EQ(front.k1_per_m, 2);
  EXPECT_EQ(front.normal, (Vec3d{0, 0, -1}));
  const ShapeHit back = intersect(AnalyticShape::sphere(0.5, {}), {0, 0, 1});
  EXPECT_DOUBLE_EQ(back.depth_m, 0.5);
  EXPECT_DOUBLE_EQ(back.k1_per_m, -2);
  EXPECT_EQ(back.normal, (Vec3d{0, 0, -1}));
  // From inside the tube of a torus, k1 >= k2 still.
  const Rigid3d inside{Mat3d::identity(), {-0.3, 0, 0}};
  const ShapeHit tube = intersect(AnalyticShape::torus(0.3, 0.1, inside), {0, 0, 1});
  EXPECT_NEAR(tube.depth_m, 0.1, 1e-14);
  EXPECT_NEAR(tube.k1_per_m, 0, 1e-12);
  EXPECT_NEAR(tube.k2_per_m, -10, 1e-12);
}

TEST(AnalyticFrame, FollowsLensDistortionAndKeepsTheNearest) {
  const Camera camera{80, 60, 60, 60, 39.5, 29.5, {-0.2, 0.05, 0.001, -0.001, 0}};
  AnalyticShape ball = AnalyticShape::sphere(0.2, {Mat3d::identity(), {0.1, 0, 0.7}});
  ball.id = 7;
  AnalyticShape wall = AnalyticShape::plane({Mat3d::identity(), {0, 0, 1}});
  wall.id = 3;
  const AnalyticShape shapes[] = {wall, ball};
  const AnalyticFrame frame = render_analytic(Context::cpu(), camera, shapes);
  int balls = 0;
  for (int v = 0; v < 60; ++v) {
    for (int u = 0; u < 80; ++u) {
      const Vec3d point =
          unproject(camera, Vec2d{double(u), double(v)}) * static_cast<double>(frame.depth_m(u, v));
      const bool on_ball = std::abs(norm(point - Vec3d{0.1, 0, 0.7}) - 0.2) < 1e-6;
      ASSERT_EQ(frame.ids(u, v), on_ball ? 7 : 3);
      ASSERT_NEAR(on_ball ? 1.0 : point.z, 1, 1e-6);
      balls += on_ball;
    }
  }
  EXPECT_GT(balls, 300);
}

TEST(AnalyticFrame, SameBitsForAnyNumberOfThreads) {
  const Camera camera{160, 120, 150, 150, 79.5, 59.5, {}};
  const auto shapes = every_shape();
  const AnalyticFrame one = render_analytic(Context::cpu(1), camera, shapes);
  for (const int threads : {2, 7}) {
    const AnalyticFrame many = render_analytic(Context::cpu(threads), camera, shapes);
    const auto same = [](const auto& a, const auto& b) {
      return std::memcmp(a.pixels().data(), b.pixels().data(), a.pixels().host().size_bytes()) == 0;
    };
    EXPECT_TRUE(same(one.depth_m, many.depth_m));
    EXPECT_TRUE(same(one.normals, many.normals));
    EXPECT_TRUE(same(one.k1_per_m, many.k1_per_m));
  }
}

TEST(AnalyticFrame, Misuse) {
  using testing::error_message;
  using testing::mentions;
  const Camera camera{8, 6, 10, 10, 4, 3, {}};
  const auto message = [&](const AnalyticShape& shape) {
    return error_message([&] { render_analytic(Context::cpu(), camera, {&shape, 1}); });
  };
  EXPECT_TRUE(mentions(message(AnalyticShape::sphere(-1)), "radius_m"));
  EXPECT_TRUE(mentions(message(AnalyticShape::cylinder(NAN, 1)), "radius_m"));
  EXPECT_TRUE(mentions(message(AnalyticShape::torus(0.1, 0.2)), "tube_radius_m"));
  EXPECT_TRUE(mentions(message(AnalyticShape::box({1, 0, 1})), "sides_m"));
  Camera blind = camera;
  blind.fx_px = 0;
  EXPECT_THROW(render_analytic(Context::cpu(), blind, {}), Error);
  // Nothing to see is a frame of holes.
  const AnalyticFrame empty = render_analytic(Context::cpu(), camera, {});
  EXPECT_TRUE(std::isnan(empty.depth_m(3, 3)));
  EXPECT_EQ(empty.ids(3, 3), -1);
}

TEST(PolynomialRoots, FindsWhatItWasMadeOf) {
  // (t + 0.9)(t - 0.1)(t - 0.100001)(t - 0.7): two roots 1e-6 apart.
  const double made[] = {-0.9, 0.1, 0.100001, 0.7};
  double c[5] = {1, 0, 0, 0, 0};
  for (int n = 0; n < 4; ++n) {
    for (int i = n + 1; i > 0; --i) c[i] = c[i - 1] - made[n] * c[i];
    c[0] *= -made[n];
  }
  double roots[4];
  ASSERT_EQ(detail::analytic_shape::polynomial_roots(c, 4, -1, 1, roots), 4);
  // A simple root is exact to rounding over slope; the slope at the close pair is about 6e-7.
  const double slack[] = {1e-14, 2e-9, 2e-9, 1e-14};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(roots[i], made[i], slack[i]);
  EXPECT_EQ(detail::analytic_shape::polynomial_roots(c, 4, 0.2, 1, roots), 1);
  const double none[] = {1, 0, 1};
  EXPECT_EQ(detail::analytic_shape::polynomial_roots(none, 2, -5, 5, roots), 0);
  const double zero[] = {0, 0, 0};
  EXPECT_EQ(detail::analytic_shape::polynomial_roots(zero, 2, -5, 5, roots), 0);
}

}  // namespace
}  // namespace sextant
