// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "sextant/core/progress.h"

namespace sextant::app {

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

  /// The callback that long work takes. Must not outlive the bar.
  Progress callback();

 private:
  void update(std::int64_t done, std::int64_t total);

  std::string title_;
  Unit unit_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

/// The same for work that cannot say how far it is: after a second, the title and how many seconds
/// it has lasted. While a ProgressBar or a later line lives, that one is shown instead.
class ElapsedLine {
 public:
  explicit ElapsedLine(std::string title);
  ~ElapsedLine();
  ElapsedLine(const ElapsedLine&) = delete;
  ElapsedLine& operator=(const ElapsedLine&) = delete;

 private:
  void show_seconds();

  std::string title_;
  const ElapsedLine* outer_ = nullptr;  ///< the line that this one hides
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread thread_;  ///< none where stderr is no terminal
};

/// Takes the line of progress off the terminal, where one is shown.
void erase_progress();

}  // namespace sextant::app
