// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/progress_bar.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <system_error>

#include "apps/sextant/command/streams.h"

namespace sextant::app {

namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> line_is_shown = false;
std::atomic<int> bars = 0;
std::atomic<const ElapsedLine*> innermost = nullptr;

bool on_terminal() { return isatty(STDERR_FILENO) != 0; }

void show(const std::string& line) {
  line_is_shown = true;
  say("\r\x1b[K" + line);
}

}  // namespace

void erase_progress() {
  if (line_is_shown.exchange(false)) say("\r\x1b[K");
}

ProgressBar::ProgressBar(std::string title, Unit unit)
    : title_(std::move(title)), unit_(std::move(unit)), start_(Clock::now()), last_(start_) {
  ++bars;
}

ProgressBar::~ProgressBar() {
  --bars;
  erase_progress();
}

Progress ProgressBar::callback() {
  if (!on_terminal()) return {};
  return [this](std::int64_t done, std::int64_t total) {
    update(done, total);
    return true;
  };
}

void ProgressBar::update(std::int64_t done, std::int64_t total) {
  const auto now = Clock::now();
  const std::chrono::duration<double> elapsed = now - start_;
  if (elapsed.count() < 0.5 || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double rate = static_cast<double>(done) * unit_.factor / elapsed.count();
  std::string line = fmt::format("{}: {:.1f} {}/s", title_, rate, unit_.name);
  if (total > 0 && done > 0) {
    const double left =
        elapsed.count() * static_cast<double>(total - done) / static_cast<double>(done);
    line += fmt::format(", {:.0f} %, {:.0f} s left",
                        100.0 * static_cast<double>(done) / static_cast<double>(total), left);
  }
  show(line);
}

ElapsedLine::ElapsedLine(std::string title) : title_(std::move(title)) {
  if (!on_terminal()) return;
  outer_ = innermost.exchange(this);
  try {
    thread_ = std::thread([this] { show_seconds(); });
  } catch (const std::system_error&) {
    innermost = outer_;  // without a thread to be had the work goes on in silence
  }
}

ElapsedLine::~ElapsedLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  thread_.join();
  innermost = outer_;
  erase_progress();
}

void ElapsedLine::show_seconds() {
  const auto start = Clock::now();
  std::unique_lock lock(mutex_);
  for (int seconds = 1;; ++seconds) {
    const auto due = start + std::chrono::seconds(seconds);
    if (over_changed_.wait_until(lock, due, [this] { return over_; })) return;
    if (bars == 0 && innermost == this) show(fmt::format("{}: {} s", title_, seconds));
  }
}

}  // namespace sextant::app
