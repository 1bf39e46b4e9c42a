// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "sextant/core/error.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/json_file.h"

namespace {

/// The camera of one image or of several.
std::optional<sextant::CameraFile> read(std::string_view text) {
  try {
    return sextant::camera_for(
        sextant::camera_list_from_json(sextant::parse_json(text, "fuzz"), "fuzz"),
        {"12.png", 640, 480});
  } catch (const sextant::Error&) {
    return std::nullopt;
  }
}

}  // namespace

/// What is accepted must also be written and accepted again, with the same result.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto first = read({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  const std::string text = sextant::camera_to_json(*first).dump();
  const auto second = read(text);
  if (!second || sextant::camera_to_json(*second).dump() != text) std::abort();
  return 0;
}
