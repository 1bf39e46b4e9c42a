// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <mutex>

#include "sextant/core/for_each.h"

namespace sextant::detail {

/// One call of run_chunks. Threads take the chunks in ascending order; who takes a chunk has begun
/// it and will finish it. The function belongs to the caller, so nobody touches it without a chunk.
/// The job itself is shared: a helper that comes late finds no chunk left and goes away.
class ChunkJob {
 public:
  ChunkJob(std::int64_t chunks, int most_helpers, ChunkFunction function)
      : chunks_(chunks), most_helpers_(most_helpers), function_(function), failed_chunk_(chunks) {}

  /// The caller's part: takes chunks until none is left, waits for those that helpers have begun,
  /// and throws the error of the lowest chunk that failed. It waits without sleeping up to the
  /// limit.
  void run_as_caller(std::chrono::microseconds spin_limit);
  /// A helper's part: takes chunks until none is left.
  void run_as_helper();

  bool has_chunks() const { return next_.load(std::memory_order_relaxed) < chunks_; }
  int most_helpers() const { return most_helpers_; }

  int helpers = 0;  ///< threads that have joined; guarded by the pool's mutex

 private:
  /// The next chunk that nobody has begun; `chunks_` or more when there is none.
  std::int64_t take_chunk() { return next_.fetch_add(1, std::memory_order_relaxed); }
  void run_chunk(std::int64_t chunk);
  void wait_for_helpers(std::int64_t chunks_begun_by_helpers, std::chrono::microseconds spin_limit);

  const std::int64_t chunks_;
  const int most_helpers_;
  const ChunkFunction function_;

  std::mutex error_mutex_;
  std::exception_ptr error_;
  /// The lowest chunk that threw; those above it are skipped. Those below were taken before it and
  /// run, so the same error is reported on every run.
  std::atomic<std::int64_t> failed_chunk_;

  /// Apart from the other fields and from each other, because every thread writes them.
  alignas(64) std::atomic<std::int64_t> next_{0};
  alignas(64) std::atomic<std::int64_t> finished_by_helpers_{0};
  /// What the caller sleeps for; negative while it does not.
  std::atomic<std::int64_t> awaited_{-1};
  std::atomic<std::uint32_t> caller_woken_{0};
};

}  // namespace sextant::detail
