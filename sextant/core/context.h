// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "sextant/core/device.h"

namespace sextant {

namespace detail {
struct ContextState;
}

/// What a context has done since it was made: tests use it to prove that a steady-state frame
/// allocates nothing and synchronises once.
struct Counters {
  std::int64_t allocations = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t uploads = 0;
  std::int64_t uploaded_bytes = 0;
  std::int64_t downloads = 0;
  std::int64_t downloaded_bytes = 0;
  std::int64_t synchronisations = 0;
};

/// A device, its stream and a thread count: the first argument of every operation.
/// A cheap handle: copies share the stream and the counters. There is no global state beside it.
/// One context serves one host thread at a time.
class Context {
 public:
  /// The host with `threads` threads; results do not depend on it. 0 takes as many as the process
  /// may use: the least of its affinity mask, the quota of its control group and OMP_NUM_THREADS.
  static Context cpu(int threads = 0);
  /// A CUDA device with a stream of its own. Throws Error when the build or the machine has none.
  static Context cuda(int ordinal = 0);
  /// A CUDA device on the caller's stream (a `cudaStream_t`), which must outlive the context and
  /// every buffer and graph made with it.
  static Context cuda_on_stream(int ordinal, void* stream);
  /// Takes the first usable CUDA device, else the CPU.
  static Context best();

  Device device() const;
  bool is_cpu() const { return device().kind == DeviceKind::kCpu; }
  bool is_cuda() const { return device().kind == DeviceKind::kCuda; }
  int threads() const;
  /// Returns the `cudaStream_t`, or null on the CPU.
  void* stream() const;

  /// Waits for everything queued on the stream; returns at once on the CPU.
  void synchronize() const;

  Counters counters() const;

  detail::ContextState& state() const { return *state_; }
  const std::shared_ptr<detail::ContextState>& shared_state() const { return state_; }

 private:
  explicit Context(std::shared_ptr<detail::ContextState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::ContextState> state_;
};

}  // namespace sextant
