// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <system_error>

#include "sextant/core/error.h"

// What reading and writing files ask of the system.

namespace sextant::detail::file {

/// The kernel moves at most about 2 GiB in one call; pieces of this size stay well below.
inline constexpr std::size_t kLargestTransferBytes = std::size_t{1} << 30;

/// The system's words for an error number.
inline std::string reason(int error_number) {
  return std::generic_category().message(error_number);
}

/// Bytes that are not set to anything; Error with the file's name when there is no memory.
inline std::unique_ptr<std::byte[]> allocate(std::size_t bytes, const std::string& name) {
  try {
    return std::make_unique_for_overwrite<std::byte[]>(bytes);
  } catch (const std::bad_alloc&) {
    fail(name, ": no memory for ", bytes, " bytes");
  }
}

/// Opens a file and tries again when a signal came between; -1 and errno when it cannot be opened.
inline int open_retrying(const std::filesystem::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

}  // namespace sextant::detail::file
