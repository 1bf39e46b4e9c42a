// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "sextant/core/error.h"

namespace sextant::app {

void prepare_streams() {
  // Open the wrong way round, /dev/null refuses: reading 0 and writing 1 fail as on a closed
  // stream. Each call takes the lowest number that is free, which is the stream in question.
  constexpr int kModes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int stream = 0; stream < 3; ++stream) {
    if (::fcntl(stream, F_GETFD) < 0) (void)!::open("/dev/null", kModes[stream]);
  }
  // A handler, because programs that this one starts would inherit that a signal is ignored.
  std::signal(SIGPIPE, [](int) {});
}

void print(const std::string& text) {
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  const int error_number = errno;
  if (written) return;
  if (error_number == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  fail("cannot write to standard output: ", std::generic_category().message(error_number));
}

void say(const std::string& text) {
  const char* from = text.data();
  std::size_t left = text.size();
  while (left > 0) {
    const ssize_t put = ::write(STDERR_FILENO, from, left);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    from += put;
    left -= static_cast<std::size_t>(put);
  }
}

}  // namespace sextant::app
