// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/disparity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/core/graph.h"
#include "tests/devices.h"

namespace sextant {
namespace {

/// Every 16-bit value once.
Image<std::uint16_t> all_values() {
  Image<std::uint16_t> image(Context::cpu(), 256, 256);
  for (int k = 0; k < 65536; ++k) image(k % 256, k / 256) = static_cast<std::uint16_t>(k);
  return image;
}

TEST(KinectDisparity, FollowsTheFormulaForEveryRawValue) {
  const KinectDisparityOptions options;
  const Image<float> reference = depth_from_kinect_disparity(Context::cpu(1), all_values());
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<std::uint16_t> raw = copy(context, all_values());
    const Image<float> depth = to_host(context, depth_from_kinect_disparity(context, raw, options));
    for (int k = 0; k < 65536; ++k) {
      const float got = depth(k % 256, k / 256);
      if (k >= 1090) {
        ASSERT_TRUE(std::isnan(got)) << k;
        continue;
      }
      const double exact = 8 * 0.075 * 580 / (1090.0 - k);
      ASSERT_NEAR(got, exact, 2.5e-7 * exact) << k;
      ASSERT_EQ(got, reference(k % 256, k / 256)) << k;
    }
  }
}

TEST(KinectDisparity, NoReturnIsAHoleWhateverTheOffset) {
  for (const Context& context : testing::all_contexts()) {
    const Image<std::uint16_t> raw = copy(context, all_values());
    const Image<float> depth =
        to_host(context, depth_from_kinect_disparity(context, raw, {.offset = 3000}));
    EXPECT_GT(depth(2046 % 256, 2046 / 256), 0.0f);
    EXPECT_TRUE(std::isnan(depth(2047 % 256, 2047 / 256)));
    EXPECT_TRUE(std::isnan(depth(2048 % 256, 2048 / 256)));
  }
}

TEST(StereoDisparity, InvertsDepthAndMarksHoles) {
  const std::vector<float> disparity{50.0f,    1.0f,      0.0f,   -3.0f, NAN,
                                     INFINITY, -INFINITY, 1e-30f, 0.25f, 1e30f};
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<float> image(copy(context, disparity), 5, 2);
    const Image<float> depth = to_host(
        context,
        depth_from_stereo_disparity(context, image, {.baseline_m = 0.16, .focal_px = 1000}));
    EXPECT_FLOAT_EQ(depth(0, 0), 3.2f);
    EXPECT_FLOAT_EQ(depth(1, 0), 160.0f);
    EXPECT_FLOAT_EQ(depth(3, 1), 640.0f);
    for (const int hole : {2, 3, 4, 5, 6, 7}) {
      EXPECT_TRUE(std::isnan(depth(hole % 5, hole / 5))) << hole;
    }
    const Image<float> shifted = to_host(
        context, depth_from_stereo_disparity(
                     context, image, {.baseline_m = 0.16, .focal_px = 1000, .offset_px = 30}));
    EXPECT_FLOAT_EQ(shifted(0, 0), 2.0f);
  }
}

TEST(KinectDisparity, IntoWritesOnlyItsPixelsAndCanBeRecorded) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    // The output is a part of a wider image.
    const Image<std::uint16_t> raw(copy(context, std::vector<std::uint16_t>{490, 590, 690, 790}), 2,
                                   2);
    Image<float> wide =
        copy(context, Image<float>(copy(Context::cpu(), std::vector<float>(6, 7.0f)), 3, 2));
    const ImageView<float> part{wide.view().data, 2, 2, 3, wide.device()};
    const std::int64_t before = context.counters().allocations;
    const Graph graph =
        Graph::capture(context, [&] { depth_from_kinect_disparity_into(context, raw, {}, part); });
    graph.launch();
    EXPECT_EQ(context.counters().allocations, before);
    const Image<float> result = to_host(context, wide);
    EXPECT_FLOAT_EQ(result(0, 0), 0.58f);
    EXPECT_FLOAT_EQ(result(1, 1), 1.16f);
    EXPECT_EQ(result(2, 0), 7.0f);
    EXPECT_EQ(result(2, 1), 7.0f);
  }
}

TEST(KinectDisparity, BadInput) {
  for (const Context& context : testing::all_contexts()) {
    EXPECT_TRUE(depth_from_kinect_disparity(context, Image<std::uint16_t>(context, 0, 0)).empty());
    EXPECT_TRUE(depth_from_kinect_disparity(context, Image<std::uint16_t>(context, 5, 0)).empty());
    const Image<std::uint16_t> raw(context, 4, 3);
    Image<float> small(context, 3, 3);
    EXPECT_THROW(depth_from_kinect_disparity_into(context, raw, {}, small), Error);
    EXPECT_THROW(depth_from_kinect_disparity(context, raw, {.focal_px = 0}), Error);
    EXPECT_THROW(depth_from_kinect_disparity(context, raw, {.baseline_m = NAN}), Error);
  }
}

}  // namespace
}  // namespace sextant
