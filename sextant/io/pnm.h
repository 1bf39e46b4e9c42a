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

// PGM (grey) and PPM (colour) of Netpbm, with numbers in text (P2, P3) or in bytes (P5, P6). A
// largest value above 255 makes it an image of 16 bits, whose bytes are most significant first.

/// The numbers of a grey image of 16 bits as they are. Any other image is refused with what it is;
/// so is one with a number above the largest value that its header states, which is what a file
/// with its bytes in the wrong order looks like.
Image<std::uint16_t> read_grey16_pgm(std::span<const std::byte> file, const std::string& name);

/// A colour image on the host: grey is spread over the three channels, and the largest value of the
/// header becomes 255.
Image<Rgb8> read_pnm(const std::filesystem::path& path);
Image<Rgb8> read_pnm(std::span<const std::byte> file, const std::string& name);

/// P5 with a largest value of 65535.
std::vector<std::byte> encode_pgm(ImageView<const std::uint16_t> image, const std::string& name);

bool is_pnm(std::span<const std::byte> file);
/// Reads the header only.
ImageInfo pnm_info(std::span<const std::byte> file, const std::string& name);

}  // namespace sextant
