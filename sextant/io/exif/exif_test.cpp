// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/exif.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/io/jpeg.h"
#include "tests/error_message.h"
#include "tests/exif_jpeg.h"
#include "tests/make_image.h"

namespace sextant {
namespace {

using testing::with_orientation;

std::vector<std::byte> plain_jpeg() {
  return encode_jpeg(
      testing::make_image<Rgb8>(
          20, 10,
          [](int u, int v) {
            return Rgb8{static_cast<std::uint8_t>(u), 9, static_cast<std::uint8_t>(v)};
          }),
      "x.jpg");
}

TEST(Exif, ReadsTheOrientationInBothByteOrders) {
  const std::vector<std::byte> plain = plain_jpeg();
  EXPECT_EQ(exif_orientation(plain), 1);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {true, false}) {
      const std::vector<std::byte> file = with_orientation(plain, orientation, big_endian);
      EXPECT_EQ(exif_orientation(file), orientation);
      // The reader of pixels passes it by.
      EXPECT_EQ(read_jpeg(file, "x.jpg").width(), 20);
    }
  }
  for (const int none : {0, 9, 300}) {
    EXPECT_EQ(exif_orientation(with_orientation(plain, none)), 1);
  }
}

TEST(Exif, CutAndDamagedFilesSayNothing) {
  const std::vector<std::byte> file = with_orientation(plain_jpeg(), 6);
  EXPECT_EQ(exif_orientation({}), 1);
  const std::span<const std::byte> bytes(file);
  for (std::size_t size = 0; size < file.size(); ++size) {
    const int found = exif_orientation(bytes.first(size));
    EXPECT_TRUE(found == 1 || found == 6) << size;
  }
  std::vector<std::byte> damaged = file;
  for (std::size_t bit = 0; bit < 8 * std::min<std::size_t>(file.size(), 100); ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    damaged[bit / 8] ^= mask;
    const int found = exif_orientation(damaged);
    EXPECT_TRUE(found >= 1 && found <= 8) << bit;
    damaged[bit / 8] ^= mask;
  }
}

TEST(Exif, ReadsTheFocalLength) {
  const std::vector<std::byte> plain = plain_jpeg();
  EXPECT_EQ(exif_focal_px(plain, 4000, 3000), 0);
  EXPECT_EQ(exif_focal_px(with_orientation(plain, 6), 4000, 3000), 0);
  // A diagonal of 5000 px where film has 43.27 mm.
  EXPECT_NEAR(exif_focal_px(testing::with_focal_length(plain, 26, 0, 0), 4000, 3000), 3004.6, 0.1);
  // 5 mm on a sensor of 6000 pixels in a centimetre.
  EXPECT_NEAR(exif_focal_px(testing::with_focal_length(plain, 0, 5, 6000), 4000, 3000), 3000, 1e-6);
  EXPECT_EQ(exif_focal_px(testing::with_focal_length(plain, 0, 5, 0), 4000, 3000), 0);
  std::vector<std::byte> damaged = testing::with_focal_length(plain, 0, 5, 6000);
  const std::span<const std::byte> bytes(damaged);
  for (std::size_t size = 0; size < 140; ++size) {
    const double focal_px = exif_focal_px(bytes.first(size), 4000, 3000);
    EXPECT_TRUE(focal_px == 0 || std::abs(focal_px - 3000) < 1e-6) << size;
  }
  for (std::size_t bit = 0; bit < 8 * 140; ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    damaged[bit / 8] ^= mask;
    const double focal_px = exif_focal_px(damaged, 4000, 3000);
    EXPECT_TRUE(std::isfinite(focal_px) && focal_px >= 0) << bit;
    damaged[bit / 8] ^= mask;
  }
}

TEST(Exif, UprightPutsTheFirstRowWhereItWasSeen) {
  // Exif defines the values by where row 0 and column 0 of the pixels were seen. In a picture of 3
  // × 2 pixels, the pixel (0, 0) and the one to its right:
  const auto picture = testing::make_image<int>(3, 2, [](int u, int v) { return 10 * v + u; });
  struct Case {
    int orientation, width, first_u, first_v, next_u, next_v;
  };
  for (const Case& c : {Case{1, 3, 0, 0, 1, 0},     // row 0 on top, column 0 on the left
                        Case{2, 3, 2, 0, 1, 0},     // top, right
                        Case{3, 3, 2, 1, 1, 1},     // bottom, right
                        Case{4, 3, 0, 1, 1, 1},     // bottom, left
                        Case{5, 2, 0, 0, 0, 1},     // left, top
                        Case{6, 2, 1, 0, 1, 1},     // right, top
                        Case{7, 2, 1, 2, 1, 1},     // right, bottom
                        Case{8, 2, 0, 2, 0, 1}}) {  // left, bottom
    SCOPED_TRACE(c.orientation);
    const Image<int> turned = upright(picture.view(), c.orientation);
    ASSERT_EQ(turned.width(), c.width);
    EXPECT_EQ(turned(c.first_u, c.first_v), 0);
    EXPECT_EQ(turned(c.next_u, c.next_v), 1);
  }
  EXPECT_TRUE(testing::mentions(testing::error_message([&] { upright(picture.view(), 9); }),
                                "orientation: 9"));
}

}  // namespace
}  // namespace sextant
