// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/tags.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_message.h"
#include "tests/make_image.h"

namespace sextant {
namespace {

/// Tags of `cell_px` a cell on white, turned about the middle, each pixel the mean of 4 x 4 places,
/// or blurred; the second lies to the right of the first.
Image<std::uint8_t> picture_of(std::int32_t first, std::int32_t second, double cell_px,
                               double turn_rad, double blur_px) {
  const Image<std::uint8_t> cells[] = {tag_cells(first), tag_cells(second)};
  const auto level = [&](double u, double v) {
    const double x =
        (std::cos(turn_rad) * (u - 199.5) + std::sin(turn_rad) * (v - 149.5)) / cell_px;
    const double y =
        (std::cos(turn_rad) * (v - 149.5) - std::sin(turn_rad) * (u - 199.5)) / cell_px;
    const int i = static_cast<int>(std::floor(x + 10)), j = static_cast<int>(std::floor(y + 5));
    if (i < 0 || i >= 20 || j < 0 || j >= 10) return 255;
    return int{cells[i / 10](i % 10, j)};
  };
  const int reach = blur_px > 0 ? static_cast<int>(std::ceil(3 * blur_px)) : 0;
  return testing::make_image<std::uint8_t>(400, 300, [&](int u, int v) {
    double sum = 0, weight = 0;
    for (int k = 0; k < (reach > 0 ? 1 : 16); ++k) {
      const double x = reach > 0 ? u : u + (k % 4 - 1.5) / 4;
      const double y = reach > 0 ? v : v + (k / 4 - 1.5) / 4;
      for (int b = -reach; b <= reach; ++b) {
        for (int a = -reach; a <= reach; ++a) {
          const double w = reach > 0 ? std::exp(-0.5 * (a * a + b * b) / (blur_px * blur_px)) : 1;
          sum += w * level(x + a, y + b);
          weight += w;
        }
      }
    }
    return static_cast<std::uint8_t>(std::lround(sum / weight));
  });
}

TEST(Tags, CornersAreWhereTheyAre) {
  if (!can_find_tags()) GTEST_SKIP() << "this build has no libapriltag";
  constexpr double kCell = 9;
  for (const double turn : {0.0, 0.3, 1.9, -2.5}) {
    const std::vector<TagSighting> tags = find_tags(picture_of(11, 480, kCell, turn, 0).view());
    ASSERT_EQ(tags.size(), 2u) << turn;
    EXPECT_EQ(tags[0].id, 11);
    EXPECT_EQ(tags[1].id, 480);
    for (int t = 0; t < 2; ++t) {
      const double corners[4][2] = {{-9, -4}, {-1, -4}, {-1, 4}, {-9, 4}};
      for (std::size_t i = 0; i < 4; ++i) {
        const double x = kCell * (corners[i][0] + 10 * t), y = kCell * corners[i][1];
        const Vec2d truth{199.5 + std::cos(turn) * x - std::sin(turn) * y,
                          149.5 + std::sin(turn) * x + std::cos(turn) * y};
        const Vec2d off = tags[static_cast<std::size_t>(t)].corners_px[i] - truth;
        // An edge that was measured a fifth of a pixel off; half a pixel would be another
        // convention of pixel centres.
        EXPECT_LT(std::hypot(off.x, off.y), 0.3) << turn << " tag " << t << " corner " << i;
      }
    }
  }
}

TEST(Tags, TheSameTagTwiceComesTwice) {
  if (!can_find_tags()) GTEST_SKIP() << "this build has no libapriltag";
  const std::vector<TagSighting> tags = find_tags(picture_of(3, 3, 8, 0, 0).view());
  ASSERT_EQ(tags.size(), 2u);
  EXPECT_EQ(tags[1].id, 3);
  EXPECT_EQ(tags[0].id, 3);
  EXPECT_NEAR(std::abs(tags[0].corners_px[0].x - tags[1].corners_px[0].x), 80, 1);
}

TEST(Tags, EdgesSayHowBlurredAPhotographIs) {
  if (!can_find_tags()) GTEST_SKIP() << "this build has no libapriltag";
  const Image<std::uint8_t> sharp = picture_of(5, 6, 9, 0.2, 0);
  const Image<std::uint8_t> blurred = picture_of(5, 6, 9, 0.2, 2);
  const std::vector<TagSighting> tags = find_tags(sharp.view());
  ASSERT_FALSE(tags.empty());
  const double before = tag_edge_px(sharp.view(), tags[0]);
  const double after = tag_edge_px(blurred.view(), tags[0]);
  EXPECT_LT(before, 2.5);
  // A Gaussian of deviation 2 rises from a tenth to nine tenths over 2.56 of it.
  EXPECT_NEAR(after, 5.1, 1.3);
  TagSighting tiny = tags[0];
  for (Vec2d& corner : tiny.corners_px) corner = corner * 0.05;
  EXPECT_TRUE(std::isnan(tag_edge_px(sharp.view(), tiny)));
}

TEST(Tags, NothingThereIsNothing) {
  if (!can_find_tags()) {
    EXPECT_TRUE(testing::mentions(testing::error_message([] { tag_cells(0); }), "libapriltag-dev"));
    return;
  }
  EXPECT_TRUE(find_tags({}).empty());
  for (const int size : {1, 3, 17, 40}) {
    const Image<std::uint8_t> flat =
        testing::make_image<std::uint8_t>(size, size, [](int, int) { return std::uint8_t{90}; });
    EXPECT_TRUE(find_tags(flat.view()).empty()) << size;
  }
  EXPECT_TRUE(testing::mentions(testing::error_message([] { tag_cells(587); }), "587"));
}

}  // namespace
}  // namespace sextant
