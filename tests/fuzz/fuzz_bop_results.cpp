// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "accept_errors.h"
#include "sextant/io/bop_results.h"

/// What is accepted must also be written and accepted again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sextant::fuzz::accept_errors([&] {
    const auto results =
        sextant::parse_bop_results({reinterpret_cast<const char*>(data), size}, "fuzz");
    const auto again = sextant::parse_bop_results(sextant::bop_results_text(results), "again");
    if (again.size() != results.size()) std::abort();
  });
  return 0;
}
