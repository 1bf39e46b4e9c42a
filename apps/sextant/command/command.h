// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/context.h"

namespace CLI {
class App;
}

namespace sextant {
struct Cloud;
struct TriangleMesh;
}  // namespace sextant

namespace sextant::app {

/// What every subcommand takes.
struct CommonOptions {
  std::string device = "best";
  int threads = 0;  ///< 0: as many as the process may use
  bool json = false;
};

/// Adds a subcommand with --device, --threads and --json; `example` ends its help text.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& example, CommonOptions& options);

/// The context that --device and --threads name. The device is cpu, cuda, cuda:1 or best.
Context context_for(const CommonOptions& options);

/// What a subcommand found, for programs and for people.
struct Result {
  nlohmann::json document;
  std::string text;

  /// Says in both that a file was written, or several; `key` is its name in the document.
  void wrote(const char* key, const std::string& file);
  void wrote(const char* key, const std::vector<std::string>& files);
};

/// Prints one document on stdout with --json, else the text for people.
void print_result(const CommonOptions& options, const Result& result);

/// A document as text. Bytes that are no UTF-8, as in names from other systems, become U+FFFD.
std::string dump(const nlohmann::json& document);

/// Throws a usage error unless one of the outputs has a name; `flags` says which options name them.
void require_an_output(std::initializer_list<std::string_view> files, const std::string& flags);

/// Prints a remark for people on stderr, so that stdout stays a document; that has it under
/// "notes".
void note(const std::string& text);

/// Prints a remark for each part of the geometry that the format of a file cannot hold.
void note_dropped(const std::string& file, const std::vector<std::string>& parts);

/// The same for each part of a file that a mesh has no place for.
void note_left_out(const std::string& file, const std::vector<std::string>& parts);

/// Says which origin the points of a file are about, where they are.
void note_origin(const std::string& file, const Cloud& cloud);

/// Writes geometry, with such remarks.
void write_geometry_noting(const std::string& file, const TriangleMesh& mesh);

/// Makes a folder with those it lies in, where they are not there yet.
void make_folder(const std::string& folder);

}  // namespace sextant::app
