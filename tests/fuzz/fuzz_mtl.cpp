// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>

#include "sextant/io/obj.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    for (const auto& material : sextant::read_mtl(std::as_bytes(std::span(data, size)), "fuzz")) {
      const sextant::Vec3f& c = material.diffuse;
      for (const float level : {c.x, c.y, c.z}) {
        if (!(level >= 0.0f && level <= 1.0f)) std::abort();
      }
    }
  } catch (const sextant::Error&) {
  }
  return 0;
}
