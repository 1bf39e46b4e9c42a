// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "sextant/core/error.h"
#include "sextant/io/tiff.h"

namespace {

template <class Read>
void run(const Read& read) {
  try {
    read();
  } catch (const sextant::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  run([&] { sextant::tiff_info(file, "fuzz"); });
  run([&] { sextant::read_tiff(file, "fuzz"); });
  run([&] { sextant::read_grey_tiff(file, "fuzz"); });
  return 0;
}
