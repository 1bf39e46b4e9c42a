// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant::app {

inline constexpr int kSignAdvance = 6;  ///< columns from one sign to the next, at scale 1
inline constexpr int kSignHeight = 7;

/// Writes digits, small letters and - . / into a picture, its upper left corner at (left, top);
/// other signs are blanks, and what lies outside the picture is cut. A sign has 5 × 7 dots, each of
/// `scale` × `scale` pixels.
void draw_text(Image<Rgb8>& picture, int left, int top, std::string_view text, const Rgb8& color,
               int scale = 1);

/// The columns that draw_text takes.
inline int text_width(std::string_view text, int scale = 1) {
  return static_cast<int>(text.size()) * kSignAdvance * scale;
}

}  // namespace sextant::app
