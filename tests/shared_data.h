// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace sextant::testing {

/// The root of the checkout that the tests were built from.
const char* source_dir();
/// The folder of the running program.
std::filesystem::path folder_of_tests();

/// Whether this variable of the environment is 1. SEXTANT_REQUIRE_DATA=1 and SEXTANT_REQUIRE_CUDA=1
/// are for machines that have captured data and a GPU: what a test would skip then fails.
inline bool is_required(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) == "1";
}

/// A file of the captured data that lies beside a checkout or where SEXTANT_SHARED_DATA points;
/// nothing when it is not there. The test then skips, or has failed if data is required.
inline std::optional<std::filesystem::path> shared_data(const char* relative) {
  const char* root = std::getenv("SEXTANT_SHARED_DATA");
  const std::filesystem::path folder =
      root ? std::filesystem::path(root)
           : std::filesystem::path(source_dir()) / ".." / "shared" / "data";
  const std::filesystem::path path = folder / relative;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path;
  if (is_required("SEXTANT_REQUIRE_DATA")) ADD_FAILURE() << path << " is not there";
  return std::nullopt;
}

}  // namespace sextant::testing
