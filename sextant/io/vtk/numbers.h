// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <string>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/points/record.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::vtk {

struct TypeName {
  std::string_view name;
  points::Scalar type;
};
/// The first name of each type is the one to write.
inline constexpr TypeName kTypeNames[] = {{"float", points::Scalar::kFloat32},
                                          {"double", points::Scalar::kFloat64},
                                          {"unsigned_char", points::Scalar::kUint8},
                                          {"char", points::Scalar::kInt8},
                                          {"signed_char", points::Scalar::kInt8},
                                          {"unsigned_short", points::Scalar::kUint16},
                                          {"short", points::Scalar::kInt16},
                                          {"unsigned_int", points::Scalar::kUint32},
                                          {"int", points::Scalar::kInt32},
                                          {"vtkidtype", points::Scalar::kInt32},
                                          {"vtktypeuint64", points::Scalar::kUint64},
                                          {"vtktypeint64", points::Scalar::kInt64},
                                          {"unsigned_long", points::Scalar::kUint64},
                                          {"long", points::Scalar::kInt64},
                                          {"bit", points::Scalar::kUint8}};

/// The words and number arrays of a legacy VTK file, whose arrays are text or big-endian binary.
class VtkNumbers {
 public:
  VtkNumbers(text::TextScanner text, file::ReadProgress& progress)
      : text_(std::move(text)), progress_(progress) {}

  text::TextScanner& text() { return text_; }
  void set_binary(bool binary) { binary_ = binary; }
  bool binary() const { return binary_; }

  /// Takes the next word on any line and returns it in capitals, for words of the format; empty at
  /// the end.
  std::string key() {
    text_.skip_space();
    std::string word(text_.word());
    std::transform(word.begin(), word.end(), word.begin(), [](char c) {
      return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    });
    return word;
  }
  std::string name(std::string_view what) {
    const std::string_view word = text_.word();
    if (word.empty()) text_.fail_here("expected ", what, ", the line ends");
    return std::string(word);
  }
  std::int64_t count(std::string_view what) {
    const auto value = text_.number<std::int64_t>(what);
    if (value < 0) text_.fail_here(what, " is negative: ", value);
    return value;
  }
  points::Scalar type() {
    std::string word = name("a number type");
    std::transform(word.begin(), word.end(), word.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    if (word == "bit" && binary_) text_.fail_here("binary arrays of bits are not read");
    for (const TypeName& known : kTypeNames) {
      if (known.name == word) return known.type;
    }
    text_.fail_here("expected a number type such as float, found '", text::shown(word), "'");
  }

  /// Calls store(i, value) for the `tuples` times `components` numbers of an array that starts on
  /// the next line; the file must have room for them.
  template <class T, class Store>
  void read(points::Scalar type, std::int64_t tuples, std::int64_t components, const Store& store) {
    check_room(type, tuples, components);
    const std::int64_t numbers = tuples * components;
    if (binary_) {
      text_.next_line();
      for (std::int64_t i = 0; i < numbers; ++i) store(i, read_binary<T>(type));
    } else {
      for (std::int64_t i = 0; i < numbers; ++i) store(i, read_text<T>());
    }
  }
  /// Before memory is set aside for an array.
  void check_room(points::Scalar type, std::int64_t tuples, std::int64_t components) const {
    const std::int64_t each = binary_ ? points::size_of(type) : 2;
    const std::int64_t room = (text_.remaining() + 1) / each;
    if (tuples > 0 && components > 0 && components > room / tuples) {
      text_.fail_here("an array of ", tuples, " times ", components,
                      " numbers is promised, the file has room for ", room);
    }
  }

 private:
  static constexpr std::int64_t kNumbersBetweenReports = 1 << 12;

  template <class T>
  T read_text() {
    report_progress();
    text_.skip_space();
    return text_.stored_number<T>("the array");
  }

  template <class T, class Stored>
  T read_stored() {
    std::array<std::byte, sizeof(Stored)> bytes;
    text_.take_bytes(bytes.data(), bytes.size());
    if constexpr (std::endian::native == std::endian::little) {
      std::reverse(bytes.begin(), bytes.end());
    }
    return static_cast<T>(std::bit_cast<Stored>(bytes));
  }
  template <class T>
  T read_binary(points::Scalar type) {
    report_progress();
    return points::with_type(type, [&](auto zero) { return read_stored<T, decltype(zero)>(); });
  }
  void report_progress() {
    if (++since_report_ < kNumbersBetweenReports) return;
    since_report_ = 0;
    progress_.at(text_.position());
  }

  text::TextScanner text_;
  file::ReadProgress& progress_;
  bool binary_ = false;
  std::int64_t since_report_ = 0;
};

}  // namespace sextant::detail::vtk
