// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/tiff/unpack.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "sextant/core/error.h"
#include "sextant/io/tiff/directory.h"

namespace sextant::detail::tiff {

namespace {

[[noreturn]] void ends_early(const std::string& name) {
  fail(name, ": a strip or tile ends before its last pixel");
}

/// n < 128: n + 1 bytes as they are; n > 128: the next byte 257 - n times.
void unpack_bits(std::span<const std::byte> from, std::span<std::byte> to,
                 const std::string& name) {
  while (!to.empty()) {
    if (from.size() < 2) ends_early(name);
    const std::size_t n = std::to_integer<std::size_t>(from[0]);
    from = from.subspan(1);
    if (n == 128) continue;
    const bool plain = n < 128;
    const std::size_t count = std::min(plain ? n + 1 : 257 - n, to.size());
    if (plain && from.size() < count) ends_early(name);
    if (plain) {
      std::copy_n(from.begin(), count, to.begin());
    } else {
      std::fill_n(to.begin(), count, from[0]);
    }
    from = from.subspan(plain ? count : 1);
    to = to.subspan(count);
  }
}

/// Codes of 9 to 12 bits, the most significant bit first. A code stands for a string that another
/// code stands for and one byte more.
class LzwTable {
 public:
  static constexpr int kClear = 256, kEnd = 257, kFirst = 258, kMost = 4096;

  void clear() {
    next_ = kFirst;
    width_ = 9;
  }
  int width() const { return width_; }
  bool knows(int code) const { return code < 256 || (code >= kFirst && code < next_); }
  std::size_t length(int code) const {
    return code < 256 ? 1 : length_[static_cast<std::size_t>(code)];
  }

  /// Writes the end of a code's string in front of `last`, as much as there is room from `first`.
  void write(int code, std::byte* first, std::byte* last) const {
    for (; last > first; code = prefix_[static_cast<std::size_t>(code)]) {
      *--last = code < 256 ? std::byte(code) : suffix_[static_cast<std::size_t>(code)];
      if (code < 256) return;
    }
  }
  /// The first `count` bytes of a code's string.
  void write_start(int code, std::byte* to, std::size_t count) const {
    while (length(code) > count) code = prefix_[static_cast<std::size_t>(code)];
    write(code, to, to + count);
  }
  std::byte first_byte(int code) const {
    while (code >= 256) code = prefix_[static_cast<std::size_t>(code)];
    return std::byte(code);
  }

  void add(int prefix, std::byte suffix) {
    if (next_ >= kMost) return;
    const auto i = static_cast<std::size_t>(next_++);
    prefix_[i] = static_cast<std::uint16_t>(prefix);
    suffix_[i] = suffix;
    length_[i] = static_cast<std::uint16_t>(length(prefix) + 1);
    // The width grows one code before it must.
    if (next_ >= (1 << width_) - 1 && width_ < 12) ++width_;
  }
  int next() const { return next_; }

 private:
  std::array<std::uint16_t, kMost> prefix_{};
  std::array<std::uint16_t, kMost> length_{};
  std::array<std::byte, kMost> suffix_{};
  int next_ = kFirst;
  int width_ = 9;
};

void unpack_lzw(std::span<const std::byte> from, std::span<std::byte> to, const std::string& name) {
  LzwTable table;
  std::uint32_t bits = 0;
  int held = 0;
  const auto take_code = [&] {
    while (held < table.width()) {
      if (from.empty()) ends_early(name);
      bits = bits << 8 | std::to_integer<std::uint32_t>(from[0]);
      from = from.subspan(1);
      held += 8;
    }
    held -= table.width();
    return static_cast<int>(bits >> held & ((1u << table.width()) - 1));
  };
  int last = -1;
  while (!to.empty()) {
    const int code = take_code();
    if (code == LzwTable::kEnd) ends_early(name);
    if (code == LzwTable::kClear) {
      table.clear();
      last = -1;
      continue;
    }
    const bool known = table.knows(code);
    require(known || (last >= 0 && code == table.next() && code < LzwTable::kMost), name,
            ": holds an LZW code that stands for nothing");
    // A code that is about to be made stands for the last string and that string's first byte.
    if (last >= 0) table.add(last, table.first_byte(known ? code : last));
    const std::size_t count = std::min(table.length(code), to.size());
    table.write_start(code, to.data(), count);
    to = to.subspan(count);
    last = code;
  }
}

void unpack_deflate(std::span<const std::byte> from, std::span<std::byte> to,
                    const std::string& name) {
  z_stream stream{};
  require(inflateInit(&stream) == Z_OK, name, ": no memory to decompress it");
  const auto inflate_into = [&](std::byte* out, std::size_t bytes) {
    stream.next_out = reinterpret_cast<Bytef*>(out);
    stream.avail_out = static_cast<uInt>(bytes);
    return inflate(&stream, Z_SYNC_FLUSH);
  };
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));
  stream.avail_in = static_cast<uInt>(from.size());
  int result = inflate_into(to.data(), to.size());
  const bool full = stream.avail_out == 0;
  std::byte beyond{};  // the check sum stands behind the last byte
  if (full && result == Z_OK) result = inflate_into(&beyond, 1);
  inflateEnd(&stream);
  require(result != Z_DATA_ERROR && result != Z_NEED_DICT && result != Z_MEM_ERROR, name,
          ": a compressed strip or tile is damaged");
  if (!full) ends_early(name);
}

}  // namespace

void unpack(std::int64_t compression, std::span<const std::byte> from, std::span<std::byte> to,
            const std::string& name) {
  switch (compression) {
    case kPackBits:
      return unpack_bits(from, to, name);
    case kLzw:
      return unpack_lzw(from, to, name);
    case kDeflate:
    case kAdobeDeflate:
      return unpack_deflate(from, to, name);
    default:
      if (from.size() < to.size()) ends_early(name);
      std::copy_n(from.begin(), to.size(), to.begin());
  }
}

}  // namespace sextant::detail::tiff
