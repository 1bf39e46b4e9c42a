// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "sextant/core/error.h"
#include "sextant/descriptor/descriptor_file.h"

/// What is accepted holds together: every list has its length, and all of it becomes dense numbers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const sextant::DescriptorFile file =
        sextant::read_descriptor_file(std::as_bytes(std::span(data, size)), "fuzz");
    const std::size_t count = file.points.size();
    if (file.positions_m.size() != count || file.axes.size() != count) std::abort();
    // A long descriptor of which a file holds nothing would be all of the memory.
    if (count * static_cast<std::size_t>(file.length) > (std::size_t{1} << 24)) return 0;
    if (sextant::dense_values(file).size() != count * static_cast<std::size_t>(file.length)) {
      std::abort();
    }
  } catch (const sextant::Error&) {
  }
  return 0;
}
