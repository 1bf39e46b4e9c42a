// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "sextant/core/progress.h"

namespace sextant::app {

/// From now on Ctrl-C is noted instead of ending the process, so that work can stop between two
/// steps and leave nothing half done; a second one ends it at once.
void stop_on_interrupt();
/// Throws Cancelled after Ctrl-C.
void throw_if_interrupted();

/// One line on a terminal's stderr with share, rate and time left; silent in a pipe and for work
/// that is over before it would be read. Erases itself when it dies.
class ProgressBar {
 public:
  /// `unit` names what is counted, with the factor that brings counts to it: {"MB", 1e-6}.
  struct Unit {
    std::string name;
    double factor = 1;
  };
  ProgressBar(std::string title, Unit unit);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// The callback that long work takes; it stops the work after Ctrl-C. Must not outlive the bar.
  Progress callback();

 private:
  bool update(std::int64_t done, std::int64_t total);

  std::string title_;
  Unit unit_;
  bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace sextant::app
