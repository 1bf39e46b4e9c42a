// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/end_by_signal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "apps/sextant/command/progress_bar.h"
#include "sextant/core/error.h"
#include "sextant/io/file.h"

namespace sextant::app {

namespace {

constexpr int kEndingSignals[] = {SIGINT, SIGTERM, SIGHUP};

struct Folders {
  std::mutex mutex;
  std::set<std::filesystem::path> paths;
};

/// Lives as long as the process, because the watching thread does.
Folders& folders() {
  static Folders& all = *new Folders;
  return all;
}

int watched_pipe[2] = {-1, -1};
std::atomic<std::time_t> first_signal_s = 0;
static_assert(std::atomic<std::time_t>::is_always_lock_free);

/// A handler may hardly do anything, so it hands the signal to a thread that may. If that thread is
/// held up, say by a disk that does not answer, a signal some seconds later ends the process
/// without it; not one that comes at once, because `timeout` and shells send the same one twice.
void on_signal(int number) {
  constexpr std::time_t kPatience_s = 3;
  const int error_number = errno;
  const std::time_t now_s = std::time(nullptr);
  std::time_t none = 0;
  if (!first_signal_s.compare_exchange_strong(none, now_s) && now_s - none >= kPatience_s) {
    _exit(128 + number);
  }
  const char byte = static_cast<char>(number);
  (void)!::write(watched_pipe[1], &byte, 1);
  errno = error_number;
}

/// Another program, or this one's other threads, may still be making files in it.
void remove_folder(const std::filesystem::path& folder) {
  std::error_code error;
  for (int tries = 0; tries < 20; ++tries) {
    std::filesystem::remove_all(folder, error);
    if (!std::filesystem::exists(folder, error)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void end_after_signal() {
  char byte = 0;
  while (::read(watched_pipe[0], &byte, 1) != 1) {
  }
  const auto no_more_writes = remove_unfinished_files();
  const std::lock_guard no_more_folders(folders().mutex);
  for (const auto& folder : folders().paths) remove_folder(folder);
  erase_progress();
  const int number = static_cast<unsigned char>(byte);
  std::signal(number, SIG_DFL);
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(number);
}

}  // namespace

void end_by_signal() {
  if (::pipe2(watched_pipe, O_CLOEXEC) != 0) return;
  try {
    std::thread(end_after_signal).detach();
  } catch (const std::system_error&) {
    return;  // no thread is to be had; signals then do what they do by default
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : kEndingSignals) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;
    ::sigaction(number, &action, nullptr);
  }
}

/// A signal finds the folder in the list or not made yet: it waits for the lock, and keeps it.
ScratchFolder::ScratchFolder(const std::string& name) {
  std::string path = (std::filesystem::temp_directory_path() / (name + "_XXXXXX")).string();
  const std::lock_guard lock(folders().mutex);
  if (!::mkdtemp(path.data())) fail(path, ": cannot be made: ", std::strerror(errno));
  path_ = path;
  folders().paths.insert(path_);
}

ScratchFolder::~ScratchFolder() {
  const std::lock_guard lock(folders().mutex);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  folders().paths.erase(path_);
}

}  // namespace sextant::app
