// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "accept_errors.h"
#include "sextant/io/moped_model.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sextant::fuzz::accept_errors([&] {
    // What is accepted must hold together: an Error of the check would be a finding.
    const auto models = sextant::read_moped_models(std::as_bytes(std::span(data, size)), "fuzz");
    try {
      for (const auto& model : models) sextant::check_moped_model(model);
    } catch (const sextant::Error&) {
      __builtin_trap();
    }
  });
  return 0;
}
