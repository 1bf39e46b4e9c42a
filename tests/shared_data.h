// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace sextant::testing {

/// The root of the checkout that the tests were built from.
const char* source_dir();

/// A file of the captured data that lies beside a checkout or where SEXTANT_SHARED_DATA points;
/// nothing when it is not there, and the test then skips.
inline std::optional<std::filesystem::path> shared_data(const char* relative) {
  const char* root = std::getenv("SEXTANT_SHARED_DATA");
  const std::filesystem::path folder =
      root ? std::filesystem::path(root)
           : std::filesystem::path(source_dir()) / ".." / "shared" / "data";
  const std::filesystem::path path = folder / relative;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return path;
}

}  // namespace sextant::testing
