// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/tag_board.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sextant/core/error.h"
#include "sextant/io/json_file.h"

namespace sextant {

namespace {

using nlohmann::json;

constexpr double kSmallest_m = 1e-3, kLargest_m = 10;
constexpr std::int32_t kTagsOfDictionary = 587;
constexpr const char* kKeys[] = {"dictionary", "width_m", "height_m", "tag_m",
                                 "ruler_m",    "free_m",  "tags"};

const json& value_of(const json& document, const char* key, const std::string& name) {
  const auto found = document.find(key);
  require(found != document.end(), name, ": the key \"", key, "\" is missing");
  return *found;
}

double number_of(const json& value, const std::string& what) {
  require(value.is_number(), what, " is no number");
  const double number = value.get<double>();
  require(std::isfinite(number) && std::abs(number) <= kLargest_m, what, ": ", number,
          " is no length of a board in metres");
  return number;
}

double length_of(const json& document, const char* key, const std::string& name) {
  const double length = number_of(value_of(document, key, name), name + ": \"" + key + "\"");
  require(length >= kSmallest_m, name, ": \"", key, "\": ", length,
          " is no length of a board in metres");
  return length;
}

BoardTag tag_from_json(const json& entry, std::size_t number, const std::string& name) {
  const std::string where = name + ": tag " + std::to_string(number);
  require(
      entry.is_object() && entry.size() == 2 && entry.contains("id") && entry.contains("corners_m"),
      where, ": expected the keys \"id\" and \"corners_m\"");
  const json& id = entry["id"];
  require(id.is_number_integer() && id.get<std::int64_t>() >= 0 &&
              id.get<std::int64_t>() < kTagsOfDictionary,
          where, ": \"id\" is none of the ", kTagsOfDictionary, " tags of tag36h11");
  BoardTag tag;
  tag.id = static_cast<std::int32_t>(id.get<std::int64_t>());
  const json& corners = entry["corners_m"];
  require(corners.is_array() && corners.size() == 4, where, ": \"corners_m\" has not four corners");
  for (std::size_t i = 0; i < 4; ++i) {
    require(corners[i].is_array() && corners[i].size() == 2, where, ": corner ", i,
            " has not two numbers");
    tag.corners_m[i] = {number_of(corners[i][0], where + ": \"corners_m\""),
                        number_of(corners[i][1], where + ": \"corners_m\"")};
  }
  return tag;
}

double length(const Vec2d& v) { return std::hypot(v.x, v.y); }

/// A tag is a square that one reads from above: its corners follow each other clockwise.
void check_tag(const TagBoard& board, const BoardTag& tag, const std::string& name) {
  const std::string where = name + ": tag with id " + std::to_string(tag.id);
  const double tolerance = 1e-3 * board.tag_m;
  Vec2d low = tag.corners_m[0], high = low;
  for (std::size_t i = 0; i < 4; ++i) {
    const Vec2d& a = tag.corners_m[i];
    const Vec2d side = tag.corners_m[(i + 1) % 4] - a;
    const Vec2d next = tag.corners_m[(i + 2) % 4] - tag.corners_m[(i + 1) % 4];
    require(std::abs(length(side) - board.tag_m) <= tolerance &&
                std::abs(dot(side, next)) <= tolerance * board.tag_m &&
                side.x * next.y - side.y * next.x < 0,
            where, ": its corners are no square of ", board.tag_m,
            " m, in the order upper left, upper right, lower right, lower left");
    low = {std::min(low.x, a.x), std::min(low.y, a.y)};
    high = {std::max(high.x, a.x), std::max(high.y, a.y)};
  }
  require(low.x >= -board.width_m / 2 - tolerance && high.x <= board.width_m / 2 + tolerance &&
              low.y >= -board.height_m / 2 - tolerance && high.y <= board.height_m / 2 + tolerance,
          where, ": lies outside the sheet of ", board.width_m, " x ", board.height_m, " m");
  require(high.x <= board.free_low_m.x + tolerance || low.x >= board.free_high_m.x - tolerance ||
              high.y <= board.free_low_m.y + tolerance || low.y >= board.free_high_m.y - tolerance,
          where, ": lies in the free area");
}

}  // namespace

TagBoard tag_board_from_json(const json& document, const std::string& name) {
  require(document.is_object(), name, ": is no board: no JSON object");
  for (const auto& item : document.items()) {
    require(std::find(std::begin(kKeys), std::end(kKeys), item.key()) != std::end(kKeys), name,
            ": unknown key \"", item.key(), "\" of a board");
  }
  TagBoard board;
  const json& dictionary = value_of(document, "dictionary", name);
  require(dictionary.is_string() && dictionary.get<std::string>() == "tag36h11", name,
          ": \"dictionary\" is not tag36h11, the one that is found");
  board.width_m = length_of(document, "width_m", name);
  board.height_m = length_of(document, "height_m", name);
  board.tag_m = length_of(document, "tag_m", name);
  if (document.contains("ruler_m")) board.ruler_m = length_of(document, "ruler_m", name);
  const json& free = value_of(document, "free_m", name);
  require(free.is_array() && free.size() == 4, name, ": \"free_m\" has not four numbers");
  double side[4];
  for (std::size_t i = 0; i < 4; ++i) side[i] = number_of(free[i], name + ": \"free_m\"");
  board.free_low_m = {side[0], side[1]};
  board.free_high_m = {side[2], side[3]};
  require(side[0] < side[2] && side[1] < side[3], name,
          ": \"free_m\" is no area; its numbers are x0, y0, x1, y1 with x0 < x1 and y0 < y1");
  const json& tags = value_of(document, "tags", name);
  require(tags.is_array() && !tags.empty(), name, ": \"tags\" is no list of tags");
  require(tags.size() <= static_cast<std::size_t>(kTagsOfDictionary), name, ": ", tags.size(),
          " tags are more than tag36h11 has");
  for (std::size_t i = 0; i < tags.size(); ++i) {
    board.tags.push_back(tag_from_json(tags[i], i, name));
    check_tag(board, board.tags.back(), name);
  }
  std::sort(board.tags.begin(), board.tags.end(),
            [](const BoardTag& a, const BoardTag& b) { return a.id < b.id; });
  for (std::size_t i = 1; i < board.tags.size(); ++i) {
    require(board.tags[i].id != board.tags[i - 1].id, name, ": two tags have the id ",
            board.tags[i].id);
  }
  return board;
}

TagBoard read_tag_board(const std::filesystem::path& path) {
  return tag_board_from_json(read_json_file(path), path.string());
}

json tag_board_to_json(const TagBoard& board) {
  json tags = json::array();
  for (const BoardTag& tag : board.tags) {
    json corners = json::array();
    for (const Vec2d& corner : tag.corners_m) corners.push_back({corner.x, corner.y});
    tags.push_back({{"id", tag.id}, {"corners_m", std::move(corners)}});
  }
  json document = {
      {"dictionary", board.dictionary},
      {"width_m", board.width_m},
      {"height_m", board.height_m},
      {"tag_m", board.tag_m},
      {"free_m",
       {board.free_low_m.x, board.free_low_m.y, board.free_high_m.x, board.free_high_m.y}},
      {"tags", std::move(tags)}};
  if (board.ruler_m > 0) document["ruler_m"] = board.ruler_m;
  return document;
}

void write_tag_board(const std::filesystem::path& path, const TagBoard& board) {
  write_json_file(path, tag_board_to_json(board));
}

TagBoard scaled(const TagBoard& board, double factor) {
  TagBoard to = board;
  to.width_m *= factor;
  to.height_m *= factor;
  to.tag_m *= factor;
  to.ruler_m *= factor;
  to.free_low_m = to.free_low_m * factor;
  to.free_high_m = to.free_high_m * factor;
  for (BoardTag& tag : to.tags) {
    for (Vec2d& corner : tag.corners_m) corner = corner * factor;
  }
  return to;
}

}  // namespace sextant
