// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstring>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/points/text_record.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::ply {

/// Line ends and padding.
inline constexpr std::int64_t kFewBytes = 8;

/// Takes the numbers of a binary body one after the other, for what has no fixed size: lists.
class BinaryNumbers {
 public:
  BinaryNumbers(FileReader& source, bool swap_bytes, file::ReadProgress& progress)
      : source_(source), swap_(swap_bytes), progress_(progress) {}
  ~BinaryNumbers() = default;
  BinaryNumbers(const BinaryNumbers&) = delete;
  BinaryNumbers& operator=(const BinaryNumbers&) = delete;

  const std::string& name() const { return source_.name(); }
  bool swap_bytes() const { return swap_; }
  file::ReadProgress& progress() { return progress_; }
  /// The source itself, standing behind the last number taken.
  FileReader& source() {
    source_.skip(used_);
    window_ = {};
    used_ = 0;
    return source_;
  }
  std::int64_t position() const { return source_.position() + used_; }
  std::int64_t remaining_bytes() const { return source_.remaining().value() - used_; }
  /// Whether more follows than the few bytes that some writers put behind the last number.
  bool has_more() const { return remaining_bytes() > kFewBytes; }
  static std::int64_t least_bytes(points::Scalar type) { return points::size_of(type); }

  void begin_record(std::string_view) {}
  void end_record() { progress_.at(position()); }

  static constexpr points::Body kBody = points::Body::kBinary;
  double number(points::Scalar type, std::string_view) { return read<double>(type); }
  /// Stores the next number in its type.
  void store(points::Scalar type, std::string_view, std::byte* to) {
    const auto bytes = static_cast<std::size_t>(points::size_of(type));
    std::memcpy(to, look(bytes).data(), bytes);
    take(bytes);
    if (swap_) std::reverse(to, to + bytes);
  }
  /// Only for integer types.
  std::int64_t integer(points::Scalar type, std::string_view) { return read<std::int64_t>(type); }
  void skip(points::Scalar type, std::int64_t count) {
    const std::int64_t bytes = count * points::size_of(type);
    if (bytes <= static_cast<std::int64_t>(window_.size()) - used_) {
      used_ += bytes;
    } else {
      source().skip(bytes);
    }
  }

  /// Shows at least `bytes` bytes from here on, without taking them; throws Error at the end of the
  /// file.
  std::span<const std::byte> look(std::size_t bytes) {
    if (window_.size() - static_cast<std::size_t>(used_) < bytes) {
      constexpr std::size_t kWindowBytes = 1 << 18;
      source();
      const auto left = static_cast<std::size_t>(source_.remaining().value());
      if (left >= bytes) window_ = source_.peek(std::min(left, std::max(bytes, kWindowBytes)));
      if (window_.size() < bytes) fail_here("the file ends in the middle of an element");
    }
    return window_.subspan(static_cast<std::size_t>(used_));
  }
  /// Takes bytes that were looked at.
  void take(std::size_t bytes) { used_ += static_cast<std::int64_t>(bytes); }

  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    fail(name(), ": byte ", position(), ": ", parts...);
  }

 private:
  template <class Result, class T>
  Result read_as() {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), look(sizeof(T)).data(), sizeof(T));
    take(sizeof(T));
    if (swap_) std::reverse(bytes.begin(), bytes.end());
    return static_cast<Result>(std::bit_cast<T>(bytes));
  }
  template <class Result>
  Result read(points::Scalar type) {
    return points::with_type(type, [&](auto zero) { return read_as<Result, decltype(zero)>(); });
  }

  FileReader& source_;
  bool swap_;
  file::ReadProgress& progress_;
  std::span<const std::byte> window_;
  std::int64_t used_ = 0;  ///< bytes of the window that were taken
};

/// Takes the numbers of a text body, one element a line; empty lines do not count.
class TextNumbers {
 public:
  /// `before` is the number of bytes of the file before the text, for progress.
  TextNumbers(text::TextScanner text, std::int64_t before, file::ReadProgress& progress)
      : text_(std::move(text)), before_(before), progress_(progress) {}

  const std::string& name() const { return text_.name(); }
  /// The last number of a file may lack the character that ends it.
  std::int64_t remaining_bytes() const { return text_.remaining() + 1; }
  bool has_more() { return text_.skip_space(); }
  static std::int64_t least_bytes(points::Scalar) { return 2; }

  void begin_record(std::string_view what) {
    if (!text_.skip_space()) text_.fail_here("the file ends, expected another ", what);
  }
  void end_record() {
    text_.finish_line();
    progress_.at(before_ + text_.position());
  }

  static constexpr points::Body kBody = points::Body::kText;
  double number(points::Scalar, std::string_view what) { return text_.number<double>(what); }
  void store(points::Scalar type, std::string_view what, std::byte* to) {
    points::store_text(text_, type, what, to);
  }
  std::int64_t integer(points::Scalar, std::string_view what) {
    return text_.number<std::int64_t>(what);
  }
  void skip(points::Scalar, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (text_.word().empty()) text_.fail_here("the line ends too early");
    }
  }

  template <class... Parts>
  [[noreturn]] void fail_here(const Parts&... parts) const {
    text_.fail_here(parts...);
  }

 private:
  text::TextScanner text_;
  std::int64_t before_;
  file::ReadProgress& progress_;
};

}  // namespace sextant::detail::ply
