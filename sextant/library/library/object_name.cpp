// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/library/library.h"

namespace sextant {

namespace {

/// The character at the front of the text and how many bytes it takes; 0 bytes where the text is
/// not UTF-8.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(text[i]);
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < kLeast[bytes] || surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

}  // namespace

void check_object_name(const std::string& name) {
  require(!name.empty(), "name: an object needs one");
  require(name.size() <= kMostNameBytes, "name: ", shown(name), " has ", name.size(),
          " bytes; at most ", kMostNameBytes, " are possible");
  for (std::string_view rest = name; !rest.empty();) {
    const Character c = first_character(rest);
    require(c.bytes > 0, "name: ", shown(name), " is not UTF-8");
    require(c.code >= 0x20 && !(c.code >= 0x7f && c.code <= 0x9f), "name: ", shown(name),
            " has a control character");
    rest.remove_prefix(c.bytes);
  }
}

}  // namespace sextant
