// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/normals/curved.h"

#include <gtest/gtest.h>

#include "sextant/surface/normals.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"

namespace sextant {
namespace {

using testing::OrganisedScene;

struct MeanAndLargest {
  double mean_deg = 0;
  double largest_deg = 0;
};

/// Over the pixels that face the camera within 45° and whose window is whole.
MeanAndLargest error_of(const Context& context, const OrganisedScene& scene,
                        const NormalsOptions& options) {
  const std::vector<Vec3f> normals =
      to_host(context, estimate_normals(context, scene.on(context), options).pixels());
  const int r = options.radius_px;
  MeanAndLargest result;
  int count = 0;
  for (int v = r; v < scene.height - r; ++v) {
    for (int u = r; u < scene.width - r; ++u) {
      bool whole = scene.normals[static_cast<std::size_t>(v * scene.width + u)].z < -0.7071;
      for (int y = v - r; y <= v + r; ++y) {
        for (int x = u - r; x <= u + r; ++x) {
          whole = whole && is_finite(scene.points[static_cast<std::size_t>(y * scene.width + x)]);
        }
      }
      if (!whole) continue;
      const auto i = static_cast<std::size_t>(v * scene.width + u);
      const double error =
          testing::degrees(testing::angle_rad(cast<double>(normals[i]), scene.normals[i]));
      EXPECT_TRUE(std::isfinite(error)) << u << ' ' << v;
      result.mean_deg += error;
      result.largest_deg = std::max(result.largest_deg, error);
      ++count;
    }
  }
  EXPECT_GT(count, 1000);
  result.mean_deg /= count;
  return result;
}

NormalsOptions by(NormalsMethod method, int radius_px = 3) {
  return {.method = method, .radius_px = radius_px};
}

TEST(CurvedNormals, WeightsTakeTheCubicTermsFromTheSlope) {
  for (int radius = 2; radius <= detail::normals::kMaxNormalsRadius_px; ++radius) {
    const detail::normals::CurvedWeights weights = detail::normals::curved_weights(radius);
    // What the weights give for i^p j^q: minus what that term adds to the plane's slope along i.
    for (int p = 0; p <= 3; ++p) {
      for (int q = 0; p + q <= 3; ++q) {
        double change = 0, slope = 0, squares = 0;
        for (int j = -radius; j <= radius; ++j) {
          for (int i = -radius; i <= radius; ++i) {
            const double sign = i < 0 ? -1 : 1;
            const auto at = [&](const float* of, int k) { return double{of[std::abs(k)]}; };
            const double weight =
                sign * (at(weights.cubic, i) + at(weights.mixed, i) * at(weights.bowl, j));
            const double value = std::pow(i, p) * std::pow(j, q);
            change += weight * value;
            slope += i * value;
            squares += i * i;
          }
        }
        const double expected = p + q == 3 ? -slope / squares : 0;
        EXPECT_NEAR(change, expected, 2e-5 * (1 + std::abs(expected))) << radius << p << q;
      }
    }
  }
}

// The plane of a window of 2 r + 1 pixels errs by its cubic terms, of order r² in the slope; what
// the cubic leaves are terms of order r⁴, a hundredth on the inner part of a sphere.
TEST(CurvedNormals, OfExactSpheresAndCylindersErrByATwentiethOfThePlanes) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const int radius_px : {2, 3, 5}) {
      SCOPED_TRACE(radius_px);
      const testing::SceneView view{.width = 90, .height = 80};
      for (const OrganisedScene& scene : {testing::look_at(testing::SphereSurface{}, view),
                                          testing::look_at(testing::CylinderSurface{}, view)}) {
        const MeanAndLargest plane = error_of(context, scene, by(NormalsMethod::kRay, radius_px));
        const MeanAndLargest cubic =
            error_of(context, scene, by(NormalsMethod::kCurved, radius_px));
        // Single precision leaves up to 0.002° of the cubic's slope in the smallest window.
        EXPECT_LT(cubic.mean_deg, 0.05 * plane.mean_deg + 0.002);
      }
    }
  }
}

TEST(CurvedNormals, OfPlanesAreThoseOfRays) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const OrganisedScene scene = testing::look_at(testing::PlaneSurface{1.0, {0.5, -0.3, -1}});
    // Rounding of 1/Z, 6e-8 of it, times 525 px and the noise of the cubic's slope, 0.2 a pixel.
    EXPECT_LT(error_of(context, scene, by(NormalsMethod::kCurved)).largest_deg, 0.006);
  }
}

TEST(CurvedNormals, OfNoisyDepthErrAsMuchAsThoseOfRays) {
  for (const double noise_m : {0.0003, 0.001, 0.003}) {
    SCOPED_TRACE(noise_m);
    const OrganisedScene scene =
        testing::look_at(testing::SphereSurface{.centre = {0, 0, 1}, .radius_m = 0.2},
                         {.width = 120, .height = 100, .noise_m = noise_m});
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const double plane = error_of(context, scene, by(NormalsMethod::kRay)).mean_deg;
      const double cubic = error_of(context, scene, by(NormalsMethod::kCurved)).mean_deg;
      EXPECT_LT(cubic, 1.003 * plane);
    }
  }
}

/// Where a window has a hole, an edge or no regular grid, the plane is what remains.
TEST(CurvedNormals, FallBackToThePlane) {
  OrganisedScene scene = testing::look_at(testing::SphereSurface{}, {.width = 60, .height = 50});
  for (std::size_t i = 0; i < scene.points.size(); i += 5) scene.points[i] = {NAN, NAN, NAN};
  OrganisedScene shifted = testing::look_at(testing::SphereSurface{}, {.width = 60, .height = 50});
  const std::uint64_t seed = testing::seed_of_test();
  for (std::size_t i = 0; i < shifted.points.size(); ++i) {
    shifted.points[i].x += 0.004f * Random{seed, i}.uniform(0);
    shifted.points[i].y -= 0.004f * Random{seed, i}.uniform(1);
  }
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto normals = [&](const OrganisedScene& of, NormalsMethod method) {
      return to_host(context, estimate_normals(context, of.on(context), by(method)).pixels());
    };
    const std::vector<Vec3f> rays = normals(scene, NormalsMethod::kRay);
    const std::vector<Vec3f> curved = normals(scene, NormalsMethod::kCurved);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      ASSERT_EQ(is_finite(rays[i]), is_finite(curved[i]));
      if (!is_finite(rays[i])) continue;
      EXPECT_LT(norm(rays[i] - curved[i]), 1e-6f);
    }
    // Rays that form no grid: a cubic along pixels says nothing of them.
    const std::vector<Vec3f> loose = normals(shifted, NormalsMethod::kCurved);
    const std::vector<Vec3f> plain = normals(shifted, NormalsMethod::kRay);
    int equal = 0, valid = 0;
    for (std::size_t i = 0; i < loose.size(); ++i) {
      if (!is_finite(plain[i])) continue;
      ++valid;
      equal += norm(plain[i] - loose[i]) < 1e-6f;
    }
    EXPECT_GT(equal, 0.7 * valid);
  }
}

TEST(CurvedNormals, CpuAndCudaAgree) {
  const OrganisedScene scene =
      testing::look_at(testing::SphereSurface{}, {.width = 130, .height = 90, .noise_m = 0.0002});
  const auto normals = [&](const Context& context, int radius_px) {
    return to_host(
        context, estimate_normals(context, scene.on(context), by(NormalsMethod::kCurved, radius_px))
                     .pixels());
  };
  for (const int radius_px : {1, 2, 3, 10}) {
    const std::vector<Vec3f> first = normals(Context::cpu(1), radius_px);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const std::vector<Vec3f> result = normals(context, radius_px);
      int apart = 0, valid = 0;
      for (std::size_t i = 0; i < first.size(); ++i) {
        ASSERT_EQ(is_finite(first[i]), is_finite(result[i]));
        if (!is_finite(first[i])) continue;
        ++valid;
        apart += testing::degrees(
                     testing::angle_rad(cast<double>(first[i]), cast<double>(result[i]))) > 0.01;
      }
      EXPECT_LE(apart, context.is_cpu() ? 0 : valid / 1000);
    }
  }
}

}  // namespace
}  // namespace sextant
