// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "sextant/io/points/record.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::points {

/// Reads one number of a text and stores it in its type.
inline void store_text(text::TextScanner& text, Scalar type, std::string_view what, std::byte* to) {
  with_type(type, [&](auto value) {
    value = text.stored_number<decltype(value)>(what);
    std::memcpy(to, &value, sizeof(value));
  });
}

/// The same for all numbers of a field.
inline void store_text(text::TextScanner& text, const RecordField& field, std::byte* to) {
  for (std::int64_t k = 0; k < field.repeat; ++k) {
    store_text(text, field.type, field.name, to + k * size_of(field.type));
  }
}

}  // namespace sextant::detail::points
