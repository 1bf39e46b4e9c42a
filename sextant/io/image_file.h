// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "sextant/io/image_info.h"

namespace sextant {

/// A colour image on the host from a PNG, JPEG, PGM, PPM or TIFF file, told apart by their content;
/// see png.h, jpeg.h, pnm.h and tiff.h for what becomes of grey, alpha and 16-bit pixels. Depth
/// maps are read by depth_file.h.
Image<Rgb8> read_image(const std::filesystem::path& path);
Image<Rgb8> read_image(std::span<const std::byte> file, const std::string& name);

/// Writes PNG or JPEG, by the extension: .png, .jpg or .jpeg.
void write_image(const std::filesystem::path& path, ImageView<const Rgb8> image);
void write_image(const std::filesystem::path& path, ImageView<const std::uint8_t> image);

/// Reads what the header says, without decoding pixels.
ImageInfo image_info(const std::filesystem::path& path);
ImageInfo image_info(std::span<const std::byte> file, const std::string& name);

/// "PNG", "JPEG", "PGM", "PPM" or "TIFF".
const char* to_string(ImageFormat format);

}  // namespace sextant
