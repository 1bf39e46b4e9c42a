// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant {

/// An AprilTag of the dictionary tag36h11 in a photograph.
struct TagSighting {
  std::int32_t id = 0;
  /// Corners of its black square, as one reads it: upper left, upper right, lower right, lower
  /// left.
  std::array<Vec2d, 4> corners_px;
};

/// Tags of the dictionary: their numbers are below this.
inline constexpr std::int32_t kTagCount = 587;
/// Cells of a tag's picture along a side: a white cell, a black one, six of the code, a black and a
/// white one. Its black square has two less.
inline constexpr int kTagCells = 10;

/// Whether this build can draw and find tags: whether it was configured where libapriltag is.
bool can_find_tags();

/// The tags in a photograph on the host, ascending by number, then by place; a tag that is there
/// twice comes twice. Each must be whole, and so large and sharp that its cells can be told apart.
/// Runs on one thread of the host; the same bits every time. Throws Error where can_find_tags() is
/// false.
std::vector<TagSighting> find_tags(const ImageView<const std::uint8_t>& grey);

/// How wide the edges of a tag's black square are in the photograph, from a tenth of the way to
/// white to nine tenths, in pixels: 2 in a sharp photograph. Of the two directions the wider one,
/// as a moving camera blurs along its way. NaN where the tag is too small to tell.
double tag_edge_px(const ImageView<const std::uint8_t>& grey, const TagSighting& tag);

/// The tag with this number: kTagCells × kTagCells pixels, black (0) or white (255).
Image<std::uint8_t> tag_cells(std::int32_t id);

}  // namespace sextant
