// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/io/tag_board.h"

// A board to print: which tags lie where, and the sheet that shows them.

namespace sextant::app {

/// A sheet of paper that boards are made for.
struct Paper {
  std::string name;
  double width_m, height_m;
};

/// A5, A4, A3, A2, letter; an Error lists the names for any other.
Paper paper_of(const std::string& name);

/// A rectangle of black or white ink in the frame of the board; later ones cover earlier ones.
struct Ink {
  Vec2d low_m, high_m;
  bool white = false;
};

/// Words whose lower left corner is given.
struct Label {
  Vec2d at_m;
  double height_m;  ///< of a capital letter
  std::string text;
};

struct BoardSheet {
  TagBoard board;
  std::vector<Ink> ink;
  std::vector<Label> labels;
};

/// Tags along the four sides of the paper, numbered from the upper left corner clockwise from
/// `first_id` on, two rulers, and a free area in the middle. `tag_m` is the side of a tag, 0 for a
/// size that suits the paper. Error where the paper has no room for three tags along each side.
BoardSheet make_board_sheet(const Paper& paper, double tag_m, int first_id);

/// The sheet with this many dots per inch.
Image<std::uint8_t> board_picture(const BoardSheet& sheet, double dpi);

/// The sheet as a PDF file of one page, in its true size. The same bytes every time.
std::string board_pdf(const BoardSheet& sheet);

}  // namespace sextant::app
