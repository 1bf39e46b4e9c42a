// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "apps/sextant/board/board_sheet.h"
#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/subcommands.h"
#include "sextant/descriptor/tags.h"
#include "sextant/io/file.h"
#include "sextant/io/png.h"

namespace sextant::app {

namespace {

constexpr std::string_view kSheetFiles[] = {".pdf", ".png"};

struct BoardCommand {
  CommonOptions common;
  std::string size = "A4";
  double tag_m = 0;
  int first_id = 0;
  double dpi = 300;
  std::string output = "board.pdf";
};

void make(const CLI::App& flags, const BoardCommand& command) {
  const bool pdf = lower_extension(command.output) == ".pdf";
  if (pdf) refuse_flags(flags, {"--dpi"}, "a PDF has no pixels; it is for PNG");
  const std::string json =
      std::filesystem::path(command.output).replace_extension(".json").string();
  check_files({}, {{"--output", command.output, kSheetFiles}, {"--output", json, kJsonFiles}});
  const BoardSheet sheet =
      make_board_sheet(paper_of(command.size), command.tag_m, command.first_id);
  if (pdf) {
    const std::string text = board_pdf(sheet);
    write_file_atomically(command.output, std::as_bytes(std::span(text)));
  } else {
    write_png(command.output, board_picture(sheet, command.dpi));
  }
  write_tag_board(json, sheet.board);
  const TagBoard& board = sheet.board;
  const Vec2d free = board.free_high_m - board.free_low_m;
  Result result;
  result.document = {{"size", command.size},
                     {"tags", board.tags.size()},
                     {"tag_m", board.tag_m},
                     {"ruler_m", board.ruler_m},
                     {"free_m", {free.x, free.y}}};
  result.text = fmt::format(
      "{} board: {} tags of {:.4g} mm, free area {:.0f} x {:.0f} mm\n"
      "  Print it without scaling; each ruler is then {:.4g} mm long. If it is not, say so with "
      "--ruler-m.\n",
      command.size, board.tags.size(), 1e3 * board.tag_m, 1e3 * free.x, 1e3 * free.y,
      1e3 * board.ruler_m);
  result.wrote("output", command.output);
  result.wrote("board", json);
  print_result(command.common, result);
}

}  // namespace

void add_board(CLI::App& app) {
  CLI::App* board =
      app.add_subcommand("board", "Makes the printed board that photographs are learned on");
  board->require_subcommand(1);
  board->footer("\nExample:\n  sextant board make --size A4");
  auto state = std::make_shared<BoardCommand>();
  CLI::App* command = add_command(
      *board, "make",
      "The AprilTag board to print, on which an object stands to be learned from photographs",
      "sextant board make --size A4                      # board.pdf and board.json\n"
      "  sextant board make --size A3 -o large.png --dpi 600",
      state->common);
  command->add_option("--size", state->size, "of the paper: A5, A4, A3, A2, letter")
      ->check(CLI::IsMember({"A5", "A4", "A3", "A2", "letter"}))
      ->capture_default_str();
  command
      ->add_option("--tag-m", state->tag_m,
                   "side of the tags' black squares; without it what suits the paper")
      ->check(within<double>({5e-3, 1}));
  command
      ->add_option("--first-id", state->first_id,
                   "number of the first tag, so that two boards have none in common")
      ->check(within<int>({0, kTagCount - 1}))
      ->capture_default_str();
  command->add_option("--dpi", state->dpi, "dots per inch of a PNG")
      ->check(within<double>({30, 2400}))
      ->capture_default_str();
  command
      ->add_option("-o,--output", state->output,
                   "the sheet (.pdf, .png); the .json of the same name is written with it")
      ->capture_default_str();
  command->callback([state, command]() { make(*command, *state); });
}

}  // namespace sextant::app
