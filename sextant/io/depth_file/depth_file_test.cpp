// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/depth_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/io/file.h"
#include "sextant/io/png.h"
#include "sextant/io/pnm.h"
#include "sextant/io/tiff.h"
#include "tests/error_message.h"
#include "tests/make_image.h"
#include "tests/shared_data.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::make_image;
using testing::mentions;
using testing::TemporaryFolder;

/// A hole at (0, 0), from 0.5 m to 1.2 m otherwise, in whole millimetres.
Image<float> table() {
  return make_image<float>(24, 30, [](int u, int v) {
    return u == 0 && v == 0 ? NAN : static_cast<float>(0.001 * (500 + u * v));
  });
}

bool same(const Image<float>& a, const Image<float>& b, float most = 0) {
  for (std::size_t i = 0; i < a.pixels().host().size(); ++i) {
    const float x = a.pixels().host()[i], y = b.pixels().host()[i];
    if (std::isnan(x) != std::isnan(y) || std::abs(x - y) > most) return false;
  }
  return a.width() == b.width() && a.height() == b.height();
}

TEST(DepthFile, GoesRoundThroughEveryFormat) {
  const TemporaryFolder folder;
  const Image<float> depth_m = table();
  for (const char* name : {"a.png", "a.pgm", "a.PGM", "a.tif", "a.TIFF"}) {
    write_depth(folder / name, depth_m);
    EXPECT_TRUE(same(read_depth(folder / name), depth_m)) << name;
  }
  write_depth(folder / "fine.pgm", depth_m, 0.0002);
  EXPECT_TRUE(same(read_depth(folder / "fine.pgm", {.unit_m = 0.0002}), depth_m, 2e-7f));
  EXPECT_TRUE(mentions(error_message([&] { write_depth(folder / "a.tif", depth_m, 0.001); }),
                       "takes no unit"));
  EXPECT_TRUE(mentions(error_message([&] { write_depth(folder / "a.jpg", depth_m); }),
                       ".png, .pgm, .tif or .tiff"));
}

TEST(DepthFile, FloatsAreMetresAndIntegersMillimetres) {
  const auto metres =
      make_image<float>(3, 1, [](int u, int) { return static_cast<float>(0.75 + 0.25 * u); });
  const auto steps = make_image<std::uint16_t>(
      3, 1, [](int u, int) { return static_cast<std::uint16_t>(750 + 250 * u); });
  for (const auto& file :
       {encode_tiff(metres.view(), "x"), encode_tiff(steps.view(), "x"), encode_pgm(steps, "x")}) {
    const Image<float> read = read_depth(file, "x");
    for (int u = 0; u < 3; ++u) EXPECT_FLOAT_EQ(read(u, 0), metres(u, 0));
  }
}

TEST(DepthFile, WhatIsNoDepthIsAHole) {
  const auto metres = make_image<float>(6, 1, [](int u, int) {
    const float values[] = {1.0f, 0.0f, -1.0f, NAN, INFINITY, 2.0f};
    return values[u];
  });
  const Image<float> read = read_depth(encode_tiff(metres.view(), "x.tif"), "x.tif");
  EXPECT_EQ(read(0, 0), 1.0f);
  for (int u = 1; u < 5; ++u) EXPECT_TRUE(std::isnan(read(u, 0))) << u;
  EXPECT_EQ(read(5, 0), 2.0f);
}

TEST(DepthFile, AsksForTheUnitWhenTheMedianIsHardToBelieve) {
  const TemporaryFolder folder;
  const Image<float> depth_m = table();
  write_depth(folder / "depth.png", depth_m);
  const auto refusal = [&](double camera_unit_m) {
    return error_message(
        [&] { read_depth(folder / "depth.png", {.camera_unit_m = camera_unit_m}); });
  };
  // depth_scale is in millimetres: 0.001 and 1000 are what a reader of metres would write there.
  const std::string small = refusal(0.001 / 1000);
  EXPECT_TRUE(mentions(small, (folder / "depth.png").string() + ": its median depth is 0.000"));
  EXPECT_TRUE(mentions(small, "at 1e-06 m a step"));
  EXPECT_TRUE(mentions(small, "--unit-m 0.001 for millimetres"));
  EXPECT_TRUE(mentions(refusal(1000.0 / 1000), "at 1 m a step"));
  EXPECT_TRUE(same(read_depth(folder / "depth.png", {.camera_unit_m = 0.001}), depth_m, 2e-7f));
  // The caller's word counts, before the camera's, and is not doubted.
  EXPECT_GT(read_depth(folder / "depth.png", {.unit_m = 1, .camera_unit_m = 0.001})(5, 5), 500.0f);
  // Floats in millimetres.
  Image<float> millimetres = table();
  for (float& z : millimetres.pixels().host()) z *= 1000;
  write_depth(folder / "mm.tif", millimetres);
  EXPECT_TRUE(mentions(error_message([&] { read_depth(folder / "mm.tif"); }), "at 1 m a step"));
  EXPECT_TRUE(same(read_depth(folder / "mm.tif", {.unit_m = 0.001}), depth_m, 2e-7f));
  EXPECT_TRUE(mentions(refusal(1e7), "depth.png: its unit of 1e+07 m"));
}

TEST(DepthFile, TheLimitsAreFiveCentimetresAndFiftyMetres) {
  const auto at = [](float z_m) {
    const auto depth_m = make_image<float>(3, 1, [=](int, int) { return z_m; });
    return read_depth(encode_tiff(depth_m.view(), "x.tif"), "x.tif")(0, 0);
  };
  EXPECT_EQ(at(0.0501f), 0.0501f);
  EXPECT_EQ(at(49.9f), 49.9f);
  EXPECT_THROW(at(0.0499f), Error);
  EXPECT_THROW(at(50.1f), Error);
  // The upper median of an even number counts.
  const auto of_two = [](float a, float b) {
    const auto depth_m = make_image<float>(2, 1, [=](int u, int) { return u == 0 ? a : b; });
    return believable_depth(depth_m);
  };
  EXPECT_TRUE(of_two(0.01f, 1.0f));
  EXPECT_FALSE(of_two(1.0f, 60.0f));
  // A map of holes has no median to doubt.
  EXPECT_TRUE(std::isnan(at(0.0f)));
}

TEST(DepthFile, PicturesAreRefusedWithWhatTheyAre) {
  const auto colour = make_image<Rgb8>(4, 4, [](int, int) { return Rgb8{1, 2, 3}; });
  const std::string message =
      error_message([&] { read_depth(encode_png(colour.view(), "x.png"), "x.png"); });
  EXPECT_TRUE(mentions(message, "x.png: is a picture (PNG, 3 x 8 bit), not a depth map"));
}

TEST(DepthFile, ReadsCapturedFrames) {
  const auto frame =
      testing::shared_data("pcl_kinect/grabber_frames/frame_20121214T142255.814212_depth.tiff");
  if (!frame) GTEST_SKIP() << "the captured data is not here";
  // A Kinect in an office.
  const Image<float> depth_m = read_depth(*frame);
  EXPECT_EQ(depth_m.width(), 640);
  EXPECT_GT(median_depth_m(depth_m), 0.6f);
  EXPECT_LT(median_depth_m(depth_m), 3.0f);
}

}  // namespace
}  // namespace sextant
