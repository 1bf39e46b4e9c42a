// SPDX-License-Identifier: Apache-2.0
// `sextant sift` as a script uses it.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sextant/core/device.h"
#include "sextant/descriptor/sift.h"
#include "sextant/io/file.h"
#include "sextant/io/jpeg.h"
#include "sextant/io/npy.h"
#include "sextant/io/png.h"
#include "tests/blob_image.h"
#include "tests/each_device.h"
#include "tests/end_to_end/command_line.h"
#include "tests/exif_jpeg.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::make_image;
using testing::Outcome;

constexpr int kWidth = 160;
constexpr int kHeight = 120;

class SiftCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const auto blobs = testing::scattered_blobs(kWidth, kHeight, kWidth * kHeight / 25, 11);
    grey_ = testing::blob_image(kWidth, kHeight, blobs);
    write_png(folder_ / "grey.png", grey_);
    const std::vector<std::byte> jpeg = encode_jpeg(grey_, "x", {.quality = 100});
    write_file_atomically(folder_ / "photo.jpg", jpeg);
    write_file_atomically(folder_ / "held.jpg", testing::with_orientation(jpeg, 6));
  }

  json sift(const std::string& arguments) const {
    const Outcome outcome = run("sift " + arguments + " --json");
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json();
  }

  Image<std::uint8_t> grey_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SiftCli, WritesWhatTheLibraryFinds) {
  const json document = sift("grey.png --out k.npy --picture found.png");
  ASSERT_TRUE(document.is_object());
  const SiftFeatures expected = compute_sift(Context::cpu(), grey_);
  ASSERT_GT(expected.count, 50);
  EXPECT_EQ(document.at("keypoints"), expected.count);
  EXPECT_EQ(document.at("width"), kWidth);
  EXPECT_EQ(document.at("device"), "cpu");
  EXPECT_EQ(document.at("options").at("layers"), 3);
  EXPECT_EQ(document.at("outputs"), json::array({"k.npy", "k_descriptors.npy", "found.png"}));
  const NpyArray<float> keypoints = read_npy<float>(folder_ / "k.npy");
  ASSERT_EQ(keypoints.shape, (std::vector<std::int64_t>{expected.count, 7}));
  for (std::size_t i = 0; i < static_cast<std::size_t>(expected.count); ++i) {
    const SiftKeypoint& k = expected.keypoints.host()[i];
    const float* row = keypoints.values.data() + 7 * i;
    // Of equal channels, weights of the luma leave an error of rounding.
    EXPECT_NEAR(row[0], k.u_px, 1e-3);
    EXPECT_NEAR(row[1], k.v_px, 1e-3);
    EXPECT_NEAR(row[2], k.sigma_px, 1e-3 * k.sigma_px);
    EXPECT_NEAR(row[3], k.angle_rad, 1e-2);
    EXPECT_NEAR(row[4], k.response, 1e-5);
    EXPECT_EQ(row[5], static_cast<float>(k.octave));
    EXPECT_EQ(row[6], static_cast<float>(k.layer));
  }
  const NpyArray<std::uint8_t> descriptors = read_npy<std::uint8_t>(folder_ / "k_descriptors.npy");
  ASSERT_EQ(descriptors.shape, (std::vector<std::int64_t>{expected.count, 128}));
  for (std::size_t i = 0; i < descriptors.values.size(); ++i) {
    ASSERT_NEAR(descriptors.values[i], expected.bytes.host()[i], 2) << i;
  }
  const Image<Rgb8> picture = read_png(folder_ / "found.png");
  ASSERT_EQ(picture.width(), kWidth);
  int yellow = 0, red = 0;
  for (const Rgb8& c : picture.pixels().host()) {
    yellow += c == Rgb8{255, 210, 0};
    red += c == Rgb8{255, 40, 40};
  }
  EXPECT_GT(yellow, 1000);
  EXPECT_GT(red, 300);
}

TEST_F(SiftCli, RunsOnCuda) {
  if (testing::cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  const auto mask = make_image<std::uint8_t>(
      kWidth, kHeight, [](int u, int) { return std::uint8_t(u > 40 ? 255 : 0); });
  write_png(folder_ / "mask.png", mask);
  for (const char* flags :
       {"", "--mask mask.png --most 60", "--numbers floats", "--numbers none"}) {
    const std::string arguments = std::string("grey.png ") + flags;
    const json expected = sift(arguments + " --out e.npy --device cpu");
    const json document = sift(arguments + " --out k.npy --picture found.png --device cuda");
    ASSERT_TRUE(document.is_object());
    EXPECT_EQ(document.at("device"), "cuda:0");
    const int count = expected.at("keypoints").get<int>();
    EXPECT_NEAR(document.at("keypoints").get<int>(), count, 2 + count / 200);
    EXPECT_EQ(read_npy<float>(folder_ / "k.npy").shape[0], document.at("keypoints"));
  }
}

TEST_F(SiftCli, FollowsExifUnlessToldNotTo) {
  const json still = sift("photo.jpg --out still.npy");
  const json held = sift("held.jpg --out held.npy --picture held.png");
  const json sensor = sift("held.jpg --no-upright --out sensor.npy");
  EXPECT_EQ(still.at("orientation"), 1);
  EXPECT_EQ(held.at("orientation"), 6);
  EXPECT_EQ(held.at("upright"), true);
  EXPECT_EQ(sensor.at("upright"), false);
  EXPECT_EQ(held.at("width"), kHeight);
  EXPECT_EQ(held.at("height"), kWidth);
  EXPECT_EQ(read_png(folder_ / "held.png").width(), kHeight);
  const NpyArray<float> a = read_npy<float>(folder_ / "still.npy");
  EXPECT_EQ(a.values, read_npy<float>(folder_ / "sensor.npy").values);
  // A quarter clockwise takes (u, v) to (height - 1 - v, u) and adds a quarter to the angle.
  const NpyArray<float> b = read_npy<float>(folder_ / "held.npy");
  int first_octave = 0, partners = 0;
  for (std::size_t i = 0; i < a.values.size(); i += 7) {
    if (a.values[i + 5] != -1) continue;
    ++first_octave;
    for (std::size_t j = 0; j < b.values.size(); j += 7) {
      const double turn = b.values[j + 3] - a.values[i + 3] - std::numbers::pi / 2;
      partners += std::hypot(b.values[j] - (kHeight - 1 - a.values[i + 1]),
                             b.values[j + 1] - a.values[i]) < 0.05 &&
                  std::abs(std::remainder(turn, 2 * std::numbers::pi)) < 0.05;
    }
  }
  ASSERT_GT(first_octave, 30);
  EXPECT_GE(partners, first_octave * 9 / 10);
}

TEST_F(SiftCli, OptionsCount) {
  EXPECT_EQ(sift("grey.png --most 20 --out a.npy").at("keypoints"), 20);
  const json fast = sift("grey.png --fast --out a.npy");
  EXPECT_EQ(fast.at("options").at("doubled"), false);
  EXPECT_EQ(fast.at("options").at("layers"), 2);
  const json mixed = sift("grey.png --fast --layers 4 --out a.npy");
  EXPECT_EQ(mixed.at("options").at("layers"), 4);
  EXPECT_EQ(mixed.at("options").at("doubled"), false);
  sift("grey.png --numbers floats --root --out roots.npy");
  const NpyArray<float> roots = read_npy<float>(folder_ / "roots_descriptors.npy");
  double length_sq = 0;
  for (int i = 0; i < 128; ++i) length_sq += std::pow(double(roots.values.at(i)), 2);
  EXPECT_NEAR(length_sq, 1, 1e-5);
  EXPECT_EQ(sift("grey.png --numbers none --out bare.npy").at("outputs"),
            json::array({"bare.npy"}));
  write_png(folder_ / "mask.png", make_image<std::uint8_t>(kWidth, kHeight, [](int u, int) {
              return static_cast<std::uint8_t>(u < 80 ? 255 : 0);
            }));
  sift("grey.png --mask mask.png --out masked.npy");
  const NpyArray<float> masked = read_npy<float>(folder_ / "masked.npy");
  ASSERT_GT(masked.values.size(), 0u);
  for (std::size_t i = 0; i < masked.values.size(); i += 7) EXPECT_LT(masked.values[i], 79.5f);
}

TEST_F(SiftCli, NothingToFindIsNoError) {
  write_png(folder_ / "flat.png",
            make_image<std::uint8_t>(1, 1, [](int, int) { return std::uint8_t{7}; }));
  EXPECT_EQ(sift("flat.png --out none.npy").at("keypoints"), 0);
  EXPECT_EQ(read_npy<float>(folder_ / "none.npy").shape, (std::vector<std::int64_t>{0, 7}));
}

TEST_F(SiftCli, RefusesWrongUse) {
  Outcome outcome = run("sift grey.png");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(contains(outcome.err, "--out or --picture"));
  outcome = run("sift grey.png --out k.npy --layers 0");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(contains(outcome.err, "layers"));
  outcome = run("sift grey.png --out k.npy --numbers none --root");
  EXPECT_EQ(outcome.status, 2);
  outcome = run("sift grey.png --out k.txt");
  EXPECT_NE(outcome.status, 0);
  EXPECT_TRUE(contains(outcome.err, ".npy"));
  outcome = run("sift missing.png --out k.npy");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "missing.png"));
  write_png(folder_ / "small.png",
            make_image<std::uint8_t>(10, 10, [](int, int) { return std::uint8_t{255}; }));
  outcome = run("sift grey.png --mask small.png --out k.npy");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(contains(outcome.err, "mask: is 10 x 10"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "k.npy"));
}

TEST_F(SiftCli, SixteenBitsCount) {
  // A blob of less than two steps of 8 bits, which 16 bits resolve.
  const std::vector<testing::Blob> blobs{{40, 30, 4, 1.9}};
  Image<float> level(Context::cpu(), 80, 60);
  for (int v = 0; v < 60; ++v) {
    for (int u = 0; u < 80; ++u) {
      level(u, v) = static_cast<float>(testing::brightness(blobs, u, v) * 257 * 0.001);
    }
  }
  write_depth_png(folder_ / "deep.png", level, {.unit_m = 0.001});
  const json document = sift("deep.png --contrast 0.002 --out deep.npy");
  // A round blob has no direction of its own, so that there may be several. Its contrast is what
  // the formula of SiftTest gives: 0.1150 of its height; steps of 8 bits would make another shape
  // of it.
  EXPECT_GE(document.at("keypoints"), 1);
  const NpyArray<float> found = read_npy<float>(folder_ / "deep.npy");
  for (std::size_t i = 0; i < found.values.size(); i += 7) {
    EXPECT_NEAR(found.values[i], 40, 0.05);
    EXPECT_NEAR(found.values[i + 1], 30, 0.05);
    EXPECT_NEAR(found.values[i + 4], 0.1150 * 1.9 / 255, 0.02 * 0.1150 * 1.9 / 255);
  }
}

}  // namespace
}  // namespace sextant
