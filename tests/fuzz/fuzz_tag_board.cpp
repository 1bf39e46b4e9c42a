// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "sextant/core/error.h"
#include "sextant/io/json_file.h"
#include "sextant/io/tag_board.h"

namespace {

std::optional<sextant::TagBoard> read(std::string_view text) {
  try {
    return sextant::tag_board_from_json(sextant::parse_json(text, "fuzz"), "fuzz");
  } catch (const sextant::Error&) {
    return std::nullopt;
  }
}

}  // namespace

/// What is accepted must also be written and accepted again, with as many tags.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto first = read({reinterpret_cast<const char*>(data), size});
  if (!first) return 0;
  const auto second = read(sextant::tag_board_to_json(*first).dump());
  if (!second || second->tags.size() != first->tags.size()) std::abort();
  return 0;
}
