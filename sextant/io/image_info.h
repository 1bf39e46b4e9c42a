// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant {

enum class ImageFormat { kPng, kJpeg, kPgm, kPpm, kTiff };

/// What the header of an image file says.
struct ImageInfo {
  ImageFormat format = ImageFormat::kPng;
  int width = 0;
  int height = 0;
  int channels = 0;       ///< 1 grey, 2 grey with alpha, 3 RGB or palette, 4 RGBA or CMYK
  int bit_depth = 0;      ///< bits per channel; of a palette, those of its colours
  bool floating = false;  ///< the numbers are floats, not integers
};

/// What we read and write is bounded, so that a forged header cannot ask for all memory.
inline constexpr int kMaxImageSide = 65535;
inline constexpr std::int64_t kMaxImagePixels = std::int64_t{1} << 28;
inline constexpr std::int64_t kMaxImageFileBytes = std::int64_t{1} << 31;
/// An image up to this size is believed, however few bytes it comes in.
inline constexpr std::int64_t kBelievedPixels = std::int64_t{1} << 22;

/// Throws Error unless 1 <= width, height <= kMaxImageSide and their product is within
/// kMaxImagePixels.
inline void check_image_size(const std::string& name, std::int64_t width, std::int64_t height) {
  require(width > 0 && height > 0, name, ": an image of ", width, " x ", height,
          " pixels is empty");
  require(width <= kMaxImageSide && height <= kMaxImageSide && width * height <= kMaxImagePixels,
          name, ": ", width, " x ", height, " pixels are too many; at most ", kMaxImageSide,
          " a side and ", kMaxImagePixels, " in all");
}

/// Throws Error unless the pixels lie on the host and make an image that a file can hold.
template <class T>
void check_writable(const std::string& name, ImageView<T> image) {
  require(image.device.kind == DeviceKind::kCpu, name, ": the image to write lies on ",
          to_string(image.device), "; copy it to the host first");
  check_image_size(name, image.width, image.height);
  require(image.stride >= image.width, name, ": stride ", image.stride, " is below the width ",
          image.width);
}

}  // namespace sextant
