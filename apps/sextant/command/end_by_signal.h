// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace sextant::app {

/// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP end the process at once, whatever it computes or
/// writes, and leave no unfinished file behind. The process ends by the signal itself, so that a
/// shell sees the status 130, 143 or 129 and stops its loop. SIGHUP stays ignored where it was so
/// at the start (nohup).
void end_by_signal();

/// While it lives, a signal that ends the process also removes this folder and what is in it.
class RemovedBySignal {
 public:
  explicit RemovedBySignal(std::filesystem::path folder);
  ~RemovedBySignal();
  RemovedBySignal(const RemovedBySignal&) = delete;
  RemovedBySignal& operator=(const RemovedBySignal&) = delete;

 private:
  std::filesystem::path folder_;
};

}  // namespace sextant::app
