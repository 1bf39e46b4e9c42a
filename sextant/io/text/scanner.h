// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

#include "sextant/core/error.h"

namespace sextant::detail::text {

/// Space within a line. A carriage return counts, so files with CRLF need no other treatment.
inline bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/// Cuts a word for a message: words of broken files can be megabytes long and hold any byte.
inline std::string shown(std::string_view text) {
  constexpr std::size_t kMostCharacters = 40;
  std::string out(text.substr(0, kMostCharacters));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < 32 || c > 126; }, '?');
  return text.size() > kMostCharacters ? out + "..." : out;
}

/// Parses one number that starts at `first`: decimal, a leading '+' allowed, "nan" and "inf" in any
/// case, no dependence on the locale. Numbers too small become zero. Returns where the number ends,
/// or null where there is none or it is too large for T.
template <class T>
const char* parse_number(const char* first, const char* last, T& value) {
  if (first != last && *first == '+') {
    ++first;
    if (first != last && *first == '-') return nullptr;
  }
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc{}) [[likely]]
    return end;
  if constexpr (std::is_floating_point_v<T>) {
    if (error == std::errc::result_out_of_range) {
      // Too small and too large look alike here; a zero before the point or a negative exponent
      // tells them apart well enough.
      const char* digit = *first == '-' ? first + 1 : first;
      const std::string_view number(digit, static_cast<std::size_t>(end - digit));
      const std::size_t exponent = number.find_first_of("eE");
      const bool small = exponent == std::string_view::npos
                             ? number.find_first_of("0.") == 0
                             : number.find('-', exponent) != std::string_view::npos;
      if (!small) return nullptr;
      value = *first == '-' ? -T(0) : T(0);
      return end;
    }
  }
  return nullptr;
}

/// Parses the whole of a word as a number.
template <class T>
bool parse_word(std::string_view word, T& value) {
  const char* last = word.data() + word.size();
  return !word.empty() && parse_number(word.data(), last, value) == last;
}

/// Walks over a text in memory. Errors name the file and the line; lines are only counted when an
/// error needs them.
class TextScanner {
 public:
  /// `first_line` is the number of the line that the text starts in. `name` stands for the file in
  /// messages. The text must outlive the scanner.
  TextScanner(std::string_view text, std::string name, std::int64_t first_line = 1)
      : first_(text.data()),
        at_(text.data()),
        last_(text.data() + text.size()),
        name_(std::move(name)),
        first_line_(first_line) {}

  const std::string& name() const { return name_; }
  std::int64_t position() const { return at_ - first_; }
  std::int64_t remaining() const { return last_ - at_; }

  void skip_blanks() {
    while (at_ != last_ && is_blank(*at_)) ++at_;
  }
  /// Returns true, and stands at the end of the line, when nothing but blanks is left of it.
  bool at_line_end() {
    skip_blanks();
    return at_ == last_ || *at_ == '\n';
  }
  /// Goes to the start of the next line, whatever is left of this one.
  void next_line() {
    if (at_ == last_) return;
    const void* end = std::memchr(at_, '\n', static_cast<std::size_t>(last_ - at_));
    at_ = end ? static_cast<const char*>(end) + 1 : last_;
  }
  /// Skips blanks and line ends; false at the end of the text.
  bool skip_space() {
    while (at_ != last_ && (is_blank(*at_) || *at_ == '\n')) ++at_;
    return at_ != last_;
  }

  /// Shows the next character without taking it; 0 at the end of the text.
  char peek() const { return at_ == last_ ? '\0' : *at_; }
  /// Takes the next word of this line; empty at the line's end.
  std::string_view word() {
    skip_blanks();
    const char* first = at_;
    while (at_ != last_ && !is_blank(*at_) && *at_ != '\n') ++at_;
    return {first, static_cast<std::size_t>(at_ - first)};
  }
  /// Takes what is left of the line, without the blanks around it.
  std::string_view rest_of_line() {
    skip_blanks();
    const char* first = at_;
    const void* end = std::memchr(at_, '\n', static_cast<std::size_t>(last_ - at_));
    at_ = end ? static_cast<const char*>(end) : last_;
    const char* stop = at_;
    while (stop != first && is_blank(stop[-1])) --stop;
    return {first, static_cast<std::size_t>(stop - first)};
  }

  /// Takes the next number of this line; `what` names it in the error when there is none.
  template <class T>
  T number(std::string_view what) {
    skip_blanks();
    T value{};
    const char* end = parse_number(at_, last_, value);
    if (end == nullptr || !(end == last_ || is_blank(*end) || *end == '\n')) [[unlikely]] {
      fail_number(what);
    }
    at_ = end;
    return value;
  }
  /// The same for numbers that are kept in a type of the file: an integer may also be written as
  /// "3.0" or "1e3"; one that T cannot hold is an Error.
  template <class T>
  T stored_number(std::string_view what) {
    if constexpr (std::is_floating_point_v<T>) {
      return number<T>(what);
    } else {
      skip_blanks();
      T value{};
      const char* end = parse_number(at_, last_, value);
      if (end != nullptr && (end == last_ || is_blank(*end) || *end == '\n')) {
        at_ = end;
        return value;
      }
      const TextScanner before = *this;
      const double real = number<double>(what);
      // Below 2^53 every whole double is the integer that was written.
      if (real == std::floor(real) && std::abs(real) < 0x1p53 &&
          real >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
          real <= static_cast<double>(std::numeric_limits<T>::max())) {
        return static_cast<T>(real);
      }
      before.fail_here("expected ", std::is_signed_v<T> ? "an integer" : "an unsigned integer",
                       " of ", 8 * sizeof(T), " bits for ", what, ", found '",
                       shown(TextScanner(before).word()), "'");
    }
  }
  /// The next number, on this line or a later one.
  template <class T>
  T number_anywhere(std::string_view what) {
    skip_space();
    return number<T>(what);
  }

  /// Takes bytes that are no text; throws Error when fewer are left.
  void take_bytes(void* to, std::size_t bytes) {
    if (static_cast<std::size_t>(last_ - at_) < bytes) [[unlikely]] {
      fail(name_, ": byte ", position(), ": the file ends in the middle of an array");
    }
    std::memcpy(to, at_, bytes);
    at_ += bytes;
  }

  /// Ends a line, which must hold nothing more.
  void finish_line() {
    if (!at_line_end()) [[unlikely]] {
      fail_here("expected the end of the line, found '", shown(word()), "'");
    }
    next_line();
  }

  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail_at(position(), parts...);
  }
  /// The same for a position that was passed before.
  template <class... Parts>
  [[noreturn]] void fail_at(std::int64_t position, const Parts&... parts) const {
    fail(name_, ": line ", first_line_ + std::count(first_, first_ + position, '\n'), ": ",
         parts...);
  }

 private:
  [[noreturn]] void fail_number(std::string_view what) {
    if (at_line_end()) {
      fail_here("expected a number for ", what,
                at_ == last_ ? ", the file ends" : ", the line ends");
    }
    const std::string_view found = word();
    fail_here("expected a number for ", what, ", found '", shown(found), "'");
  }

  const char* first_;
  const char* at_;
  const char* last_;
  std::string name_;
  std::int64_t first_line_;
};

}  // namespace sextant::detail::text
