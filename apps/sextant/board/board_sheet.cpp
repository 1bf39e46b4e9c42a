// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/board/board_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sextant/core/error.h"
#include "sextant/descriptor/tags.h"

namespace sextant::app {

namespace {

constexpr double kMargin_m = 0.008;      ///< where printers do not print
constexpr double kTagShare = 1 / 7.5;    ///< of the shorter side
constexpr double kLeastGapShare = 0.35;  ///< between tags: each has a white cell around it
constexpr double kRulerStrip_m = 0.008;  ///< between the tags and the free area
constexpr double kLine_m = 0.0003;
constexpr double kLetter_m = 0.0025;

/// Where the low sides of the tags along a side of the paper are.
std::vector<double> places_along(double paper_m, double tag_m, const std::string& paper) {
  const double room = paper_m - 2 * kMargin_m;
  const int count =
      static_cast<int>((room + kLeastGapShare * tag_m) / (tag_m * (1 + kLeastGapShare)));
  require(count >= 3, "tag_m: ", tag_m, " leaves no room for three tags along each side of ",
          paper);
  std::vector<double> places;
  places.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    places.push_back(-room / 2 + i * (room - tag_m) / (count - 1));
  }
  return places;
}

BoardTag tag_at(std::int32_t id, const Vec2d& low, double tag_m) {
  const Vec2d high{low.x + tag_m, low.y + tag_m};
  return {id, {{{low.x, high.y}, high, {high.x, low.y}, low}}};
}

/// A tag as its black square with its white cells upon it.
void add_tag_ink(const BoardTag& tag, double tag_m, std::vector<Ink>& ink) {
  const Vec2d& low = tag.corners_m[3];
  ink.push_back({low, tag.corners_m[1], false});
  const Image<std::uint8_t> cells = tag_cells(tag.id);
  const double cell = tag_m / (kTagCells - 2);
  for (int v = 1; v + 1 < kTagCells; ++v) {
    const double bottom = low.y + cell * (kTagCells - 2 - v);
    for (int u = 1; u + 1 < kTagCells;) {
      int end = u;
      while (cells(end, v) != 0) ++end;  // the black border ends every run
      if (end > u) {
        ink.push_back(
            {{low.x + cell * (u - 1), bottom}, {low.x + cell * (end - 1), bottom + cell}, true});
      }
      u = end + 1;
    }
  }
}

/// A line with a tick every centimetre, along x or along y, from `from` on.
void add_ruler(const Vec2d& from, bool along_y, double length_m, std::vector<Ink>& ink) {
  const auto add = [&](double a0, double b0, double a1, double b1) {
    const Vec2d low = along_y ? Vec2d{b0, a0} : Vec2d{a0, b0};
    const Vec2d high = along_y ? Vec2d{b1, a1} : Vec2d{a1, b1};
    ink.push_back({from + low, from + high, false});
  };
  add(0, 0, length_m, kLine_m);
  const int ticks = static_cast<int>(std::lround(length_m / 0.01));
  for (int i = 0; i <= ticks; ++i) {
    const double at = 0.01 * i, tall = i == 0 || i == ticks ? 0.003 : 0.0015;
    // The ruler's ends are the outer sides of its first and last tick.
    const double low = std::clamp(at - kLine_m / 2, 0.0, length_m - kLine_m);
    add(low, 0, low + kLine_m, tall);
  }
}

}  // namespace

Paper paper_of(const std::string& name) {
  const Paper papers[] = {{"A5", 0.148, 0.210},
                          {"A4", 0.210, 0.297},
                          {"A3", 0.297, 0.420},
                          {"A2", 0.420, 0.594},
                          {"letter", 0.2159, 0.2794}};
  for (const Paper& paper : papers) {
    if (paper.name == name) return paper;
  }
  fail("size: '", name, "' is none of A5, A4, A3, A2, letter");
}

BoardSheet make_board_sheet(const Paper& paper, double tag_m, int first_id) {
  BoardSheet sheet;
  TagBoard& board = sheet.board;
  board.width_m = paper.width_m;
  board.height_m = paper.height_m;
  // Whole millimetres are easily measured.
  board.tag_m = tag_m > 0 ? tag_m : 1e-3 * std::floor(1e3 * kTagShare * paper.width_m);
  const std::vector<double> x = places_along(paper.width_m, board.tag_m, paper.name);
  const std::vector<double> y = places_along(paper.height_m, board.tag_m, paper.name);
  std::vector<Vec2d> lows;
  lows.reserve(2 * (x.size() + y.size()));
  for (const double at : x) lows.push_back({at, y.back()});
  for (std::size_t i = y.size() - 1; i-- > 0;) lows.push_back({x.back(), y[i]});
  for (std::size_t i = x.size() - 1; i-- > 0;) lows.push_back({x[i], y[0]});
  for (std::size_t i = 1; i + 1 < y.size(); ++i) lows.push_back({x[0], y[i]});
  require(first_id >= 0 && first_id + static_cast<int>(lows.size()) <= kTagCount,
          "first_id: ", first_id, " leaves fewer than the ", lows.size(), " tags of the board");
  for (const Vec2d& low : lows) {
    const auto id = first_id + static_cast<std::int32_t>(board.tags.size());
    board.tags.push_back(tag_at(id, low, board.tag_m));
    add_tag_ink(board.tags.back(), board.tag_m, sheet.ink);
  }
  const double cell = board.tag_m / (kTagCells - 2);
  const double inset = kMargin_m + board.tag_m + cell + kRulerStrip_m;
  board.free_high_m = {paper.width_m / 2 - inset, paper.height_m / 2 - inset};
  board.free_low_m = board.free_high_m * -1.0;
  const double room = 2 * std::min(board.free_high_m.x, board.free_high_m.y);
  require(room >= 0.02, "tag_m: ", board.tag_m, " leaves no free area on ", paper.name);
  board.ruler_m = room >= 0.1 ? 0.1 : room >= 0.05 ? 0.05 : 0.02;
  const double half = board.ruler_m / 2;
  const Vec2d below{-half, board.free_low_m.y - kRulerStrip_m + 0.003};
  add_ruler(below, false, board.ruler_m, sheet.ink);
  add_ruler({board.free_low_m.x - kRulerStrip_m + 0.003, -half}, true, board.ruler_m, sheet.ink);
  const std::string what =
      fmt::format("sextant {} {:.4g} mm tags {}-{}", paper.name, 1e3 * board.tag_m, first_id,
                  first_id + static_cast<int>(board.tags.size()) - 1);
  sheet.labels.push_back(
      {{below.x, below.y - 0.0035},
       kLetter_m,
       fmt::format("{:.4g} mm if printed in true size - {}", 1e3 * board.ruler_m, what)});
  return sheet;
}

}  // namespace sextant::app
