// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/exif.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace sextant {

namespace {

using Bytes = std::span<const std::byte>;

/// Numbers of an Exif part, which says itself in which order their bytes are; 0 beyond its end.
struct Numbers {
  Bytes bytes;
  bool big_endian;

  std::uint32_t at(std::size_t place, int size) const {
    if (place > bytes.size() || bytes.size() - place < static_cast<std::size_t>(size)) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < size; ++i) {
      const auto byte = std::to_integer<std::uint32_t>(bytes[place + i]);
      value |= byte << 8 * (big_endian ? size - 1 - i : i);
    }
    return value;
  }
};

bool begins_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
}

/// The orientation in a TIFF header and its first directory, or 1.
int orientation_in(Bytes tiff) {
  const bool big_endian = begins_with(tiff, "MM");
  if (!big_endian && !begins_with(tiff, "II")) return 1;
  const Numbers numbers{tiff, big_endian};
  if (numbers.at(2, 2) != 42) return 1;
  constexpr std::uint32_t kOrientation = 0x0112, kShort = 3;
  constexpr std::size_t kEntryBytes = 12;
  const std::size_t directory = numbers.at(4, 4);
  const std::uint32_t entries = numbers.at(directory, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (entry >= tiff.size()) break;
    if (numbers.at(entry, 2) != kOrientation) continue;
    if (numbers.at(entry + 2, 2) != kShort || numbers.at(entry + 4, 4) != 1) return 1;
    const std::uint32_t value = numbers.at(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace

int exif_orientation(std::span<const std::byte> file) {
  const Numbers numbers{file, true};
  if (numbers.at(0, 2) != 0xffd8) return 1;
  constexpr std::uint32_t kExif = 0xffe1, kStartOfScan = 0xffda;
  constexpr std::string_view kName("Exif\0\0", 6);
  for (std::size_t place = 2; place + 4 <= file.size();) {
    const std::uint32_t marker = numbers.at(place, 2);
    if (marker == 0xffff) {  // a byte of padding
      ++place;
      continue;
    }
    const std::size_t length = numbers.at(place + 2, 2);
    if (marker < 0xff00 || marker == kStartOfScan || length < 2) return 1;
    if (place + 2 + length > file.size()) return 1;
    const Bytes content = file.subspan(place + 4, length - 2);
    if (marker == kExif && begins_with(content, kName)) {
      return orientation_in(content.subspan(kName.size()));
    }
    place += 2 + length;
  }
  return 1;
}

}  // namespace sextant
