// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace sextant::testing {

/// A JPEG file with an Exif part behind its first marker, which says how the camera was held.
inline std::vector<std::byte> with_orientation(std::span<const std::byte> jpeg, int orientation,
                                               bool big_endian = true) {
  const auto number = [&](std::vector<int>& to, int value, int size) {
    for (int i = 0; i < size; ++i) to.push_back(value >> 8 * (big_endian ? size - 1 - i : i) & 255);
  };
  std::vector<int> exif{'E', 'x', 'i', 'f', 0, 0};
  exif.insert(exif.end(), 2, big_endian ? 'M' : 'I');
  number(exif, 42, 2);
  number(exif, 8, 4);  // where the directory begins
  number(exif, 2, 2);  // entries
  for (const auto& [tag, value] : {std::pair{0x0100, 77}, {0x0112, orientation}}) {
    number(exif, tag, 2);
    number(exif, 3, 2);  // a short
    number(exif, 1, 4);  // one of them
    number(exif, value, 2);
    number(exif, 0, 2);
  }
  number(exif, 0, 4);  // no further directory
  const int length = static_cast<int>(exif.size()) + 2;
  std::vector<std::byte> file(jpeg.begin(), jpeg.begin() + 2);
  for (const int byte : {0xff, 0xe1, length >> 8, length & 255}) {
    file.push_back(static_cast<std::byte>(byte));
  }
  for (const int byte : exif) file.push_back(static_cast<std::byte>(byte));
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

/// The same with an Exif directory that tells of the focal length: on 35 mm film where that is not
/// 0, and of the lens in mm with the pixels of the sensor in a centimetre.
inline std::vector<std::byte> with_focal_length(std::span<const std::byte> jpeg, int on_film_mm,
                                                int lens_mm, int pixels_per_cm) {
  std::vector<int> exif{'E', 'x', 'i', 'f', 0, 0, 'I', 'I'};
  const auto number = [&](int value, int size) {
    for (int i = 0; i < size; ++i) exif.push_back(value >> 8 * i & 255);
  };
  const auto entry = [&](int tag, int type, int value) {
    number(tag, 2);
    number(type, 2);
    number(1, 4);
    number(value, 4);
  };
  number(42, 2);
  number(8, 4);
  number(1, 2);          // the first directory, at 8, has one entry
  entry(0x8769, 4, 26);  // where the camera's directory is
  number(0, 4);
  number(4, 2);  // which ends at 26 + 2 + 48 + 4
  entry(0xa405, 3, on_film_mm);
  entry(0x920a, 5, 80);
  entry(0xa20e, 5, 88);
  entry(0xa210, 3, 3);
  number(0, 4);
  number(10 * lens_mm, 4);
  number(10, 4);
  number(pixels_per_cm, 4);
  number(1, 4);
  const int length = static_cast<int>(exif.size()) + 2;
  std::vector<std::byte> file(jpeg.begin(), jpeg.begin() + 2);
  for (const int byte : {0xff, 0xe1, length >> 8, length & 255}) {
    file.push_back(static_cast<std::byte>(byte));
  }
  for (const int byte : exif) file.push_back(static_cast<std::byte>(byte));
  file.insert(file.end(), jpeg.begin() + 2, jpeg.end());
  return file;
}

}  // namespace sextant::testing
