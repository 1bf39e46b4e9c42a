// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/kinect_noise.h"

#include <gtest/gtest.h>

#include <cstring>

#include "sextant/core/random.h"
#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

template <class T>
Image<T> filled(int width, int height, const T& value) {
  Image<T> image(Context::cpu(), width, height);
  for (T& pixel : image.pixels().host()) pixel = value;
  return image;
}

Camera narrow(int width, int height) {
  return {width, height, 1e5, 1e5, (width - 1) / 2.0, (height - 1) / 2.0, {}};
}

/// Runs on the context with host images in and out.
Image<float> noisy(const Context& context, const Image<float>& depth, const Image<Vec3f>& normals,
                   const Camera& camera, const KinectNoiseOptions& options, std::uint64_t seed) {
  const Image<float> d = copy(context, depth);
  const Image<Vec3f> n = copy(context, normals);
  return to_host(context, add_kinect_noise(context, d, n, camera, options, seed));
}

int holes(const Image<float>& image) {
  int count = 0;
  for (const float z : image.pixels().host()) count += std::isnan(z);
  return count;
}

double standard_normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(KinectNoise, StepsAndSpreadAreThoseOfTheFormula) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr int kSide = 300;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const float z : {1.0f, 2.0f, 3.5f}) {
      SCOPED_TRACE(z);
      const KinectNoiseOptions options;
      const Image<float> result =
          noisy(context, filled(kSide, kSide, z), {}, narrow(kSide, kSide), options, seed);
      EXPECT_EQ(holes(result), 0);
      double sum = 0, sum_sq = 0;
      for (const float value : result.pixels().host()) {
        const double steps = 1 / (static_cast<double>(options.step_per_m) * value);
        ASSERT_NEAR(steps, std::round(steps), 1e-4);  // float holds 350 steps to 4e-5
        sum += value;
        sum_sq += (static_cast<double>(value) - z) * (static_cast<double>(value) - z);
      }
      // The exact mean and spread of a rounded normal variable at this depth.
      const double step = options.step_per_m, sigma = options.sigma_per_m / step;
      const double q = 1 / (step * z);
      double mean = 0, square = 0;
      for (double k = std::floor(q) - 8; k <= q + 8; ++k) {
        const double share = standard_normal_below((k + 0.5 - q) / sigma) -
                             standard_normal_below((k - 0.5 - q) / sigma);
        mean += share / (step * k);
        square += share * (1 / (step * k) - z) * (1 / (step * k) - z);
      }
      constexpr double kCount = double{kSide} * kSide;
      const double spread = std::sqrt(square);
      // Five standard errors of a mean and of a standard deviation.
      EXPECT_NEAR(sum / kCount, mean, 5 * spread / std::sqrt(kCount));
      EXPECT_NEAR(std::sqrt(sum_sq / kCount), spread, 5 * spread / std::sqrt(2 * kCount));
      // And the rule of thumb, to the ripple that half a step of noise leaves.
      const double rule = std::hypot(1.425e-3, 2.85e-3 / std::sqrt(12.0)) * z * z;
      EXPECT_NEAR(std::sqrt(sum_sq / kCount), rule, 0.05 * rule);
    }
  }
}

TEST(KinectNoise, GrazingReturnsFailAsOftenAsStated) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr int kSide = 200;
  const KinectNoiseOptions options;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const double angle : {0.0, 1.0, 1.3, 1.4, 1.5}) {
      const Vec3f normal = cast<float>(Vec3d{std::sin(angle), 0, -std::cos(angle)});
      const Image<float> result =
          noisy(context, filled(kSide, kSide, 1.0f), filled(kSide, kSide, normal),
                narrow(kSide, kSide), options, seed);
      const double start = std::cos(options.grazing_start_rad);
      const double end = std::cos(options.grazing_end_rad);
      const double share = clamp((start - std::cos(angle)) / (start - end), 0.0, 1.0);
      const double count = double{kSide} * kSide;
      // The rays differ by 1e-3 rad over the picture; five deviations of a binomial.
      const double slack = 5 * std::sqrt(count * share * (1 - share)) +
                           count * 1e-3 / (start - end) * (share > 0 && share < 1);
      EXPECT_NEAR(holes(result), share * count, slack) << angle;
    }
  }
}

TEST(KinectNoise, EdgesLoseTheirShare) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr int kSide = 400;
  Image<float> depth = filled(kSide, kSide, 1.0f);
  for (int v = 0; v < kSide; ++v) {
    for (int u = kSide / 2; u < kSide; ++u) depth(u, v) = 1.1f;
  }
  KinectNoiseOptions options;
  options.shadow = false;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> result = noisy(context, depth, {}, narrow(kSide, kSide), options, seed);
    int lost = 0;
    for (int v = 0; v < kSide; ++v) {
      for (int u = 0; u < kSide; ++u) {
        const bool edge = u == kSide / 2 || u == kSide / 2 - 1;
        ASSERT_TRUE(edge || !std::isnan(result(u, v))) << u << ' ' << v;
        lost += std::isnan(result(u, v));
      }
    }
    const double count = 2.0 * kSide, p = options.edge_loss;
    EXPECT_NEAR(lost, p * count, 5 * std::sqrt(count * p * (1 - p)));
  }
}

TEST(KinectNoise, TheProjectorThrowsAShadowToTheLeft) {
  const Camera camera{320, 8, 525, 525, 159.5, 3.5, {}};
  Image<float> depth = filled(320, 8, 1.2f);
  for (int v = 0; v < 8; ++v) {
    for (int u = 150; u < 200; ++u) depth(u, v) = 0.6f;
  }
  KinectNoiseOptions options;
  options.edge_loss = 0;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> result = noisy(context, depth, {}, camera, options, 1);
    // The two surfaces are 0.075 · 525 · (1/0.6 - 1/1.2) = 32.8 px of disparity apart.
    for (int v = 0; v < 8; ++v) {
      for (int u = 0; u < 320; ++u) {
        if (u == 117) continue;  // on the border of the shadow
        ASSERT_EQ(std::isnan(result(u, v)), u > 117 && u < 150) << u;
      }
    }
  }
}

TEST(KinectNoise, SameBitsEverywhereAndBadDataIsAHole) {
  const std::uint64_t seed = testing::seed_of_test();
  const Camera camera{97, 61, 80, 80, 48, 30, {}};
  Image<float> depth(Context::cpu(), 97, 61);
  for (int i = 0; i < 97 * 61; ++i) {
    depth.pixels().data()[i] = 0.5f + 3 * Random{seed, std::uint64_t(i / 40)}.uniform(0);
  }
  const float bad[] = {NAN, INFINITY, -INFINITY, -1.0f, 0.0f, 1e-30f, 0.1f, 100.0f};
  for (int i = 0; i < 8; ++i) depth(i, 5) = bad[i];
  const Image<Vec3f> normals = filled(97, 61, Vec3f{0.6f, 0, -0.8f});
  const Image<float> first = noisy(Context::cpu(1), depth, normals, camera, {}, seed);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> result = noisy(context, depth, normals, camera, {}, seed);
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(std::isnan(result(i, 5))) << bad[i];
    int different = 0;
    for (std::int64_t i = 0; i < result.pixels().size(); ++i) {
      different += std::memcmp(result.pixels().data() + i, first.pixels().data() + i, 4) != 0;
    }
    EXPECT_LE(different, context.is_cpu() ? 0 : 1);
  }
  const Image<float> other = noisy(Context::cpu(), depth, normals, camera, {}, seed + 1);
  EXPECT_NE(std::memcmp(other.pixels().data(), first.pixels().data(), 97 * 61 * 4), 0);
}

TEST(KinectNoise, WithoutNoiseNothingChanges) {
  KinectNoiseOptions off;
  off.step_per_m = off.sigma_per_m = off.edge_loss = 0;
  off.shadow = false;
  const Image<float> depth = filled(20, 10, 1.37f);
  for (const Context& context : testing::all_contexts()) {
    const Image<float> result = noisy(context, depth, {}, narrow(20, 10), off, 3);
    for (const float z : result.pixels().host()) ASSERT_FLOAT_EQ(z, 1.37f);
  }
}

TEST(KinectNoise, Misuse) {
  using testing::error_message;
  using testing::mentions;
  const Context cpu = Context::cpu();
  const Image<float> depth = filled(20, 10, 1.0f);
  const auto message = [&](const Camera& camera, const KinectNoiseOptions& options) {
    return error_message(
        [&] { add_kinect_noise(cpu, depth, ImageView<const Vec3f>{}, camera, options, 0); });
  };
  EXPECT_TRUE(mentions(message(narrow(10, 10), {}), "depth_m"));
  Camera blind = narrow(20, 10);
  blind.fx_px = 0;
  EXPECT_FALSE(message(blind, {}).empty());
  KinectNoiseOptions odd;
  odd.grazing_start_rad = 1.5f;
  EXPECT_TRUE(mentions(message(narrow(20, 10), odd), "grazing_start_rad"));
  odd = {};
  odd.edge_loss = NAN;
  EXPECT_TRUE(mentions(message(narrow(20, 10), odd), "edge_loss"));
  Image<float> same = filled(20, 10, 1.0f);
  EXPECT_TRUE(mentions(error_message([&] {
                         add_kinect_noise_into(cpu, same, ImageView<const Vec3f>{}, narrow(20, 10),
                                               {}, 0, same);
                       }),
                       "noisy_m"));
  EXPECT_FALSE(error_message([&] {
                 add_kinect_noise(cpu, ImageView<const float>{}, ImageView<const Vec3f>{},
                                  narrow(20, 10), {}, 0);
               }).empty());
}

}  // namespace
}  // namespace sextant
