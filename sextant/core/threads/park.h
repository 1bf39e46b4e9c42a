// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sextant::detail {

/// Tells the processor that this is a loop that waits.
inline void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits without sleeping until `done()`, but no longer than `limit`; returns what done() said
/// last.
template <class Done>
bool spin_until(std::chrono::nanoseconds limit, const Done& done) {
  constexpr int kLooksPerClock = 16;  // reading the clock costs as much as several looks
  const auto start = std::chrono::steady_clock::now();
  do {
    for (int look = 0; look < kLooksPerClock; ++look) {
      if (done()) return true;
      relax_processor();
    }
  } while (std::chrono::steady_clock::now() - start < limit);
  return done();
}

/// Sleeps while the word is `value`, as Linux's futex does: it may also return for no reason.
/// `std::atomic::wait` yields the processor before it sleeps, and beside a busy process that costs
/// a whole slice of the scheduler's.
void park_while(const std::atomic<std::uint32_t>& word, std::uint32_t value);
/// Wakes up to `count` of the threads that sleep on the word.
void unpark(const std::atomic<std::uint32_t>& word, int count);

}  // namespace sextant::detail
