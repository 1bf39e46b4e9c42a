// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "sextant/core/error.h"

namespace sextant::measure {

/// Other programs that want the processors: processes of normal priority that compute without end.
/// They die with this object, and with this process however it ends.
class Competitors {
 public:
  explicit Competitors(int count) {
    const pid_t parent = getpid();
    for (int i = 0; i < count; ++i) {
      const pid_t child = fork();
      require(child >= 0, "cannot start a competing process");
      if (child == 0) compete(parent);
      children_.push_back(child);
    }
  }
  ~Competitors() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  Competitors(const Competitors&) = delete;
  Competitors& operator=(const Competitors&) = delete;

 private:
  [[noreturn]] static void compete(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);  // the parent ended before the line above
    for (volatile std::uint64_t steps = 0;;) steps = steps + 1;
  }

  std::vector<pid_t> children_;
};

}  // namespace sextant::measure
