// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "apps/sextant/command/progress_bar.h"
#include "sextant/learn/learn_progress.h"

namespace sextant::app {

/// Shows one line for each step of learning an object.
class LearnBars {
 public:
  explicit LearnBars(std::string object) : object_(std::move(object)) {}

  LearnProgress callback() {
    return [this](std::string_view step, std::int64_t done, std::int64_t total) {
      if (step != step_) {
        bar_.reset();
        bar_.emplace(fmt::format("{}: {}", object_, step), ProgressBar::Unit{"", 1});
        step_ = step;
      }
      const Progress show = bar_->callback();
      return !show || show(done, total);
    };
  }

 private:
  std::string object_;
  std::string step_;
  std::optional<ProgressBar> bar_;
};

}  // namespace sextant::app
