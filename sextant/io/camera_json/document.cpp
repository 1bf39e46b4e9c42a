// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/camera_json/document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/io/bop_dataset.h"
#include "sextant/io/file/byte_source.h"
#include "sextant/io/json_file.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::camera_json {

namespace {

using nlohmann::json;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether the first line that is neither empty nor a comment begins with "key:".
bool is_yaml(std::string_view text) {
  text::TextScanner lines(text, "");
  while (lines.skip_space() && lines.peek() == '#') lines.next_line();
  const std::string_view line = lines.rest_of_line();
  if (line.starts_with("%YAML") || line.starts_with("---")) return true;
  const auto end = std::find_if_not(line.begin(), line.end(), is_name_character);
  return end != line.begin() && end != line.end() && *end == ':';
}

/// The first of the documents that `ros topic echo` prints one after the other.
std::string_view first_document(std::string_view text) {
  bool begun = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool ends = line == "---" || line.starts_with("--- ") || line == "...";
    if (ends && begun) return text.substr(0, at);
    begun = begun || !(ends || line.empty() || line.starts_with('#') || line.starts_with("%YAML"));
    at = end + 1;
  }
  return text;
}

}  // namespace

json document_of(std::string_view text, const std::string& name) {
  if (text.starts_with(file::kByteOrderMark)) text.remove_prefix(file::kByteOrderMark.size());
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const std::string_view rest = start == std::string_view::npos ? "" : text.substr(start);
  constexpr const char* kRemedy =
      "; a camera is JSON: {\"width\": 640, \"height\": 480, \"fx\": 525, \"fy\": 525, \"cx\": "
      "319.5, \"cy\": 239.5}";
  if (rest.starts_with('{') || rest.starts_with('[') || rest.empty()) return parse_json(text, name);
  if (rest.starts_with('<')) {
    require(rest.find("<opencv_storage") != std::string_view::npos, name,
            ": is XML, but none of OpenCV", kRemedy);
    return with_our_keys(opencv_xml(text, name), name);
  }
  if (is_colmap(text)) return colmap_camera(text, name);
  require(is_yaml(text), name, ": is neither JSON nor YAML, OpenCV's XML or COLMAP's cameras.txt",
          kRemedy);
  const json document = parse_simple_yaml(first_document(text), name);
  require(document.is_object(), name, ": is YAML without a camera", kRemedy);
  return with_our_keys(document, name);
}

}  // namespace sextant::detail::camera_json
