// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/rigid3.h"
#include "sextant/surface/normals/tile.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"

namespace sextant {

using namespace detail::normals;
namespace {

using testing::angle_rad;
using testing::degrees;
using testing::OrganisedScene;
using testing::SceneView;

constexpr NormalsMethod kMethods[] = {NormalsMethod::kRay, NormalsMethod::kPca};

std::vector<Vec3f> normals_of(const Context& context, const OrganisedScene& scene,
                              const NormalsOptions& options = {}) {
  const Image<Vec3f> points = scene.on(context);
  return to_host(context, estimate_normals(context, points, options).pixels());
}

/// The largest and the mean angle to the truth, over the pixels that `where` chooses.
struct Errors {
  double largest_deg = 0;
  double mean_deg = 0;
  int pixels = 0;
  int missing = 0;
};
template <class Where>
Errors errors_of(const OrganisedScene& scene, const std::vector<Vec3f>& normals,
                 const Where& where) {
  Errors errors;
  for (int v = 0; v < scene.height; ++v) {
    for (int u = 0; u < scene.width; ++u) {
      const auto i = static_cast<std::size_t>(v * scene.width + u);
      if (!is_finite(scene.normals[i]) || !where(u, v)) continue;
      if (!is_finite(normals[i])) {
        ++errors.missing;
        continue;
      }
      const double error = degrees(angle_rad(cast<double>(normals[i]), scene.normals[i]));
      errors.largest_deg = std::max(errors.largest_deg, error);
      errors.mean_deg += error;
      ++errors.pixels;
    }
  }
  errors.mean_deg /= errors.pixels;
  return errors;
}
bool everywhere(int, int) { return true; }

/// The definition, in double precision and point by point. `certain` is false where rounding may
/// turn the eigenvector or decide on validity.
struct Oracle {
  Vec3d normal{NAN, NAN, NAN};
  bool certain = true;
};
Oracle oracle_normal(const OrganisedScene& scene, int u, int v, const NormalsOptions& options) {
  const bool pca = options.method == NormalsMethod::kPca;
  const auto valid = [&](const Vec3f& p) { return is_finite(p) && (pca || p.z > 0); };
  const auto at = [&](int x, int y) {
    return scene.points[static_cast<std::size_t>(y * scene.width + x)];
  };
  const Vec3f centre = at(u, v);
  if (!valid(centre)) return {};
  const float gate = std::max(options.depth_gate_m, options.relative_depth_gate * centre.z);
  std::vector<Vec3d> window;
  for (int y = v - options.radius_px; y <= v + options.radius_px; ++y) {
    for (int x = u - options.radius_px; x <= u + options.radius_px; ++x) {
      if (x < 0 || y < 0 || x >= scene.width || y >= scene.height) continue;
      const Vec3f q = at(x, y);
      if (!valid(q) || std::abs(q.z - centre.z) > gate) continue;
      const Vec3d d = cast<double>(q);
      window.push_back(pca ? d : Vec3d{d.x / d.z, d.y / d.z, 1 / d.z});
    }
  }
  if (window.size() < 5) return {};
  Vec3d mean;
  for (const Vec3d& q : window) mean += q / static_cast<double>(window.size());
  Sym3d scatter;
  for (const Vec3d& q : window) scatter = scatter + outer(q - mean);
  Oracle oracle;
  if (pca) {
    const Eigen3<double> e = eigen_jacobi(scatter);
    if (e.values[1] < 1e-8 * e.values[2]) return {};
    oracle.normal = e.vectors.row[0];
    oracle.certain = e.values[1] - e.values[0] > 0.01 * e.values[2];
  } else {
    const double det = scatter.xx * scatter.yy - scatter.xy * scatter.xy;
    const double a = (scatter.xz * scatter.yy - scatter.yz * scatter.xy) / det;
    const double b = (scatter.yz * scatter.xx - scatter.xz * scatter.xy) / det;
    oracle.normal = normalized(Vec3d{a, b, mean.z - a * mean.x - b * mean.y});
    const double spread = scatter.xx + scatter.yy;
    if (det < 1e-6 * spread * spread) return {};
    oracle.certain = det > 1e-3 * spread * spread;
  }
  const double away = dot(oracle.normal, normalized(cast<double>(centre)));
  if (away > 0) oracle.normal = -oracle.normal;
  if (std::abs(away) < 1e-3) oracle.certain = false;  // either sign
  return oracle;
}

/// A noisy table with a box on it, a wall behind, holes, infinite points and a thin strip.
OrganisedScene cluttered(std::uint64_t seed) {
  const auto surface = [](const Vec3d& ray) -> std::optional<testing::Hit> {
    if (ray.x > 0.02 && ray.x < 0.08 && ray.y > -0.05 && ray.y < 0.06) {
      return testing::PlaneSurface{0.8, {0.3, 0.1, -1}}(ray);
    }
    if (ray.y > 0.03) return testing::PlaneSurface{1.2, {0, -0.7, -1}}(ray);
    return testing::PlaneSurface{1.7, {0.2, 0, -1}}(ray);
  };
  OrganisedScene scene =
      testing::look_at(surface, {.width = 101, .height = 83, .noise_m = 0.0005, .seed = seed});
  for (int i = 0; i < scene.width * scene.height; ++i) {
    const Random random{seed + 1, static_cast<std::uint64_t>(i)};
    Vec3f& p = scene.points[static_cast<std::size_t>(i)];
    if (random.uniform(0) < 0.1f) p = {NAN, NAN, NAN};
    if (random.uniform(1) < 0.01f) p.z = INFINITY;
    if (random.uniform(2) < 0.01f) p.x = NAN;
    if (random.uniform(3) < 0.005f) p = -p;
  }
  for (int v = 40; v < 60; ++v) {
    for (int u = 10; u < 40; ++u) {
      if (u % 12 != 0) scene.point(u, v) = {NAN, NAN, NAN};
    }
  }
  return scene;
}

TEST(Normals, PlanesAreExactUpToTheBorder) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const NormalsMethod method : kMethods) {
      for (const Vec3d& tilt : {Vec3d{0, 0, -1}, Vec3d{1, 0, -1}, Vec3d{-0.3, 2, -1}}) {
        const OrganisedScene scene = testing::look_at(testing::PlaneSurface{1.0, tilt});
        const std::vector<Vec3f> normals = normals_of(context, scene, {.method = method});
        const Errors errors = errors_of(scene, normals, everywhere);
        EXPECT_EQ(errors.missing, 0);
        // Coordinates are rounded by 6e-8 of 1 m, the window's lever is 4 mm: 1.5e-5 rad, and the
        // worst of 19200 pixels a few times that.
        EXPECT_LT(errors.largest_deg, 0.006);
      }
    }
  }
}

TEST(Normals, AreUnitVectorsTowardsTheSensor) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    for (const NormalsMethod method : kMethods) {
      const std::vector<Vec3f> normals = normals_of(context, scene, {.method = method});
      int count = 0;
      for (std::size_t i = 0; i < normals.size(); ++i) {
        if (!is_finite(normals[i])) continue;
        ++count;
        ASSERT_NEAR(norm(normals[i]), 1.0f, 2e-6f);
        ASSERT_LE(dot(normals[i], scene.points[i]), 0.0f);
      }
      EXPECT_GT(count, scene.width * scene.height / 2);
    }
  }
}

TEST(Normals, SphereAndCylinder) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const NormalsMethod method : kMethods) {
      const SceneView view{.width = 140, .height = 140};
      // Up to 45° of incidence: half the radius from the axis and a bit more.
      const auto inside = [](int u, int v) { return std::hypot(u - 69.5, v - 69.5) < 40; };
      const OrganisedScene sphere = testing::look_at(testing::SphereSurface{}, view);
      const Errors on_sphere =
          errors_of(sphere, normals_of(context, sphere, {.method = method}), inside);
      EXPECT_EQ(on_sphere.missing, 0);
      EXPECT_LT(on_sphere.mean_deg, 0.18);
      // The window turns by 3 px of 1.8 mm over 100 mm, 3.1°, to each side; the fit is even in the
      // window, so what is left is the change of that from one side to the other, a tenth.
      EXPECT_LT(on_sphere.largest_deg, 0.45);
      const auto between = [](int u, int) { return std::abs(u - 69.5) < 40; };
      const OrganisedScene cylinder = testing::look_at(testing::CylinderSurface{}, view);
      const Errors on_cylinder =
          errors_of(cylinder, normals_of(context, cylinder, {.method = method}), between);
      EXPECT_EQ(on_cylinder.missing, 0);
      EXPECT_LT(on_cylinder.largest_deg, 0.45);
    }
  }
}

TEST(Normals, DepthStepsDoNotBleed) {
  // A wall 0.5 m behind a plate: the gate separates them exactly, to the last pixel.
  const auto surface = [](const Vec3d& ray) {
    return ray.x < 0.011 ? testing::PlaneSurface{1.0, {0.4, 0, -1}}(ray)
                         : testing::PlaneSurface{1.5, {0, 0.4, -1}}(ray);
  };
  const OrganisedScene scene = testing::look_at(surface);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const NormalsMethod method : kMethods) {
      const Errors errors =
          errors_of(scene, normals_of(context, scene, {.method = method}), everywhere);
      EXPECT_EQ(errors.missing, 0);
      EXPECT_LT(errors.largest_deg, 0.02);
    }
  }
}

TEST(Normals, OfABoxEdgeLieBetweenItsFaces) {
  const Vec3d left = normalized(Vec3d{-1, 0, -1});
  const Vec3d right = normalized(Vec3d{1, 0, -1});
  const auto surface = [&](const Vec3d& ray) {
    return testing::PlaneSurface{1.0, ray.x < 0 ? left : right}(ray);
  };
  const OrganisedScene scene = testing::look_at(surface);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const NormalsMethod method : kMethods) {
      const std::vector<Vec3f> normals = normals_of(context, scene, {.method = method});
      const auto clear = [](int u, int) { return std::abs(u - 79.5) > 3.0; };
      EXPECT_LT(errors_of(scene, normals, clear).largest_deg, 0.006);
      for (int u = 76; u < 84; ++u) {
        const Vec3d n = cast<double>(normals[static_cast<std::size_t>(60 * scene.width + u)]);
        EXPECT_NEAR(degrees(angle_rad(left, n) + angle_rad(n, right)), 90.0, 0.2) << u;
      }
    }
  }
}

TEST(Normals, NoiseOnASphere) {
  // Least squares over the 7 × 7 grid: the slope's deviation is σ / (pitch √196). The pitch is at
  // least 0.9 m / 525 px, and the mean of the two slopes' length √(π/2) of it; a surface that is
  // not frontal only makes the angle smaller.
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    double pca_at_3mm = 0;
    for (const double noise_m : {0.001, 0.003}) {
      const SceneView view{
          .width = 140, .height = 140, .noise_m = noise_m, .seed = testing::seed_of_test()};
      const OrganisedScene scene = testing::look_at(testing::SphereSurface{}, view);
      const auto inside = [](int u, int v) { return std::hypot(u - 69.5, v - 69.5) < 40; };
      const double bound =
          degrees(noise_m / (0.9 / 525 * 14) * std::sqrt(std::numbers::pi / 2)) + 0.18;
      const Errors ray = errors_of(scene, normals_of(context, scene), inside);
      EXPECT_LT(ray.mean_deg, bound) << noise_m;
      EXPECT_GT(ray.mean_deg, bound / 2) << noise_m;
      pca_at_3mm =
          errors_of(scene, normals_of(context, scene, {.method = NormalsMethod::kPca}), inside)
              .mean_deg;
      EXPECT_LT(ray.mean_deg, pca_at_3mm) << noise_m;
    }
  }
}

TEST(Normals, AgreeWithTheDefinition) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  for (const NormalsMethod method : kMethods) {
    for (const int radius_px : {1, 2, 3, 5, 10}) {
      const NormalsOptions options{.method = method, .radius_px = radius_px};
      std::vector<Oracle> oracle;
      for (int v = 0; v < scene.height; ++v) {
        for (int u = 0; u < scene.width; ++u) {
          oracle.push_back(oracle_normal(scene, u, v, options));
        }
      }
      for (const Context& context : testing::all_contexts()) {
        SCOPED_TRACE(testing::describe(context) + ", radius " + std::to_string(radius_px));
        const std::vector<Vec3f> normals = normals_of(context, scene, options);
        int compared = 0;
        for (std::size_t i = 0; i < normals.size(); ++i) {
          if (!oracle[i].certain) continue;
          ASSERT_EQ(is_finite(normals[i]), is_finite(oracle[i].normal)) << i;
          if (!is_finite(normals[i])) continue;
          ++compared;
          ASSERT_LT(degrees(angle_rad(cast<double>(normals[i]), oracle[i].normal)), 0.05) << i;
        }
        EXPECT_GT(compared, scene.width * scene.height / 2);
      }
    }
  }
}

/// How many normals differ in any bit when N pixels are computed at once.
template <int N>
int differing_pixels(const Image<Vec3f>& points, const std::vector<Vec3f>& expected,
                     NormalsMethod method) {
  Image<Vec3f> normals(Context::cpu(1), points.width(), points.height());
  const NormalsJob job{points, normals, method};
  for (int top = 0; top < points.height(); top += kNormalsTileHeight) {
    for (int left = 0; left < points.width(); left += kNormalsTileWidth) {
      run_normals_tile<N>(job, left, top);
    }
  }
  int differing = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // NaN has many bit patterns: compare what is a number.
    const Vec3f n = normals.pixels().host()[i];
    const bool same = is_finite(n) ? n == expected[i] : !is_finite(expected[i]);
    differing += same ? 0 : 1;
  }
  return differing;
}

TEST(Normals, SameBitsForEveryThreadCountAndLaneWidth) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  const Context one = Context::cpu(1);
  const Image<Vec3f> points = scene.on(one);
  for (const NormalsMethod method : kMethods) {
    const std::vector<Vec3f> expected = normals_of(one, scene, {.method = method});
    const std::size_t bytes = expected.size() * sizeof(Vec3f);
    for (const int threads : {2, 7}) {
      const std::vector<Vec3f> got = normals_of(Context::cpu(threads), scene, {.method = method});
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), bytes), 0) << threads;
    }
    EXPECT_EQ(differing_pixels<4>(points, expected, method), 0);
    EXPECT_EQ(differing_pixels<8>(points, expected, method), 0);
    EXPECT_EQ(differing_pixels<16>(points, expected, method), 0);
  }
}

TEST(Normals, CudaAgreesWithTheCpu) {
  const OrganisedScene scene = cluttered(testing::seed_of_test());
  for (const Context& context : testing::all_contexts()) {
    if (context.is_cpu()) continue;
    for (const NormalsMethod method : kMethods) {
      const std::vector<Vec3f> cpu = normals_of(Context::cpu(), scene, {.method = method});
      const std::vector<Vec3f> cuda = normals_of(context, scene, {.method = method});
      int far = 0;
      int both = 0;
      for (std::size_t i = 0; i < cpu.size(); ++i) {
        ASSERT_EQ(is_finite(cpu[i]), is_finite(cuda[i])) << i;
        if (!is_finite(cpu[i])) continue;
        ++both;
        const double apart = degrees(angle_rad(cast<double>(cpu[i]), cast<double>(cuda[i])));
        far += apart > 0.01 ? 1 : 0;
      }
      EXPECT_LE(far, both / 1000);
    }
  }
}

TEST(Normals, TurnWithTheCloud) {
  const Mat3<double> turn = exp_rotation(Vec3d{0.2, -0.3, 0.1});
  const OrganisedScene scene =
      testing::look_at(testing::SphereSurface{}, {.width = 100, .height = 100});
  OrganisedScene turned = scene;
  for (Vec3f& p : turned.points) p = cast<float>(turn * cast<double>(p));
  // Without gates: they look at the depth, which a rotation changes.
  const NormalsOptions options{.method = NormalsMethod::kPca, .depth_gate_m = 10};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<Vec3f> before = normals_of(context, scene, options);
    const std::vector<Vec3f> after = normals_of(context, turned, options);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!is_finite(before[i])) continue;
      ASSERT_LT(degrees(angle_rad(turn * cast<double>(before[i]), cast<double>(after[i]))), 0.05);
    }
  }
}

TEST(Normals, BadDataHasADefinedResult) {
  const Vec3f nan{NAN, NAN, NAN};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const NormalsMethod method : kMethods) {
      const auto all_nan = [&](int width, int height, const Vec3f& value) {
        const std::vector<Vec3f> values(static_cast<std::size_t>(width * height), value);
        const OrganisedScene scene{width, height, values, {}};
        for (const Vec3f& n : normals_of(context, scene, {.method = method})) {
          if (is_finite(n)) return false;
        }
        return true;
      };
      EXPECT_TRUE(all_nan(0, 0, {}));
      EXPECT_TRUE(all_nan(5, 0, {}));
      EXPECT_TRUE(all_nan(1, 1, {0, 0, 1}));
      EXPECT_TRUE(all_nan(40, 40, nan));
      EXPECT_TRUE(all_nan(40, 40, {0.1f, 0.1f, 1.0f}));
      EXPECT_TRUE(all_nan(40, 40, {0, 0, INFINITY}));
      EXPECT_TRUE(all_nan(40, 40, {0, 0, 0}));
      EXPECT_TRUE(all_nan(40, 40, {1e30f, 1e30f, 1e30f}));
      // A single row is a line.
      const OrganisedScene row =
          testing::look_at(testing::PlaneSurface{}, {.width = 50, .height = 1});
      for (const Vec3f& n : normals_of(context, row, {.method = method})) {
        EXPECT_FALSE(is_finite(n));
      }
    }
  }
}

}  // namespace
}  // namespace sextant
