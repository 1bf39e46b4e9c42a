// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <new>

#include "apps/sextant/subcommands.h"
#include "sextant/core/build_config.h"
#include "sextant/core/error.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int run(int argc, char** argv) {
  CLI::App app{"Sextant finds known objects in depth maps and photographs."};
  app.set_version_flag("--version", std::string("sextant ") + sextant::kVersion);
  app.require_subcommand(1);
  app.footer(
      "\n'sextant COMMAND --help' explains a command and shows an example.\n"
      "Exit status: 0 done, 1 failed (the reason is one line on stderr), 2 wrong usage.");
  sextant::app::add_devices(app);
  sextant::app::add_info(app);
  sextant::app::add_convert(app);
  sextant::app::add_synth(app);
  sextant::app::add_depth(app);
  sextant::app::add_normals(app);
  sextant::app::add_curvature(app);
  sextant::app::add_mesh(app);
  sextant::app::add_segment(app);
  sextant::app::add_describe(app);
  sextant::app::add_reproduce(app);
  if (argc == 1) {
    fmt::print("{}", app.help());
    return 0;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    // Without this an unknown command would only be said to be missing.
    if (app.get_subcommands().empty() && argv[1][0] != '-') {
      fmt::print(stderr, "sextant: there is no command '{}'; run 'sextant --help'\n", argv[1]);
      return kWrongUsage;
    }
    fmt::print(stderr, "sextant: {}\nRun 'sextant --help' or 'sextant COMMAND --help'.\n",
               error.what());
    return kWrongUsage;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "sextant: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "sextant: {}\n", error.what());
  }
  return kFailed;
}
