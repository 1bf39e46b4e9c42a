// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "accept_errors.h"
#include "sextant/io/bop_dataset.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sextant::fuzz::accept_errors([&] {
    sextant::parse_simple_yaml({reinterpret_cast<const char*>(data), size}, "fuzz");
  });
  return 0;
}
