// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/threads/company.h"

#include <time.h>

#include <utility>

namespace sextant::detail {

namespace {

std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

void LostTime::restart() {
  passed_ = read_clock(CLOCK_MONOTONIC);
  ran_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

std::chrono::nanoseconds LostTime::take() {
  const auto passed_before = passed_, ran_before = ran_;
  restart();
  return (passed_ - passed_before) - (ran_ - ran_before);
}

void Company::note(std::chrono::nanoseconds lost) {
  if (lost > kNoticed) until_ns_.store((read_clock(CLOCK_MONOTONIC) + kMemory).count());
}

bool Company::is_here() const { return read_clock(CLOCK_MONOTONIC).count() < until_ns_.load(); }

}  // namespace sextant::detail
