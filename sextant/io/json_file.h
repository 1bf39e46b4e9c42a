// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sextant {

/// Reads the document, or throws an Error that names the file, line and column of the first
/// mistake.
nlohmann::json parse_json(std::string_view text, const std::string& name);
nlohmann::json read_json_file(const std::filesystem::path& path,
                              std::int64_t max_bytes = std::int64_t{1} << 30);

/// Writes it indented by two, with a newline at the end; numbers come back exactly.
void write_json_file(const std::filesystem::path& path, const nlohmann::json& document);

}  // namespace sextant
