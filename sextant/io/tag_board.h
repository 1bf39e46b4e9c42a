// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sextant/core/vec.h"

namespace sextant {

/// A tag of a board: where the corners of its black square are, as one reads it: upper left, upper
/// right, lower right, lower left.
struct BoardTag {
  std::int32_t id = 0;
  std::array<Vec2d, 4> corners_m;
};

/// A printed board with AprilTags around a free area for an object. The origin is the board's
/// middle, x points right and y up the sheet as one reads it, z out of the sheet towards the
/// reader.
struct TagBoard {
  std::string dictionary = "tag36h11";
  double width_m = 0, height_m = 0;  ///< of the sheet
  Vec2d free_low_m, free_high_m;     ///< corners of the area without print
  double tag_m = 0;                  ///< side of a tag's black square
  double ruler_m = 0;                ///< length of the printed rulers; 0 where there are none
  std::vector<BoardTag> tags;        ///< ascending by their numbers
};

/// The board of board.json:
///
///   {"dictionary": "tag36h11", "width_m": 0.21, "height_m": 0.297, "tag_m": 0.028,
///    "ruler_m": 0.1, "free_m": [x0, y0, x1, y1],
///    "tags": [{"id": 0, "corners_m": [[x, y], [x, y], [x, y], [x, y]]}, …]}
///
/// An Error names the file, the key and what is wrong with it: an unknown dictionary, a number that
/// is no length, tags that are no squares of the size tag_m, that overlap the free area or lie
/// outside the sheet, and numbers of tags that are there twice.
TagBoard tag_board_from_json(const nlohmann::json& document, const std::string& name);
TagBoard read_tag_board(const std::filesystem::path& path);

nlohmann::json tag_board_to_json(const TagBoard& board);
void write_tag_board(const std::filesystem::path& path, const TagBoard& board);

/// The board as it is when it was printed larger or smaller.
TagBoard scaled(const TagBoard& board, double factor);

}  // namespace sextant
