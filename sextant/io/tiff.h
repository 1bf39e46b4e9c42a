// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sextant/io/image_info.h"

namespace sextant {

// TIFF as cameras and scientific tools write it: strips or tiles, in either byte order, plain or
// compressed by PackBits, LZW or Deflate, with either predictor. Refused with a line that says what
// they are: BigTIFF, several images in a file, palettes, planes, JPEG and fax compression. A note
// to turn the picture is not followed, because a camera's intrinsics belong to the unturned image.

/// The numbers of an image with one channel as they are: integers of 16 bits, or floats.
Image<float> read_grey_tiff(std::span<const std::byte> file, const std::string& name);

/// A colour image on the host from integers of 8 or 16 bits: grey is spread over the three
/// channels, 16-bit values are scaled to 8 and alpha is dropped.
Image<Rgb8> read_tiff(const std::filesystem::path& path);
Image<Rgb8> read_tiff(std::span<const std::byte> file, const std::string& name);

/// One channel of 16-bit integers or of floats, compressed by Deflate.
std::vector<std::byte> encode_tiff(ImageView<const std::uint16_t> image, const std::string& name);
std::vector<std::byte> encode_tiff(ImageView<const float> image, const std::string& name);

bool is_tiff(std::span<const std::byte> file);
/// Reads the directory only.
ImageInfo tiff_info(std::span<const std::byte> file, const std::string& name);

}  // namespace sextant
