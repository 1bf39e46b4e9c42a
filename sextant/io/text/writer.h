// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "sextant/io/file.h"

namespace sextant::detail::text {

/// Writes the shortest decimal that reads back to the same number, whatever the locale; NaN is
/// "nan".
template <class T>
void append_number(std::string& text, T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      text += "nan";
      return;
    }
  }
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  text.append(digits, end);
}

/// Collects text and hands it to the file in pieces.
class TextWriter {
 public:
  explicit TextWriter(FileWriter& file) : file_(file) {}
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  /// Writes words and numbers one after the other, without separators: pass " " and "\n".
  template <class... Parts>
  TextWriter& put(const Parts&... parts) {
    (append(parts), ...);
    if (text_.size() > kPieceBytes) flush();
    return *this;
  }
  void flush() {
    file_.write(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPieceBytes = 1 << 16;

  template <class Part>
  void append(const Part& part) {
    if constexpr (std::is_arithmetic_v<Part>) {
      append_number(text_, part);
    } else {
      text_ += std::string_view(part);
    }
  }

  FileWriter& file_;
  std::string text_;
};

}  // namespace sextant::detail::text
