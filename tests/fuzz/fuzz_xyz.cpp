// SPDX-License-Identifier: Apache-2.0
#include "geometry_target.h"
#include "sextant/io/xyz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return sextant::fuzz::run_geometry_target(
      data, size, [](std::span<const std::byte> file) { return sextant::read_xyz(file, "fuzz"); });
}
