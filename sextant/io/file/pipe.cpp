// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <map>
#include <mutex>

#include "sextant/io/file.h"
#include "sextant/io/file/pipe.h"

namespace sextant {

namespace {

/// What pipes held, by their paths. Entries stay, so that readers need not own what they read.
struct KeptPipes {
  std::mutex mutex;
  std::map<std::filesystem::path, FileBytes> contents;
};

KeptPipes& kept_pipes() {
  static KeptPipes pipes;
  return pipes;
}

}  // namespace

void keep_pipe(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) return;
  if (detail::file::kept_bytes(path)) return;
  FileBytes bytes = read_file(path);
  KeptPipes& pipes = kept_pipes();
  const std::lock_guard lock(pipes.mutex);
  pipes.contents.emplace(path, std::move(bytes));
}

namespace detail::file {

std::optional<std::span<const std::byte>> kept_bytes(const std::filesystem::path& path) {
  KeptPipes& pipes = kept_pipes();
  const std::lock_guard lock(pipes.mutex);
  const auto found = pipes.contents.find(path);
  if (found == pipes.contents.end()) return std::nullopt;
  return found->second.span();
}

}  // namespace detail::file

}  // namespace sextant
