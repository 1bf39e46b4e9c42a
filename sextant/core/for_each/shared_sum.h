// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sextant/core/host_device.h"

namespace sextant::detail {

/// Adds to a sum that many threads add to. Whole numbers, so that their order does not matter.
SEXTANT_HD inline void add_to(std::int32_t* sum, std::int32_t value) {
#if defined(__CUDA_ARCH__)
  atomicAdd(sum, value);
#else
  std::atomic_ref(*sum).fetch_add(value, std::memory_order_relaxed);
#endif
}

}  // namespace sextant::detail
