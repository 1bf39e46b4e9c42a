// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "sextant/core/host_device.h"

namespace sextant::detail::segment {

// The forest of connected points: a point's parent has a lower index, a root is its own. Threads
// read and write it at once; whatever their order, the root is the lowest point of its region.

SEXTANT_HD inline std::int32_t load_parent(const std::int32_t* parent, std::int32_t i) {
#if defined(__CUDA_ARCH__)
  return *static_cast<const volatile std::int32_t*>(parent + i);
#else
  return std::atomic_ref(const_cast<std::int32_t*>(parent)[i]).load(std::memory_order_relaxed);
#endif
}
SEXTANT_HD inline void store_parent(std::int32_t* parent, std::int32_t i, std::int32_t to) {
#if defined(__CUDA_ARCH__)
  *static_cast<volatile std::int32_t*>(parent + i) = to;
#else
  std::atomic_ref(parent[i]).store(to, std::memory_order_relaxed);
#endif
}
/// Makes `to` the parent of the root i; false when i is a root no longer.
SEXTANT_HD inline bool replace_root(std::int32_t* parent, std::int32_t i, std::int32_t to) {
#if defined(__CUDA_ARCH__)
  return atomicCAS(parent + i, i, to) == i;
#else
  return std::atomic_ref(parent[i]).compare_exchange_strong(i, to, std::memory_order_relaxed);
#endif
}

/// The root of i; points on the way are put nearer to it.
SEXTANT_HD inline std::int32_t find_root(std::int32_t* parent, std::int32_t i) {
  std::int32_t above = load_parent(parent, i);
  while (above != i) {
    const std::int32_t next = load_parent(parent, above);
    if (next == above) break;
    store_parent(parent, i, next);
    i = next;
    above = load_parent(parent, i);
  }
  return above;
}

/// The same without writing. When all is joined and each point stores its own root, a writer of
/// others' parents could put a point back to where it was on the way.
SEXTANT_HD inline std::int32_t root_of(const std::int32_t* parent, std::int32_t i) {
  for (std::int32_t above = load_parent(parent, i); above != i; above = load_parent(parent, i)) {
    i = above;
  }
  return i;
}

SEXTANT_HD inline void join(std::int32_t* parent, std::int32_t i, std::int32_t j) {
  for (;;) {
    i = find_root(parent, i);
    j = find_root(parent, j);
    if (i == j) return;
    if (i < j ? replace_root(parent, j, i) : replace_root(parent, i, j)) return;
  }
}

}  // namespace sextant::detail::segment
