// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace sextant::app {

/// From now on Ctrl-C (SIGINT), SIGTERM and SIGHUP end the process at once, whatever it computes or
/// writes, and leave no unfinished file behind. The process ends by the signal itself, so that a
/// shell sees the status 130, 143 or 129 and stops its loop. SIGHUP stays ignored where it was so
/// at the start (nohup).
void end_by_signal();

/// A new folder among the temporary ones, NAME_ and six letters, for what passes between programs.
/// It goes with the object, and with a signal that ends the process, whatever the moment.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace sextant::app
