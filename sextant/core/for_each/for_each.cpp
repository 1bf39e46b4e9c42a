// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"

#include <omp.h>

#include <atomic>
#include <exception>
#include <mutex>

namespace sextant::detail {

void run_chunks(const Context& context, std::int64_t chunks, ChunkFunction function) {
  if (chunks <= 0) return;
  if (chunks == 1 || context.threads() == 1) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) function.call(function.object, chunk);
    return;
  }
  std::exception_ptr error;
  std::int64_t failed_chunk = chunks;
  std::atomic<bool> failed{false};
  std::mutex mutex;
  const int threads =
      static_cast<int>(chunks < context.threads() ? chunks : std::int64_t{context.threads()});
#pragma omp parallel for schedule(dynamic) num_threads(threads)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      function.call(function.object, chunk);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (chunk < failed_chunk) {
        failed_chunk = chunk;
        error = std::current_exception();
      }
      failed = true;
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace sextant::detail
