// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/tag_board.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/error_message.h"
#include "tests/temporary_folder.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::error_message;
using testing::mentions;

json small_board() {
  return json::parse(R"({"dictionary": "tag36h11", "width_m": 0.2, "height_m": 0.1, "tag_m": 0.02,
    "ruler_m": 0.05, "free_m": [-0.03, -0.03, 0.03, 0.03], "tags": [
      {"id": 7, "corners_m": [[0.06, 0.01], [0.08, 0.01], [0.08, -0.01], [0.06, -0.01]]},
      {"id": 3, "corners_m": [[-0.08, 0.01], [-0.06, 0.01], [-0.06, -0.01], [-0.08, -0.01]]}]})");
}

TEST(TagBoard, GoesThroughAFileAndBack) {
  const testing::TemporaryFolder folder;
  const TagBoard board = tag_board_from_json(small_board(), "b");
  ASSERT_EQ(board.tags.size(), 2u);
  EXPECT_EQ(board.tags[0].id, 3);
  EXPECT_EQ(board.tags[1].corners_m[0], (Vec2d{0.06, 0.01}));
  EXPECT_EQ(board.free_high_m, (Vec2d{0.03, 0.03}));
  write_tag_board(folder / "board.json", board);
  const TagBoard back = read_tag_board(folder / "board.json");
  EXPECT_EQ(tag_board_to_json(back), tag_board_to_json(board));
  const TagBoard larger = scaled(board, 2);
  EXPECT_EQ(larger.tag_m, 0.04);
  EXPECT_EQ(larger.ruler_m, 0.1);
  EXPECT_EQ(larger.tags[1].corners_m[2], (Vec2d{0.16, -0.02}));
  EXPECT_NO_THROW(tag_board_from_json(tag_board_to_json(larger), "b"));
}

TEST(TagBoard, SaysWhatIsWrong) {
  const auto refused = [](const char* pointer, const json& value) {
    json document = small_board();
    document[json::json_pointer(pointer)] = value;
    const std::string message = error_message([&] { tag_board_from_json(document, "b.json"); });
    EXPECT_TRUE(mentions(message, "b.json")) << pointer;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message;
  };
  EXPECT_TRUE(mentions(refused("/dictionary", "tag16h5"), "tag36h11"));
  EXPECT_TRUE(mentions(refused("/tag_m", 28), "\"tag_m\""));
  EXPECT_TRUE(mentions(refused("/tag_m", 0.021), "no square of"));
  EXPECT_TRUE(mentions(refused("/width_m", "wide"), "no number"));
  EXPECT_TRUE(mentions(refused("/colour", 1), "unknown key"));
  EXPECT_TRUE(mentions(refused("/free_m", json{1, 2}), "four numbers"));
  EXPECT_TRUE(mentions(refused("/free_m", json{0.03, 0, 0, 0.01}), "no area"));
  EXPECT_TRUE(mentions(refused("/free_m", json{-0.07, -0.03, 0.03, 0.03}), "free area"));
  EXPECT_TRUE(mentions(refused("/tags", json::array()), "no list"));
  EXPECT_TRUE(mentions(refused("/tags/0/id", 3), "two tags have the id 3"));
  EXPECT_TRUE(mentions(refused("/tags/0/id", 587), "none of the 587"));
  EXPECT_TRUE(mentions(refused("/tags/0/id", 1.5), "none of the 587"));
  EXPECT_TRUE(mentions(refused("/tags/1/corners_m/2", json{0, 0}), "no square of"));
  EXPECT_TRUE(mentions(refused("/tags/1/corners_m/2", json{0}), "two numbers"));
  EXPECT_TRUE(mentions(refused("/width_m", 0.1), "outside the sheet"));
  // The other way round: seen from behind.
  EXPECT_TRUE(mentions(
      refused("/tags/0/corners_m", json{{0.08, 0.01}, {0.06, 0.01}, {0.06, -0.01}, {0.08, -0.01}}),
      "in the order"));
  json without = small_board();
  without.erase("tags");
  EXPECT_TRUE(mentions(error_message([&] { tag_board_from_json(without, "b"); }), "missing"));
  EXPECT_TRUE(
      mentions(error_message([&] { tag_board_from_json(json::array(), "b"); }), "no board"));
}

}  // namespace
}  // namespace sextant
