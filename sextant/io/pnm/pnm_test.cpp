// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/pnm.h"

#include <gtest/gtest.h>

#include "tests/error_message.h"
#include "tests/make_image.h"

namespace sextant {
namespace {

using testing::error_message;
using testing::mentions;
using namespace std::string_literals;

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Pnm, ReadsSixteenBitsMostSignificantFirst) {
  const std::string file =
      "P5\n# a comment\n3 2 # another\n4095\n\x01\x02\x00\x00\x0f\xff\x00\x01\x02\x00\x03\x04"s;
  const Image<std::uint16_t> read = read_grey16_pgm(bytes(file), "x.pgm");
  ASSERT_EQ(read.width(), 3);
  ASSERT_EQ(read.height(), 2);
  const std::uint16_t expected[] = {258, 0, 4095, 1, 512, 772};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(read(i % 3, i / 3), expected[i]);
  const ImageInfo info = pnm_info(bytes(file), "x.pgm");
  EXPECT_EQ(info.format, ImageFormat::kPgm);
  EXPECT_EQ(info.channels, 1);
  EXPECT_EQ(info.bit_depth, 16);
}

TEST(Pnm, ReadsNumbersInText) {
  const std::string file = "P2 3 1 65535\n1 65535\n # rest\n 40\n";
  const Image<std::uint16_t> read = read_grey16_pgm(bytes(file), "x.pgm");
  EXPECT_EQ(read(0, 0), 1);
  EXPECT_EQ(read(1, 0), 65535);
  EXPECT_EQ(read(2, 0), 40);
}

TEST(Pnm, PicturesAreScaledToTheirLargestValue) {
  EXPECT_EQ(read_pnm(bytes("P5 2 1 100 "s + "\x32\x64"s), "x.pgm")(0, 0), (Rgb8{128, 128, 128}));
  EXPECT_EQ(read_pnm(bytes("P6 1 1 255\n\x0a\x14\x1e"s), "x.ppm")(0, 0), (Rgb8{10, 20, 30}));
  EXPECT_EQ(read_pnm(bytes("P3 1 1 3\n3 0 1"s), "x.ppm")(0, 0), (Rgb8{255, 0, 85}));
  EXPECT_EQ(pnm_info(bytes("P3 1 1 3\n3 0 1"s), "x.ppm").format, ImageFormat::kPpm);
}

TEST(Pnm, ReadsBackWhatItWrote) {
  const auto image = testing::make_image<std::uint16_t>(
      31, 17, [](int u, int v) { return static_cast<std::uint16_t>(2113 * u + 65535 * v); });
  const std::vector<std::byte> file = encode_pgm(image.view(), "x.pgm");
  const Image<std::uint16_t> read = read_grey16_pgm(file, "x.pgm");
  for (int v = 0; v < 17; ++v) {
    for (int u = 0; u < 31; ++u) ASSERT_EQ(read(u, v), image(u, v));
  }
}

TEST(Pnm, RefusesWithTheReason) {
  const auto refusal = [](const std::string& file) {
    return error_message([&] { read_grey16_pgm(bytes(file), "x.pgm"); });
  };
  EXPECT_TRUE(mentions(refusal("P5 2 1 255\n\x01\x02"), "PGM of 8 bits"));
  EXPECT_TRUE(mentions(refusal("P6 2 1 65535\n"s), "PPM of 16 bits"));
  EXPECT_TRUE(mentions(refusal("P5 2 1 300\n\x01\x02\x01"s), "need 4 bytes, but 3 are left"));
  // Bytes in the wrong order.
  EXPECT_TRUE(mentions(refusal("P5 2 1 300\n\x01\x02\x07\x01"s), "pixel (1, 0) is 1793"));
  EXPECT_TRUE(mentions(refusal("P5 2 1 300\n\x01\x02\x01\x01more"s), "goes on for 4 bytes"));
  EXPECT_TRUE(mentions(refusal("P5 2 1 70000\n"), "largest value is above 65535"));
  EXPECT_TRUE(mentions(refusal("P5 2"), "ends before its height"));
  EXPECT_TRUE(mentions(refusal("P5 2 x 300\n"), "has no height"));
  EXPECT_TRUE(mentions(refusal("P2 2 1 300\n1 -5"), "has no pixel"));
  EXPECT_TRUE(mentions(refusal("P2 2 1 300\n1 1.5"), "pixel is not a whole number"));
  EXPECT_TRUE(mentions(refusal("P5 0 1 300\n"), "is empty"));
  EXPECT_TRUE(mentions(refusal("P5 65535 65535 300\n"), "too many"));
  EXPECT_TRUE(mentions(refusal("P4 2 1\n"), "is not a PGM or PPM file"));
}

}  // namespace
}  // namespace sextant
