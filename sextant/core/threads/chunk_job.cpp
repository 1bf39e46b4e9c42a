// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/threads/chunk_job.h"

#include <utility>

#include "sextant/core/threads/park.h"

namespace sextant::detail {

void ChunkJob::run_as_caller(std::chrono::microseconds spin_limit) {
  std::int64_t own = 0;
  for (std::int64_t chunk = take_chunk(); chunk < chunks_; chunk = take_chunk()) {
    run_chunk(chunk);
    ++own;
  }
  wait_for_helpers(chunks_ - own, spin_limit);
  if (failed_chunk_.load(std::memory_order_relaxed) == chunks_) return;
  std::exception_ptr error;
  {
    // Taken out, so that a helper that still holds the job does not share the error.
    const std::lock_guard lock(error_mutex_);
    error = std::exchange(error_, nullptr);
  }
  std::rethrow_exception(error);
}

void ChunkJob::run_as_helper() {
  for (std::int64_t chunk = take_chunk(); chunk < chunks_; chunk = take_chunk()) {
    run_chunk(chunk);
    // Either this thread sees what the caller awaits, or the caller sees this chunk finished.
    const std::int64_t finished = finished_by_helpers_.fetch_add(1) + 1;
    if (finished == awaited_.load()) {
      caller_woken_.store(1);
      unpark(caller_woken_, 1);
    }
  }
}

void ChunkJob::run_chunk(std::int64_t chunk) {
  if (chunk > failed_chunk_.load(std::memory_order_relaxed)) return;
  try {
    function_.call(function_.object, chunk);
  } catch (...) {
    const std::lock_guard lock(error_mutex_);
    if (chunk < failed_chunk_.load(std::memory_order_relaxed)) {
      failed_chunk_.store(chunk, std::memory_order_relaxed);
      error_ = std::current_exception();
    }
  }
}

void ChunkJob::wait_for_helpers(std::int64_t chunks_begun_by_helpers,
                                std::chrono::microseconds spin_limit) {
  const auto done = [&] { return finished_by_helpers_.load() == chunks_begun_by_helpers; };
  if (done() || spin_until(spin_limit, done)) return;
  awaited_.store(chunks_begun_by_helpers);
  while (!done()) park_while(caller_woken_, 0);
}

}  // namespace sextant::detail
