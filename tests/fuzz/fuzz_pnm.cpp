// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "sextant/io/pnm.h"
#include "tests/fuzz/accept_errors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  sextant::fuzz::accept_errors([&] { sextant::pnm_info(file, "fuzz"); });
  sextant::fuzz::accept_errors([&] { sextant::read_pnm(file, "fuzz"); });
  sextant::fuzz::accept_errors([&] { sextant::read_grey16_pgm(file, "fuzz"); });
  return 0;
}
