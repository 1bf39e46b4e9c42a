// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/tiff/pixels.h"

#include <algorithm>
#include <bit>

#include "sextant/io/tiff/unpack.h"

namespace sextant::detail::tiff {

namespace {

/// Each number is stored as its difference from the same channel of the pixel before.
template <class T>
void undo_horizontal(std::span<std::byte> row, std::size_t samples) {
  for (std::size_t i = samples * sizeof(T); i + sizeof(T) <= row.size(); i += sizeof(T)) {
    T before, here;
    std::memcpy(&before, row.data() + i - samples * sizeof(T), sizeof(T));
    std::memcpy(&here, row.data() + i, sizeof(T));
    here = static_cast<T>(here + before);
    std::memcpy(row.data() + i, &here, sizeof(T));
  }
}

/// The bytes of a row are differences, and stand in planes: the most significant of every number
/// first.
void undo_floating_point(std::span<std::byte> row, std::size_t samples, std::size_t bytes) {
  for (std::size_t i = samples; i < row.size(); ++i) {
    row[i] =
        std::byte(std::to_integer<unsigned>(row[i]) + std::to_integer<unsigned>(row[i - samples]));
  }
  const std::vector<std::byte> planes(row.begin(), row.end());
  const std::size_t count = row.size() / bytes;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < bytes; ++b) {
      const bool little = std::endian::native == std::endian::little;
      row[i * bytes + (little ? bytes - 1 - b : b)] = planes[b * count + i];
    }
  }
}

/// From the bytes that were unpacked to numbers of this machine.
void finish_row(const Directory& d, std::span<std::byte> row) {
  const auto bytes = static_cast<std::size_t>(d.bits / 8);
  const auto samples = static_cast<std::size_t>(d.samples);
  if (d.predictor == kFloatingPoint) return undo_floating_point(row, samples, bytes);
  if (d.big_endian != (std::endian::native == std::endian::big)) {
    for (std::size_t i = 0; i + bytes <= row.size(); i += bytes) {
      std::reverse(row.begin() + static_cast<std::ptrdiff_t>(i),
                   row.begin() + static_cast<std::ptrdiff_t>(i + bytes));
    }
  }
  if (d.predictor != kHorizontal) return;
  if (bytes == 1) return undo_horizontal<std::uint8_t>(row, samples);
  if (bytes == 2) return undo_horizontal<std::uint16_t>(row, samples);
  undo_horizontal<std::uint32_t>(row, samples);
}

}  // namespace

std::vector<std::byte> decode_pixels(const Directory& d, const std::string& name) {
  check_decodable(d, name);
  const auto pixel_bytes = static_cast<std::size_t>(d.pixel_bytes());
  const std::size_t block_row_bytes = static_cast<std::size_t>(d.block_width) * pixel_bytes;
  std::vector<std::byte> pixels(static_cast<std::size_t>(d.width * d.height) * pixel_bytes);
  std::vector<std::byte> block;
  for (std::size_t b = 0; b < d.blocks.size(); ++b) {
    const std::int64_t left = static_cast<std::int64_t>(b) % d.blocks_across() * d.block_width;
    const std::int64_t top = static_cast<std::int64_t>(b) / d.blocks_across() * d.block_height;
    const std::int64_t rows = std::min(d.block_height, d.height - top);
    // A tile has all its rows, also those beyond the image.
    const std::int64_t stored_rows = d.tiled ? d.block_height : rows;
    block.resize(block_row_bytes * static_cast<std::size_t>(stored_rows));
    unpack(d.compression, d.blocks[b], block, name);
    const auto columns = static_cast<std::size_t>(std::min(d.block_width, d.width - left));
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::span<std::byte> from = std::span(block).subspan(
          static_cast<std::size_t>(row) * block_row_bytes, block_row_bytes);
      finish_row(d, from);
      const auto to = static_cast<std::size_t>((top + row) * d.width + left) * pixel_bytes;
      std::copy_n(from.begin(), columns * pixel_bytes,
                  pixels.begin() + static_cast<std::ptrdiff_t>(to));
    }
  }
  return pixels;
}

}  // namespace sextant::detail::tiff
