// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "sextant/core/error.h"
#include "sextant/io/exif.h"
#include "sextant/io/jpeg.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int orientation = sextant::exif_orientation(std::as_bytes(std::span(data, size)));
  if (orientation < 1 || orientation > 8) __builtin_trap();
  const double focal_px = sextant::exif_focal_px(std::as_bytes(std::span(data, size)), 4000, 3000);
  if (!(focal_px >= 0)) __builtin_trap();
  try {
    sextant::read_jpeg(std::as_bytes(std::span(data, size)), "fuzz");
  } catch (const sextant::Error&) {
  }
  return 0;
}
