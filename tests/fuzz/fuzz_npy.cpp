// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "sextant/core/error.h"
#include "sextant/io/npy.h"

namespace {

/// What is accepted has as many numbers as its shape says.
template <class T>
void read(std::span<const std::byte> file) {
  try {
    const sextant::NpyArray<T> array = sextant::read_npy<T>(file, "fuzz");
    const auto zero = std::find(array.shape.begin(), array.shape.end(), 0);
    const std::int64_t product = zero != array.shape.end()
                                     ? 0
                                     : std::accumulate(array.shape.begin(), array.shape.end(),
                                                       std::int64_t{1}, std::multiplies<>());
    if (product != static_cast<std::int64_t>(array.values.size())) std::abort();
  } catch (const sextant::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  read<float>(file);
  read<std::int32_t>(file);
  read<std::uint8_t>(file);
  return 0;
}
