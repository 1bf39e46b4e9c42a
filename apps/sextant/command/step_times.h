// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apps/sextant/command/progress_bar.h"
#include "sextant/core/context.h"

namespace sextant::app {

/// Milliseconds of each step of a command, in the order they ran. A step of more than a second is
/// shown on a terminal while it runs.
class StepTimes {
 public:
  template <class Work>
  auto time(const char* step, const Context& context, const Work& work) {
    const ElapsedLine line(step);
    const auto start = std::chrono::steady_clock::now();
    const auto note = [&] {
      context.synchronize();
      const std::chrono::duration<double, std::milli> taken =
          std::chrono::steady_clock::now() - start;
      steps_.emplace_back(step, taken.count());
    };
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      note();
    } else {
      auto result = work();
      note();
      return result;
    }
  }
  nlohmann::json to_json() const {
    nlohmann::json document = nlohmann::json::object();
    for (const auto& [step, time_ms] : steps_) document[step] = time_ms;
    return document;
  }
  std::string text() const {
    std::string line;
    for (const auto& [step, time_ms] : steps_) {
      line += fmt::format("{}{} {:.2f} ms", line.empty() ? "" : ", ", step, time_ms);
    }
    return line;
  }

 private:
  std::vector<std::pair<std::string, double>> steps_;
};

}  // namespace sextant::app
