// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "sextant/core/context.h"

namespace sextant::detail {

/// What the copies of a Context share. Internal.
struct ContextState {
  Device device;
  int threads = 1;
  void* stream = nullptr;  ///< cudaStream_t
  void* pool = nullptr;    ///< cudaMemPool_t that keeps what was freed
  bool owns_stream = false;
  int multiprocessors = 0;  ///< of a GPU: launches that fill it once are sized by this

  /// Between begin and end of a graph capture: memory is then plain and outlives the sequence.
  bool capturing = false;
  /// What died during the capture but the graph still uses: freed with the graph.
  std::vector<std::function<void()>> released_while_capturing;

  std::atomic<std::int64_t> allocations{0};
  std::atomic<std::int64_t> allocated_bytes{0};
  std::atomic<std::int64_t> uploads{0};
  std::atomic<std::int64_t> uploaded_bytes{0};
  std::atomic<std::int64_t> downloads{0};
  std::atomic<std::int64_t> downloaded_bytes{0};
  std::atomic<std::int64_t> synchronisations{0};

  ContextState() = default;
  ~ContextState();
  ContextState(const ContextState&) = delete;
  ContextState& operator=(const ContextState&) = delete;
};

/// Counts the multiprocessors of the context's GPU; 0 on the CPU. Kernels whose blocks take more
/// than one item each launch a multiple of it.
inline int multiprocessors(const Context& context) { return context.state().multiprocessors; }

}  // namespace sextant::detail
