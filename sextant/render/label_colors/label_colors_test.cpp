// SPDX-License-Identifier: Apache-2.0
#include "sextant/render/label_colors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace sextant {
namespace {

int difference(const Rgb8& a, const Rgb8& b) {
  return std::abs(a.x - b.x) + std::abs(a.y - b.y) + std::abs(a.z - b.z);
}

TEST(LabelColors, FirstLabelsAreFarApart) {
  EXPECT_EQ(label_color(0), (Rgb8{0, 0, 0}));
  for (std::int32_t a = 0; a < 24; ++a) {
    for (std::int32_t b = 0; b < a; ++b) {
      EXPECT_GE(difference(label_color(a), label_color(b)), 24) << a << ' ' << b;
    }
    // Any three in a row are easy to tell apart.
    EXPECT_GE(difference(label_color(a), label_color(a + 1)), 150) << a;
    EXPECT_GE(difference(label_color(a), label_color(a + 2)), 100) << a;
  }
}

TEST(LabelColors, PictureShowsEachLabel) {
  const std::vector<std::int32_t> labels{0, 1, 2, -1, 2147483647, 0};
  const Image<Rgb8> picture = label_map({labels.data(), 3, 2, 3, Device{}});
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(picture(i % 3, i / 3), label_color(labels[static_cast<std::size_t>(i)]));
  }
  EXPECT_NE(picture(1, 1), (Rgb8{0, 0, 0}));
}

}  // namespace
}  // namespace sextant
