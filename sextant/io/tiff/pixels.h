// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "sextant/io/tiff/directory.h"

namespace sextant::detail::tiff {

/// The samples of an image, pixel by pixel and row by row, in the byte order of this machine.
std::vector<std::byte> decode_pixels(const Directory& directory, const std::string& name);

/// Sample `i` of them.
template <class T>
T sample(const std::vector<std::byte>& pixels, std::size_t i) {
  T value;
  std::memcpy(&value, pixels.data() + i * sizeof(T), sizeof(T));
  return value;
}

}  // namespace sextant::detail::tiff
