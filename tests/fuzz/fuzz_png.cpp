// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "sextant/io/png.h"
#include "tests/fuzz/accept_errors.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

std::uint32_t crc32(const std::uint8_t* data, std::size_t size) {
  std::uint32_t crc = 0xffffffffu;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

std::uint32_t big_endian(const std::uint8_t* data) {
  return std::uint32_t{data[0]} << 24 | std::uint32_t{data[1]} << 16 | std::uint32_t{data[2]} << 8 |
         data[3];
}

/// Makes the checksums of the chunks right: wrong ones would be refused before anything else.
void repair_checksums(std::uint8_t* data, std::size_t size) {
  for (std::size_t at = 8; at + 12 <= size;) {
    const std::size_t length = big_endian(data + at);
    if (length > size - at - 12) return;
    const std::uint32_t crc = crc32(data + at + 4, length + 4);
    for (int i = 0; i < 4; ++i) {
      data[at + 8 + length + i] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
    }
    at += 12 + length;
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  const std::size_t mutated = LLVMFuzzerMutate(data, size, max_size);
  // Now and then a wrong checksum is what is to be tested.
  if (seed % 16 != 0) repair_checksums(data, mutated);
  return mutated;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  sextant::fuzz::accept_errors([&] { sextant::png_info(file, "fuzz"); });
  sextant::fuzz::accept_errors([&] { sextant::read_png(file, "fuzz"); });
  sextant::fuzz::accept_errors([&] { sextant::read_png_rgb16(file, "fuzz"); });
  sextant::fuzz::accept_errors([&] { sextant::read_png_alpha(file, "fuzz"); });
  sextant::fuzz::accept_errors([&] { sextant::read_depth_png(file, "fuzz"); });
  return 0;
}
