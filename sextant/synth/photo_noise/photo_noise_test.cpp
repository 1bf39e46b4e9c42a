// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/photo_noise.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/devices.h"
#include "tests/error_message.h"

namespace sextant {
namespace {

Image<Rgb8> plain(int width, int height, const Rgb8& color) {
  Image<Rgb8> image(Context::cpu(), width, height);
  for (Rgb8& pixel : image.pixels().host()) pixel = color;
  return image;
}

TEST(PhotoNoise, NoNoiseKeepsEveryByte) {
  Image<Rgb8> ramp(Context::cpu(), 256, 1);
  for (int i = 0; i < 256; ++i) ramp(i, 0) = {std::uint8_t(i), std::uint8_t(255 - i), 7};
  const Image<Rgb8> same = add_photo_noise(Context::cpu(), ramp, {0, 0, 0}, 1);
  for (int i = 0; i < 256; ++i) EXPECT_EQ(same(i, 0), ramp(i, 0));
  const Image<Rgb8> blurred =
      add_photo_noise(Context::cpu(), plain(9, 5, {10, 100, 200}), {1.5f, 0, 0}, 1);
  for (const Rgb8& color : blurred.pixels().host()) EXPECT_EQ(color, (Rgb8{10, 100, 200}));
}

TEST(PhotoNoise, AnEdgeBecomesAnErrorFunction) {
  Image<Rgb8> edge = plain(60, 4, {});
  for (int v = 0; v < 4; ++v) {
    for (int u = 30; u < 60; ++u) edge(u, v) = {255, 255, 255};
  }
  constexpr double kSigma = 2;
  const Image<Rgb8> blurred = add_photo_noise(Context::cpu(), edge, {float{kSigma}, 0, 0}, 1);
  for (int u = 0; u < 60; ++u) {
    const double light = 0.5 * std::erfc(-(u - 29.5) / (kSigma * std::sqrt(2.0)));
    // The kernel is cut at three deviations (0.3 % of the light), sampled, and a byte is rounded;
    // in the dark a little light is many bytes.
    const double got = std::pow(blurred(u, 2).x / 255.0, 2.2);
    EXPECT_NEAR(got, light, 0.006) << u;
  }
}

TEST(PhotoNoise, DeviatesByShotAndReadNoise) {
  const std::uint64_t seed = testing::seed_of_test();
  constexpr double kWell = 500, kRead = 8;
  for (const int level : {60, 128, 200}) {
    const auto grey = static_cast<std::uint8_t>(level);
    const Image<Rgb8> image = add_photo_noise(Context::cpu(), plain(128, 128, {grey, grey, grey}),
                                              {0, float{kWell}, float{kRead}}, seed);
    double sum = 0, sum_sq = 0;
    for (const Rgb8& color : image.pixels().host()) {
      for (const double value : {double(color.x), double(color.y), double(color.z)}) {
        const double light = std::pow(value / 255, 2.2);
        sum += light;
        sum_sq += light * light;
      }
    }
    constexpr double kCount = 3 * 128 * 128;
    const double light = std::pow(level / 255.0, 2.2);
    const double expected = std::sqrt(light * kWell + kRead * kRead) / kWell;
    const double mean = sum / kCount;
    // Five standard errors, and 1 % for the rounding to bytes and the clipping at black and white.
    EXPECT_NEAR(mean, light, 5 * expected / std::sqrt(kCount) + 0.01 * light);
    EXPECT_NEAR(std::sqrt(sum_sq / kCount - mean * mean), expected, 0.02 * expected);
  }
}

TEST(PhotoNoise, SameBitsForAnyNumberOfThreads) {
  const Image<Rgb8> image = plain(50, 40, {90, 120, 30});
  const Image<Rgb8> one = add_photo_noise(Context::cpu(1), image, {}, 5);
  for (const int threads : {2, 7}) {
    const Image<Rgb8> many = add_photo_noise(Context::cpu(threads), image, {}, 5);
    EXPECT_EQ(std::memcmp(one.pixels().data(), many.pixels().data(), 50 * 40 * 3), 0);
  }
  EXPECT_TRUE(add_photo_noise(Context::cpu(), ImageView<const Rgb8>{}, {}, 5).empty());
  PhotoNoiseOptions odd;
  odd.blur_px = -1;
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { add_photo_noise(Context::cpu(), image, odd, 5); }), "blur_px"));
}

}  // namespace
}  // namespace sextant
