// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "sextant/core/context.h"

namespace sextant {
struct TriangleMesh;
}

namespace sextant::app {

/// What every subcommand takes.
struct CommonOptions {
  std::string device = "best";
  bool json = false;
};

/// Adds a subcommand with --device and --json; `example` ends its help text.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& example, CommonOptions& options);

/// The context that --device names: cpu, cuda, cuda:1 or best.
Context context_for(const std::string& device);

/// With --json the one document on stdout, else the text for people.
void print_result(const CommonOptions& options, const nlohmann::json& document,
                  const std::string& text);

/// A remark for people: on stderr, so that stdout stays a document.
void note(const std::string& text);

/// Writes geometry, with a remark for each part that the format cannot hold.
void write_geometry_noting(const std::string& file, const TriangleMesh& mesh);

}  // namespace sextant::app
