// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

namespace sextant::app {

namespace {

volatile std::sig_atomic_t interrupt_count = 0;

void on_interrupt(int) {
  interrupt_count = interrupt_count + 1;
  if (interrupt_count > 1) _exit(130);
}

}  // namespace

void stop_on_interrupt() { std::signal(SIGINT, on_interrupt); }
void throw_if_interrupted() {
  if (interrupt_count > 0) throw Cancelled("stopped on request");
}

ProgressBar::ProgressBar(std::string title, Unit unit)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      on_terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {
  stop_on_interrupt();
}

ProgressBar::~ProgressBar() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
}

Progress ProgressBar::callback() {
  return [this](std::int64_t done, std::int64_t total) { return update(done, total); };
}

bool ProgressBar::update(std::int64_t done, std::int64_t total) {
  if (interrupt_count > 0) return false;
  const auto now = std::chrono::steady_clock::now();
  const std::chrono::duration<double> elapsed = now - start_;
  if (!on_terminal_ || elapsed.count() < 0.5 || now - last_ < std::chrono::milliseconds(100)) {
    return true;
  }
  last_ = now;
  shown_ = true;
  const double rate = static_cast<double>(done) * unit_.factor / elapsed.count();
  std::string line = fmt::format("\r\x1b[K{}: {:.1f} {}/s", title_, rate, unit_.name);
  if (total > 0 && done > 0) {
    const double left =
        elapsed.count() * static_cast<double>(total - done) / static_cast<double>(done);
    line += fmt::format(", {:.0f} %, {:.0f} s left",
                        100.0 * static_cast<double>(done) / static_cast<double>(total), left);
  }
  fmt::print(stderr, "{}", line);
  std::fflush(stderr);
  return true;
}

}  // namespace sextant::app
