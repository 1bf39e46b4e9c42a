// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace sextant::detail {

/// How long the calling thread was runnable without a processor: the time that passed less the time
/// that it ran. It must not sleep in between.
class LostTime {
 public:
  LostTime() { restart(); }
  void restart();
  /// What was lost since the last call of either function.
  std::chrono::nanoseconds take();

 private:
  std::chrono::nanoseconds passed_{}, ran_{};
};

/// Remembers whether other programs want the processors that this one's threads run on. Threads
/// that wait for each other without sleeping are fast where the processors are ours alone. Beside
/// other programs they use up time that the scheduler takes back when there is work to do.
class Company {
 public:
  /// The processors are ours alone until a thread has lost so much time at once: a slice of the
  /// scheduler's is some milliseconds, and interruptions by the kernel are far shorter.
  static constexpr std::chrono::microseconds kNoticed{500};
  /// How long the others are expected to stay.
  static constexpr std::chrono::milliseconds kMemory{200};

  void note(std::chrono::nanoseconds lost);
  bool is_here() const;

  /// One of two limits for waiting without sleeping.
  std::chrono::microseconds limit(std::chrono::microseconds alone,
                                  std::chrono::microseconds in_company) const {
    return is_here() ? in_company : alone;
  }

 private:
  std::atomic<std::int64_t> until_ns_{INT64_MIN};
};

}  // namespace sextant::detail
