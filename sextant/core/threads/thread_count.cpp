// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/threads/thread_count.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

namespace sextant::detail {

namespace {

/// Processors in the affinity mask of the calling thread.
int affinity_threads() {
  constexpr int kMostProcessors = 1 << 20;
  // The kernel refuses a mask that is shorter than its own.
  for (int processors = CPU_SETSIZE; processors <= kMostProcessors; processors *= 2) {
    cpu_set_t* const mask = CPU_ALLOC(processors);
    if (mask == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    const bool known = sched_getaffinity(0, bytes, mask) == 0;
    const bool too_short = !known && errno == EINVAL;
    const int count = known ? CPU_COUNT_S(bytes, mask) : 0;
    CPU_FREE(mask);
    if (known && count > 0) return count;
    if (!too_short) break;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

/// Read once, because it takes dozens of files.
std::optional<int> quota_threads() {
  static const std::optional<int> quota = control_group_threads("/proc/self");
  return quota;
}

}  // namespace

int hardware_threads() {
  const int threads = affinity_threads();
  return std::min(threads, quota_threads().value_or(threads));
}

bool has_quota() { return quota_threads().has_value(); }

int default_threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  const std::optional<int> wanted = text ? parse_thread_list(text) : std::nullopt;
  const int threads = hardware_threads();
  return wanted ? std::min(threads, *wanted) : threads;
}

}  // namespace sextant::detail
