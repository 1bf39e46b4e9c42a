// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::detail::tiff {

// Numbers of the TIFF 6.0 specification.
enum Compression : std::int64_t {
  kPlain = 1,
  kLzw = 5,
  kAdobeDeflate = 8,
  kPackBits = 32773,
  kDeflate = 32946
};
enum SampleFormat : std::int64_t { kUnsigned = 1, kFloat = 3 };
enum Photometric : std::int64_t { kWhiteIsZero = 0, kBlackIsZero = 1, kRgb = 2 };
enum Predictor : std::int64_t { kNoPredictor = 1, kHorizontal = 2, kFloatingPoint = 3 };

/// What the first directory of a file says. Sizes are checked and blocks lie within the file.
struct Directory {
  bool big_endian = false;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t bits = 1;     ///< of each sample
  std::int64_t samples = 1;  ///< of each pixel
  std::int64_t format = kUnsigned;
  std::int64_t compression = kPlain;
  std::int64_t photometric = kBlackIsZero;
  std::int64_t planar = 1;
  std::int64_t predictor = kNoPredictor;
  std::int64_t fill_order = 1;
  bool tiled = false;
  std::int64_t block_width = 0;                    ///< of a strip: the width of the image
  std::int64_t block_height = 0;                   ///< rows in a strip; the last may have fewer
  std::vector<std::span<const std::byte>> blocks;  ///< strips or tiles, row by row

  std::int64_t pixel_bytes() const { return samples * bits / 8; }
  std::int64_t blocks_across() const { return (width + block_width - 1) / block_width; }
};

Directory read_directory(std::span<const std::byte> file, const std::string& name);

/// Throws Error with what the image is unless its pixels can be decoded.
void check_decodable(const Directory& directory, const std::string& name);

}  // namespace sextant::detail::tiff
