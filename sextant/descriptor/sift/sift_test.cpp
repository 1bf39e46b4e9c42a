// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/sift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "tests/each_device.h"
#include "tests/sift_features.h"

namespace sextant {
namespace {

using testing::Blob;
using testing::blob_image;
using testing::blobs_for_sift;
using testing::descriptor_cosine;
using testing::keypoints_of;
using testing::make_image;
using testing::scattered_blobs;
using testing::seed_of_test;

constexpr double kTurn = 2 * std::numbers::pi;

TEST(Sift, FindsABlobWhereItIsAndAsLargeAsItIs) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    // With k = 2^(1/3) between scales, the difference of the blob blurred by kσ and by σ is
    // a / (a + k² σ²) - a / (a + σ²) of its height, which is largest for σ² = a / k. Here a is the
    // blob's variance less the 0.25 px² that images are taken to have already, and 0.1875 px² more
    // from interpolation. A parabola through samples one step of scale apart is off by up to 2 %,
    // one through pixels of the octave by up to 0.04 of them.
    for (const double sigma : {1.8, 2.5, 4.0, 6.3, 11.0, 17.5}) {
      for (const double height : {90.0, -90.0}) {
        SCOPED_TRACE(::testing::Message() << "sigma " << sigma << ", height " << height);
        const std::vector<Blob> blobs{{81.37, 78.81, sigma, height}};
        const auto image = make_image<float>(160, 150, [&](int u, int v) {
          return static_cast<float>(testing::brightness(blobs, u, v));
        });
        const SiftFeatures found = testing::sift_on(context, image);
        ASSERT_GE(found.count, 1);
        const double expected = std::sqrt((sigma * sigma - 0.0625) / std::exp2(1.0 / 3));
        for (const SiftKeypoint& keypoint : keypoints_of(found)) {
          const double pixel = std::exp2(keypoint.octave);
          EXPECT_NEAR(keypoint.u_px, 81.37, 0.04 * pixel);
          EXPECT_NEAR(keypoint.v_px, 78.81, 0.04 * pixel);
          EXPECT_NEAR(keypoint.sigma_px, expected, 0.02 * expected);
          const double ratio_sq = std::exp2(2.0 / 3) * expected * expected;
          const double a = sigma * sigma - 0.0625;
          const double response =
              90.0 / 255 * std::abs(a / (a + ratio_sq) - a / (a + expected * expected));
          EXPECT_NEAR(keypoint.response, response, 0.02 * response);
        }
      }
    }
  }
}

TEST(Sift, AnglesGoFromDarkToBrightClockwise) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    // A low blob on a steep slope: all gradients are near that of the slope, as many on one side of
    // it as on the other. A slope has no difference of scales.
    for (const double angle : {0.0, 0.7, 2.0, 3.5, 5.9}) {
      const std::vector<Blob> blobs{{40, 40, 4, 15}};
      const auto image = make_image<float>(81, 81, [&](int u, int v) {
        const double slope = 6 * (std::cos(angle) * (u - 40) + std::sin(angle) * (v - 40));
        return static_cast<float>(testing::brightness(blobs, u, v) + slope);
      });
      const SiftFeatures found = testing::sift_on(context, image, {.contrast = 0.01});
      ASSERT_EQ(found.count, 1);
      const SiftKeypoint& keypoint = found.keypoints.host()[0];
      EXPECT_NEAR(keypoint.u_px, 40, 0.04);
      EXPECT_NEAR(keypoint.v_px, 40, 0.04);
      EXPECT_GE(keypoint.angle_rad, 0);
      EXPECT_LT(keypoint.angle_rad, kTurn);
      // A tenth of a bin: what is within a bin of 10° counts as its middle.
      EXPECT_NEAR(std::remainder(keypoint.angle_rad - angle, kTurn), 0, 0.0175) << angle;
    }
  }
}

TEST(Sift, QuarterTurnsTurnEverything) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    // Doubling is symmetric, so that the first octave turns with the image; the next ones begin
    // with every other pixel, which are other ones after a turn.
    const int width = 140, height = 110;
    const Image<std::uint8_t> image = blobs_for_sift(width, height);
    const auto turned = make_image<std::uint8_t>(
        height, width, [&](int u, int v) { return image(v, height - 1 - u); });
    const SiftOptions options{.octaves = 1};
    const SiftFeatures a = testing::sift_on(context, image, options);
    const SiftFeatures b = testing::sift_on(context, turned, options);
    ASSERT_GT(a.count, 50);
    EXPECT_EQ(a.count, b.count);
    int partners = 0;
    for (int i = 0; i < a.count; ++i) {
      const SiftKeypoint& p = keypoints_of(a)[i];
      for (int j = 0; j < b.count; ++j) {
        const SiftKeypoint& q = keypoints_of(b)[j];
        // (u, v) went to (height - 1 - v, u), and directions a quarter clockwise.
        if (std::hypot(q.u_px - (height - 1 - p.v_px), q.v_px - p.u_px) > 1e-2) continue;
        if (std::abs(std::remainder(q.angle_rad - p.angle_rad - kTurn / 4, kTurn)) > 1e-2) continue;
        EXPECT_NEAR(q.sigma_px, p.sigma_px, 1e-3 * p.sigma_px);
        EXPECT_GT(
            descriptor_cosine(a.bytes.data() + i * kSiftLength, b.bytes.data() + j * kSiftLength),
            0.999);
        ++partners;
        break;
      }
    }
    // Sums in another order let one in a hundred cross a limit.
    EXPECT_GE(partners, a.count * 99 / 100);
  }
}

/// How many features of b, nearest to those of a by descriptor and clearly so, are where they
/// should.
struct Matched {
  int matches = 0, right = 0;
};
template <class Map>
Matched match(const SiftFeatures& a, const SiftFeatures& b, double scale, double turn,
              const Map& to_b) {
  Matched result;
  for (int i = 0; i < a.count; ++i) {
    double best = -1, second = -1;
    int nearest = 0;
    for (int j = 0; j < b.count; ++j) {
      const double c =
          descriptor_cosine(a.bytes.data() + i * kSiftLength, b.bytes.data() + j * kSiftLength);
      if (c > best) {
        second = best;
        best = c;
        nearest = j;
      } else if (c > second) {
        second = c;
      }
    }
    if (std::acos(std::min(best, 1.0)) > 0.8 * std::acos(std::min(second, 1.0))) continue;
    ++result.matches;
    const SiftKeypoint& p = keypoints_of(a)[i];
    const SiftKeypoint& q = keypoints_of(b)[nearest];
    const Vec2d at = to_b(p.u_px, p.v_px);
    const bool right = std::hypot(q.u_px - at.x, q.v_px - at.y) < 1.5 * scale &&
                       std::abs(std::log(q.sigma_px / (p.sigma_px * scale))) < 0.2 &&
                       std::abs(std::remainder(q.angle_rad - p.angle_rad - turn, kTurn)) < 0.2;
    result.right += right;
  }
  return result;
}

TEST(Sift, FollowsRotationAndScale) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const std::vector<Blob> blobs = scattered_blobs(200, 160, 500, seed_of_test());
    const SiftFeatures still = testing::sift_on(context, blob_image(200, 160, blobs));
    for (const auto& motion : {std::pair{1.0, 0.6}, {1.37, 0.0}, {1.9, 2.5}}) {
      const double scale = motion.first, turn = motion.second;
      SCOPED_TRACE(::testing::Message() << "scale " << scale << ", turn " << turn);
      const int side = 480;
      const auto moved_place = [&](double u, double v) {
        const double x = scale * (u - 100), y = scale * (v - 80);
        return Vec2d{side / 2.0 + std::cos(turn) * x - std::sin(turn) * y,
                     side / 2.0 + std::sin(turn) * x + std::cos(turn) * y};
      };
      std::vector<Blob> moved_blobs;
      for (const Blob& blob : blobs) {
        const Vec2d at = moved_place(blob.u_px, blob.v_px);
        moved_blobs.push_back({at.x, at.y, scale * blob.sigma_px, blob.height});
      }
      const SiftFeatures moved = testing::sift_on(context, blob_image(side, side, moved_blobs));
      const Matched matched = match(still, moved, scale, turn, moved_place);
      EXPECT_GT(matched.matches, still.count / 2);
      // Blobs look much like other blobs of another size.
      EXPECT_GT(matched.right, matched.matches * 90 / 100) << "of " << matched.matches;
    }
  }
}

TEST(Sift, IsOrderedAndHasNothingTwice) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const SiftFeatures found = testing::sift_on(context, blobs_for_sift(300, 200));
    const auto keypoints = keypoints_of(found);
    ASSERT_GT(keypoints.size(), 100u);
    for (std::size_t i = 1; i < keypoints.size(); ++i) {
      const SiftKeypoint& a = keypoints[i - 1];
      const SiftKeypoint& b = keypoints[i];
      const auto rank = [](const SiftKeypoint& k) {
        const double pixel = std::exp2(k.octave);
        // The pixel of a doubled image beside a place in the image.
        const auto nearest = [&](float x) { return std::lround((x + 0.25) / pixel); };
        return std::tuple(k.octave, k.layer, nearest(k.v_px), nearest(k.u_px), k.angle_rad);
      };
      EXPECT_LT(rank(a), rank(b)) << i;
    }
  }
}

TEST(Sift, MostKeepsTheStrongest) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<std::uint8_t> image = blobs_for_sift(300, 200);
    const SiftFeatures all = testing::sift_on(context, image);
    ASSERT_GT(all.count, 300);
    std::vector<float> responses;
    for (const SiftKeypoint& keypoint : keypoints_of(all)) responses.push_back(keypoint.response);
    std::sort(responses.begin(), responses.end(), std::greater<>());
    for (const int most : {1, 100, 299, all.count, all.count + 1}) {
      const SiftFeatures some = testing::sift_on(context, image, {.most = most});
      ASSERT_EQ(some.count, std::min(most, all.count));
      std::vector<float> kept;
      // Each is among all, in the same order and with the same descriptor.
      int j = 0;
      for (int i = 0; i < some.count; ++i, ++j) {
        kept.push_back(keypoints_of(some)[i].response);
        while (j < all.count && std::memcmp(&keypoints_of(all)[j], &keypoints_of(some)[i],
                                            sizeof(SiftKeypoint)) != 0) {
          ++j;
        }
        ASSERT_LT(j, all.count);
        EXPECT_EQ(std::memcmp(all.bytes.data() + j * kSiftLength,
                              some.bytes.data() + i * kSiftLength, kSiftLength),
                  0);
      }
      std::sort(kept.begin(), kept.end(), std::greater<>());
      EXPECT_TRUE(std::equal(kept.begin(), kept.end(), responses.begin()));
    }
  }
}

TEST(Sift, MaskLeavesOutWhatItCovers) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<std::uint8_t> image = blobs_for_sift(200, 150);
    const auto mask = make_image<std::uint8_t>(
        200, 150, [](int u, int v) { return std::uint8_t{u > 90 && v < 100}; });
    const SiftFeatures all = testing::sift_on(context, image);
    const SiftFeatures some = testing::sift_on(context, image, {}, mask);
    std::vector<SiftKeypoint> expected;
    for (const SiftKeypoint& keypoint : keypoints_of(all)) {
      if (mask(static_cast<int>(std::lround(keypoint.u_px)),
               static_cast<int>(std::lround(keypoint.v_px))) != 0) {
        expected.push_back(keypoint);
      }
    }
    ASSERT_GT(expected.size(), 50u);
    ASSERT_LT(expected.size(), static_cast<std::size_t>(all.count));
    ASSERT_EQ(static_cast<std::size_t>(some.count), expected.size());
    EXPECT_EQ(
        std::memcmp(expected.data(), some.keypoints.data(), expected.size() * sizeof(SiftKeypoint)),
        0);
  }
}

TEST(Sift, NumbersFollowTheirDefinition) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<std::uint8_t> image = blobs_for_sift(150, 120);
    const SiftFeatures bytes = testing::sift_on(context, image);
    const SiftFeatures floats = testing::sift_on(context, image, {.numbers = SiftNumbers::kFloats});
    const SiftFeatures roots =
        testing::sift_on(context, image, {.numbers = SiftNumbers::kFloats, .root = true});
    const SiftFeatures none = testing::sift_on(context, image, {.numbers = SiftNumbers::kNone});
    ASSERT_GT(bytes.count, 50);
    ASSERT_EQ(bytes.count, floats.count);
    ASSERT_EQ(none.count, floats.count);
    EXPECT_TRUE(bytes.floats.empty());
    EXPECT_TRUE(floats.bytes.empty());
    EXPECT_TRUE(none.bytes.empty() && none.floats.empty());
    for (int i = 0; i < bytes.count; ++i) {
      const float* row = floats.floats.data() + i * kSiftLength;
      double length_sq = 0, sum = 0, root_length_sq = 0;
      for (int k = 0; k < kSiftLength; ++k) {
        length_sq += double(row[k]) * row[k];
        sum += row[k];
      }
      EXPECT_NEAR(length_sq, 1, 1e-5);
      for (int k = 0; k < kSiftLength; ++k) {
        const double byte = std::min(std::floor(512.0 * row[k] + 0.5), 255.0);
        ASSERT_NEAR(bytes.bytes.data()[i * kSiftLength + k], byte, 0.0);
        const float root = roots.floats.data()[i * kSiftLength + k];
        ASSERT_NEAR(root, std::sqrt(row[k] / sum), 1e-5);
        root_length_sq += double(root) * root;
      }
      EXPECT_NEAR(root_length_sq, 1, 1e-5);
    }
  }
}

TEST(Sift, FastSettingFindsFewerAndCoarser) {
  for (const Context& context : testing::each_device()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<std::uint8_t> image = blobs_for_sift(300, 200);
    const SiftFeatures all = testing::sift_on(context, image);
    const SiftFeatures fast = testing::sift_on(context, image, fast_sift_options());
    EXPECT_GT(fast.count, 20);
    EXPECT_LT(fast.count, all.count / 2);
    for (const SiftKeypoint& keypoint : keypoints_of(fast)) EXPECT_GE(keypoint.octave, 0);
  }
}

}  // namespace
}  // namespace sextant
