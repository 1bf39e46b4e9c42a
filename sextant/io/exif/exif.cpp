// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/exif.h"

#include <algorithm>
#include <cmath>
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

constexpr std::uint32_t kShort = 3, kLong = 4, kRational = 5;

/// The directories of an Exif part: a TIFF header with entries of twelve bytes.
class Directories {
 public:
  explicit Directories(Bytes tiff) : numbers_{tiff, begins_with(tiff, "MM")} {
    if (!numbers_.big_endian && !begins_with(tiff, "II")) return;
    if (numbers_.at(2, 2) == 42) first_ = numbers_.at(4, 4);
  }

  std::size_t first() const { return first_; }  ///< 0 where there is none
  /// A number of a directory, 0 where it is not there once, or not of this type.
  std::uint32_t number(std::size_t directory, std::uint32_t tag, std::uint32_t type) const {
    const std::size_t entry = find(directory, tag, type);
    return entry == 0 ? 0 : numbers_.at(entry + 8, type == kShort ? 2 : 4);
  }
  /// A quotient, 0 likewise and where its divisor is 0.
  double rational(std::size_t directory, std::uint32_t tag) const {
    const std::size_t at = number(directory, tag, kRational);
    const std::uint32_t divisor = at == 0 ? 0 : numbers_.at(at + 4, 4);
    return divisor == 0 ? 0 : static_cast<double>(numbers_.at(at, 4)) / divisor;
  }

 private:
  std::size_t find(std::size_t directory, std::uint32_t tag, std::uint32_t type) const {
    constexpr std::size_t kEntryBytes = 12;
    const std::uint32_t entries = directory == 0 ? 0 : numbers_.at(directory, 2);
    for (std::size_t i = 0; i < entries; ++i) {
      const std::size_t entry = directory + 2 + i * kEntryBytes;
      if (entry >= numbers_.bytes.size()) break;
      if (numbers_.at(entry, 2) != tag) continue;
      return numbers_.at(entry + 2, 2) == type && numbers_.at(entry + 4, 4) == 1 ? entry : 0;
    }
    return 0;
  }

  Numbers numbers_;
  std::size_t first_ = 0;
};

/// The Exif part of a JPEG file; empty where there is none.
Bytes exif_part(Bytes file) {
  const Numbers numbers{file, true};
  if (numbers.at(0, 2) != 0xffd8) return {};
  constexpr std::uint32_t kExif = 0xffe1, kStartOfScan = 0xffda;
  constexpr std::string_view kName("Exif\0\0", 6);
  for (std::size_t place = 2; place + 4 <= file.size();) {
    const std::uint32_t marker = numbers.at(place, 2);
    if (marker == 0xffff) {  // a byte of padding
      ++place;
      continue;
    }
    const std::size_t length = numbers.at(place + 2, 2);
    if (marker < 0xff00 || marker == kStartOfScan || length < 2) return {};
    if (place + 2 + length > file.size()) return {};
    const Bytes content = file.subspan(place + 4, length - 2);
    if (marker == kExif && begins_with(content, kName)) return content.subspan(kName.size());
    place += 2 + length;
  }
  return {};
}

}  // namespace

int exif_orientation(std::span<const std::byte> file) {
  const Directories directories(exif_part(file));
  const std::uint32_t value = directories.number(directories.first(), 0x0112, kShort);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

double exif_focal_px(std::span<const std::byte> file, int width, int height) {
  const Directories directories(exif_part(file));
  const std::size_t camera = directories.number(directories.first(), 0x8769, kLong);
  constexpr double kFilmDiagonal_mm = 43.2666;  // of a frame of 36 mm by 24 mm
  const double on_film_mm = directories.number(camera, 0xa405, kShort);
  if (on_film_mm > 0) return on_film_mm / kFilmDiagonal_mm * std::hypot(width, height);
  const double focal_mm = directories.rational(camera, 0x920a);
  const double per_unit = directories.rational(camera, 0xa20e);
  const std::uint32_t unit = directories.number(camera, 0xa210, kShort);
  const double unit_mm = unit == 2 ? 25.4 : unit == 3 ? 10 : 0;
  if (!(focal_mm > 0 && per_unit > 0 && unit_mm > 0)) return 0;
  // The resolution is that of the picture as the camera wrote it, whose width may be there, too.
  const std::uint32_t written =
      directories.number(camera, 0xa002, kLong) + directories.number(camera, 0xa002, kShort);
  return focal_mm * per_unit / unit_mm * (written > 0 ? width / double(written) : 1.0);
}

}  // namespace sextant
