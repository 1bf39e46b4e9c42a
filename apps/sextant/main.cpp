// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <new>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/end_by_signal.h"
#include "apps/sextant/command/help_format.h"
#include "apps/sextant/command/streams.h"
#include "apps/sextant/command/user_words.h"
#include "apps/sextant/subcommands.h"
#include "sextant/core/build_config.h"
#include "sextant/core/error.h"

namespace {

using sextant::app::note;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int run(int argc, char** argv) {
  CLI::App app{"Sextant finds known objects in depth maps and photographs.", "sextant"};
  app.formatter(std::make_shared<sextant::app::HelpFormat>());
  app.set_version_flag("--version", std::string("sextant ") + sextant::kVersion);
  app.require_subcommand(1);
  app.footer(
      "\n'sextant COMMAND --help' explains a command and shows an example.\n"
      "Exit status: 0 done, 1 failed (the reason is one line on stderr), 2 wrong usage,\n"
      "130 interrupted (Ctrl-C), 143 terminated.");
  sextant::app::add_devices(app);
  sextant::app::add_info(app);
  sextant::app::add_convert(app);
  sextant::app::add_convert_dataset(app);
  sextant::app::add_synth(app);
  sextant::app::add_depth(app);
  sextant::app::add_normals(app);
  sextant::app::add_curvature(app);
  sextant::app::add_mesh(app);
  sextant::app::add_segment(app);
  sextant::app::add_describe(app);
  sextant::app::add_sift(app);
  sextant::app::add_align(app);
  sextant::app::add_board(app);
  sextant::app::add_learn(app);
  sextant::app::add_library(app);
  sextant::app::add_match(app);
  sextant::app::add_recognize(app);
  sextant::app::add_eval(app);
  sextant::app::add_reproduce(app);
  if (argc == 1) {
    sextant::app::print(app.help());
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::ostringstream text;
    const int status = app.exit(help, text, text);
    sextant::app::print(text.str());
    return status;
  } catch (const CLI::ParseError& error) {
    // Without this an unknown command would only be said to be missing.
    if (app.get_subcommands().empty()) {
      note(fmt::format("sextant: there is no {} '{}'; run 'sextant --help'",
                       argv[1][0] == '-' ? "option" : "command", argv[1]));
      return kWrongUsage;
    }
    note(fmt::format("sextant: {}\nRun 'sextant {} --help'.", error.what(),
                     app.get_subcommands().front()->get_name()));
    return kWrongUsage;
  } catch (const sextant::Error& error) {
    note(fmt::format("sextant: {}", sextant::app::in_user_words(app, error.what())));
    return kFailed;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  sextant::app::prepare_streams();
  sextant::app::end_by_signal();
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    note("sextant: out of memory");
  } catch (const std::exception& error) {
    note(fmt::format("sextant: {}", error.what()));
  }
  return kFailed;
}
