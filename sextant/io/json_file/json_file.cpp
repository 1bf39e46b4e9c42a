// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/json_file.h"

#include <nlohmann/json.hpp>

#include "sextant/core/error.h"
#include "sextant/io/file.h"

namespace sextant {

nlohmann::json parse_json(std::string_view text, const std::string& name) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    // The part in brackets at the front is nlohmann's number for the kind of error.
    const std::string_view message = error.what();
    const std::size_t end_of_number = message.find("] ");
    fail(name, ": is not valid JSON: ",
         end_of_number == std::string_view::npos ? message : message.substr(end_of_number + 2));
  }
}

nlohmann::json read_json_file(const std::filesystem::path& path, std::int64_t max_bytes) {
  const FileBytes file = read_file(path, max_bytes);
  return parse_json(file.text(), path.string());
}

void write_json_file(const std::filesystem::path& path, const nlohmann::json& document) {
  write_file_atomically(path, [&](FileWriter& writer) {
    writer.write(document.dump(2));
    writer.write("\n");
  });
}

}  // namespace sextant
