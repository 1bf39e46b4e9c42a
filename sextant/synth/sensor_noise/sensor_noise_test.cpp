// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/sensor_noise.h"

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
                   const Camera& camera, const SensorNoiseOptions& options, std::uint64_t seed) {
  const Image<float> d = copy(context, depth);
  const Image<Vec3f> n = copy(context, normals);
  return to_host(context, add_sensor_noise(context, d, n, camera, options, seed));
}

int holes(const Image<float>& image) {
  int count = 0;
  for (const float z : image.pixels().host()) count += std::isnan(z);
  return count;
}

SensorNoiseOptions independent() { return sensor_noise(SensorModel::kIndependent); }

double standard_normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(SensorNoise, StepsAndSpreadOfIndependentNoiseAreThoseOfTheFormula) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr int kSide = 300;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const float z : {1.0f, 2.0f, 3.5f}) {
      SCOPED_TRACE(z);
      const SensorNoiseOptions options = independent();
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
      const double step = options.step_per_m, sigma = options.white_per_m / step;
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

TEST(SensorNoise, SameBitsEverywhereAndBadDataIsAHole) {
  const std::uint64_t seed = testing::seed_of_test();
  const Camera camera{97, 61, 80, 80, 48, 30, {}};
  Image<float> depth(Context::cpu(), 97, 61);
  for (int i = 0; i < 97 * 61; ++i) {
    depth.pixels().data()[i] = 0.5f + 1.4f * Random{seed, std::uint64_t(i / 40)}.uniform(0);
  }
  const float bad[] = {NAN, INFINITY, -INFINITY, -1.0f, 0.0f, 1e-30f, 0.1f, 100.0f};
  for (int i = 0; i < 8; ++i) depth(i, 5) = bad[i];
  const Image<Vec3f> normals = filled(97, 61, Vec3f{0.9f, 0, -0.4f});
  for (const Choice<SensorModel>& model : kSensorModels) {
    SCOPED_TRACE(model.name);
    SensorNoiseOptions options = sensor_noise(model.value);
    options.shadow_min_px = 0;
    const Image<float> first = noisy(Context::cpu(1), depth, normals, camera, options, seed);
    EXPECT_GT(holes(first), 8);
    EXPECT_LT(holes(first), 97 * 61);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Image<float> result = noisy(context, depth, normals, camera, options, seed);
      for (int i = 0; i < 8; ++i) EXPECT_TRUE(std::isnan(result(i, 5))) << bad[i];
      EXPECT_EQ(std::memcmp(result.pixels().data(), first.pixels().data(), 97 * 61 * 4), 0);
    }
    const Image<float> other = noisy(Context::cpu(), depth, normals, camera, options, seed + 1);
    EXPECT_NE(std::memcmp(other.pixels().data(), first.pixels().data(), 97 * 61 * 4), 0);
  }
}

TEST(SensorNoise, IndependentPixelsErrAsBefore) {
  // What earlier versions gave for this seed, so that figures of papers stay comparable.
  SensorNoiseOptions options = independent();
  const Image<float> result =
      noisy(Context::cpu(), filled(5, 1, 1.5f), {}, narrow(5, 1), options, 42);
  for (int u = 0; u < 5; ++u) {
    const double step = options.step_per_m;
    const double inverse =
        1 / 1.5 + double{options.white_per_m} * Random{42, static_cast<std::uint64_t>(u)}.normal(0);
    EXPECT_FLOAT_EQ(result(u, 0),
                    static_cast<float>(1 / (step * std::floor(inverse / step + 0.5))));
  }
}

TEST(SensorNoise, DepthIsRoundedAfterTheDisparity) {
  const std::uint64_t seed = testing::seed_of_test();
  for (const SensorModel model : {SensorModel::kKinect, SensorModel::kKinectRegistered,
                                  SensorModel::kRealsense, SensorModel::kRealsenseNear}) {
    const SensorNoiseOptions options = sensor_noise(model);
    const Image<float> result =
        noisy(Context::cpu(), filled(60, 50, 0.9f), {}, narrow(60, 50), options, seed);
    EXPECT_EQ(holes(result), 0);
    for (const float z : result.pixels().host()) {
      const double steps = double{z} / double{options.depth_step_m};
      ASSERT_NEAR(steps, std::round(steps), 2e-3);  // half an ulp of z is 3e-8 m, a step 1.25e-4
      if (options.step_per_m == 0) continue;
      // Some disparity of whole steps gives this depth: half a step of depth away at most.
      const double k = std::round(1 / (double{z} * double{options.step_per_m}));
      ASSERT_NEAR(1 / (k * double{options.step_per_m}), z, 0.51 * double{options.depth_step_m});
    }
  }
}

TEST(SensorNoise, WithoutNoiseNothingChanges) {
  SensorNoiseOptions off;
  off.step_per_m = off.depth_step_m = off.flying_share = 0;
  off.sigma_per_m = off.sigma_relative = off.warp_per_m = 0;
  off.shadow = false;
  const Image<float> depth = filled(20, 10, 1.37f);
  for (const Context& context : testing::all_contexts()) {
    const Image<float> result = noisy(context, depth, {}, narrow(20, 10), off, 3);
    for (const float z : result.pixels().host()) ASSERT_FLOAT_EQ(z, 1.37f);
  }
}

TEST(SensorNoise, Misuse) {
  using testing::error_message;
  using testing::mentions;
  const Context cpu = Context::cpu();
  const Image<float> depth = filled(20, 10, 1.0f);
  const auto message = [&](const Camera& camera, const SensorNoiseOptions& options) {
    return error_message(
        [&] { add_sensor_noise(cpu, depth, ImageView<const Vec3f>{}, camera, options, 0); });
  };
  EXPECT_TRUE(mentions(message(narrow(10, 10), {}), "depth_m"));
  Camera blind = narrow(20, 10);
  blind.fx_px = 0;
  EXPECT_FALSE(message(blind, {}).empty());
  SensorNoiseOptions odd;
  odd.grazing_start_rad = 1.5f;
  EXPECT_TRUE(mentions(message(narrow(20, 10), odd), "grazing_start_rad"));
  odd = {};
  odd.edge_loss = NAN;
  EXPECT_TRUE(mentions(message(narrow(20, 10), odd), "edge_loss"));
  Image<float> same = filled(20, 10, 1.0f);
  EXPECT_TRUE(mentions(error_message([&] {
                         Workspace workspace;
                         add_sensor_noise_into(cpu, same, ImageView<const Vec3f>{}, narrow(20, 10),
                                               {}, 0, same, workspace);
                       }),
                       "noisy_m"));
  EXPECT_FALSE(error_message([&] {
                 add_sensor_noise(cpu, ImageView<const float>{}, ImageView<const Vec3f>{},
                                  narrow(20, 10), {}, 0);
               }).empty());
}

}  // namespace
}  // namespace sextant
