// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "sextant/recognize/recognizer.h"

namespace sextant::detail::recognizer {

/// Adds up the time of the steps of one frame.
class StepClock {
 public:
  StepClock(const Context& context, std::vector<StepTime>& times)
      : context_(context), times_(times) {}

  /// Ends a step when the device has done its work: without waiting, times would be those of
  /// launches. That costs some 10 µs a step.
  void stop(const char* step) {
    context_.synchronize();
    const auto now = std::chrono::steady_clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - begin_).count();
    begin_ = now;
    for (StepTime& time : times_) {
      if (time.step == step) {
        time.ms += ms;
        return;
      }
    }
    times_.push_back({step, ms});
  }

  double total_ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  const Context& context_;
  std::vector<StepTime>& times_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point begin_ = start_;
};

}  // namespace sextant::detail::recognizer
