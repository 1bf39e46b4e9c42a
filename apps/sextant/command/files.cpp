// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/files.h"

#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>

#include "apps/sextant/input/file_kind.h"
#include "sextant/core/error.h"
#include "sextant/io/file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

/// What two paths to one file have in common: the number of the file and nothing else, or, of a
/// file that is not there yet, that of its folder and its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

/// None for devices (/dev/null), which any number of outputs may share, and for what cannot be.
std::optional<Identity> identity_of(const fs::path& path, int links_left = 40) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISCHR(status.st_mode)) return std::nullopt;
    return Identity{status.st_dev, status.st_ino, ""};
  }
  std::error_code error;
  const fs::path folder = path.parent_path().empty() ? "." : path.parent_path();
  if (const fs::path target = fs::read_symlink(path, error); !error && links_left > 0) {
    return identity_of(folder / target, links_left - 1);
  }
  if (::stat(folder.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino, path.filename().string()};
}

void check_extension(const OutputFile& output) {
  const std::string extension = lower_extension(output.file);
  const Extensions known = output.extensions;
  if (known.empty() || std::find(known.begin(), known.end(), extension) != known.end()) return;
  std::string names;
  for (std::size_t i = 0; i < known.size(); ++i) {
    names += i == 0 ? "" : i + 1 < known.size() ? ", " : " or ";
    names += known[i];
  }
  const std::string met = extension.empty() ? "no extension" : "the extension " + extension;
  fail(output.file, ": ", output.word, " names a file with ", met, "; it must be ", names);
}

}  // namespace

void check_files(const std::vector<InputFile>& inputs, const std::vector<OutputFile>& outputs) {
  std::vector<std::pair<Identity, std::string>> taken;
  for (const InputFile& input : inputs) {
    const auto identity = identity_of(input.file);
    if (!input.file.empty() && identity) taken.emplace_back(*identity, input.word);
  }
  for (const OutputFile& output : outputs) {
    if (output.file.empty()) continue;
    check_extension(output);
    check_writable(output.file);
    const auto identity = identity_of(output.file);
    if (!identity) continue;
    for (const auto& [other, word] : taken) {
      if (other != *identity) continue;
      throw CLI::ValidationError(output.word, output.file + " is the same file as " + word);
    }
    taken.emplace_back(*identity, output.word);
  }
}

fs::path beside(const fs::path& path, const char* part) {
  fs::path name = path.stem();
  name += std::string("_") + part;
  name += path.extension();
  return path.parent_path() / name;
}

}  // namespace sextant::app
