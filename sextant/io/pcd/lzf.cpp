// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/pcd/lzf.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sextant/core/error.h"

namespace sextant {

namespace {

constexpr std::size_t kMostLiterals = 32;
constexpr std::size_t kLeastCopy = 3;
constexpr std::size_t kMostCopy = 264;
constexpr std::size_t kMostDistance = 8192;
constexpr int kHashBits = 15;

std::uint32_t three_bytes(const std::uint8_t* at) {
  return static_cast<std::uint32_t>(at[0] << 16 | at[1] << 8 | at[2]);
}

std::uint32_t hash(std::uint32_t key) { return (key * 2654435761u) >> (32 - kHashBits); }

std::size_t common_length(const std::uint8_t* a, const std::uint8_t* b, std::size_t most) {
  std::size_t length = 0;
  while (length < most && a[length] == b[length]) ++length;
  return length;
}

class Encoder {
 public:
  explicit Encoder(std::span<const std::byte> data)
      : first_(reinterpret_cast<const std::uint8_t*>(data.data())), size_(data.size()) {
    out_.reserve(size_ / 2 + 16);
  }

  std::vector<std::byte> encode() {
    std::vector<std::size_t> last_seen(std::size_t{1} << kHashBits, kNever);
    std::size_t at = 0;
    while (at + kLeastCopy <= size_) {
      const std::uint32_t key = three_bytes(first_ + at);
      std::size_t& seen = last_seen[hash(key)];
      const std::size_t before = seen;
      seen = at;
      if (before == kNever || at - before > kMostDistance || three_bytes(first_ + before) != key) {
        ++at;
        continue;
      }
      const std::size_t length =
          common_length(first_ + before, first_ + at, std::min(kMostCopy, size_ - at));
      put_literals(at);
      put_copy(at - before, length);
      at += length;
      literals_from_ = at;
      // The last two places inside the copy are the likeliest to be met again; all would cost more
      // time than they save room.
      for (std::size_t place = at - 2; place < at && place + kLeastCopy <= size_; ++place) {
        last_seen[hash(three_bytes(first_ + place))] = place;
      }
    }
    put_literals(size_);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t kNever = ~std::size_t{0};

  void put(std::size_t byte) { out_.push_back(static_cast<std::byte>(byte)); }

  void put_literals(std::size_t end) {
    while (literals_from_ < end) {
      const std::size_t count = std::min(kMostLiterals, end - literals_from_);
      put(count - 1);
      const std::byte* from = reinterpret_cast<const std::byte*>(first_ + literals_from_);
      out_.insert(out_.end(), from, from + count);
      literals_from_ += count;
    }
  }

  void put_copy(std::size_t distance, std::size_t length) {
    const std::size_t code = length - 2, offset = distance - 1;
    if (code < 7) {
      put(code << 5 | offset >> 8);
    } else {
      put(std::size_t{7} << 5 | offset >> 8);
      put(code - 7);
    }
    put(offset & 255);
  }

  const std::uint8_t* first_;
  std::size_t size_;
  std::size_t literals_from_ = 0;
  std::vector<std::byte> out_;
};

/// Copies within the output, where the source may reach into what is being written.
void copy_from_before(std::uint8_t* to, std::size_t distance, std::size_t length,
                      std::size_t room) {
  const std::uint8_t* from = to - distance;
  if (distance >= 16 && room >= length + 16) {
    for (std::size_t i = 0; i < length; i += 16) std::memcpy(to + i, from + i, 16);
  } else if (distance == 1) {
    std::memset(to, *from, length);
  } else {
    for (std::size_t i = 0; i < length; ++i) to[i] = from[i];
  }
}

void copy_literals(std::uint8_t* to, const std::uint8_t* from, std::size_t count,
                   std::size_t room) {
  // A copy of fixed size is a few instructions; what it writes too much is overwritten later.
  if (room >= kMostLiterals) {
    std::memcpy(to, from, kMostLiterals);
  } else {
    std::memcpy(to, from, count);
  }
}

}  // namespace

std::vector<std::byte> lzf_compress(std::span<const std::byte> data) {
  return Encoder(data).encode();
}

void lzf_decompress(std::span<const std::byte> compressed, std::span<std::byte> data,
                    const std::string& name) {
  const auto* in = reinterpret_cast<const std::uint8_t*>(compressed.data());
  auto* out = reinterpret_cast<std::uint8_t*>(data.data());
  const std::size_t in_size = compressed.size(), out_size = data.size();
  std::size_t at = 0, made = 0;
  while (at < in_size) {
    const std::size_t start = at;
    const std::size_t control = in[at++];
    if (control < kMostLiterals) {
      const std::size_t count = control + 1;
      require(count <= in_size - at && count <= out_size - made, name, ": compressed byte ", start,
              ": ", count, " literal bytes go beyond the end");
      copy_literals(out + made, in + at, count, std::min(in_size - at, out_size - made));
      at += count;
      made += count;
      continue;
    }
    std::size_t length = (control >> 5) + 2;
    const bool is_long = length == 9;
    require(in_size - at >= (is_long ? 2u : 1u), name, ": compressed byte ", start,
            ": the data end in the middle of a copy");
    if (is_long) length += in[at++];
    const std::size_t distance = ((control & 31) << 8 | in[at++]) + 1;
    require(distance <= made && length <= out_size - made, name, ": compressed byte ", start,
            ": a copy of ", length, " bytes from ", distance, " before does not fit");
    copy_from_before(out + made, distance, length, out_size - made);
    made += length;
  }
  require(made == out_size, name, ": the compressed data give ", made, " bytes, expected ",
          out_size);
}

}  // namespace sextant
