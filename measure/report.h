// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sextant/io/file.h"

namespace sextant::measure {

inline double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  return time.count();
}

/// Median and 95th percentile of a sample.
struct Spread {
  double median = 0;
  double p95 = 0;
};
inline Spread spread_of(std::vector<double> sample) {
  if (sample.empty()) return {};
  std::sort(sample.begin(), sample.end());
  const auto at = [&](double share) {
    return sample[static_cast<std::size_t>(share * static_cast<double>(sample.size() - 1) + 0.5)];
  };
  return {at(0.5), at(0.95)};
}

/// One line of a result: what we measured, the peer in the same run, and the goal.
struct Row {
  std::string what;
  std::string unit;
  std::optional<double> peer;
  double ours = 0;
  std::optional<double> goal;
  std::optional<bool> met;
  std::optional<double> paper = {};  ///< what the paper reports
};

/// When this program started.
inline const std::chrono::steady_clock::time_point kProgramStart = std::chrono::steady_clock::now();

inline std::string today_utc() {
  const std::time_t now = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// The document that `sextant reproduce --json` and the benchmarks share. The commit comes from the
/// environment variable SEXTANT_COMMIT; `seconds` is what the program has taken so far, so that the
/// next run can say beforehand how long it lasts.
inline nlohmann::json to_json(const std::string& name, const std::string& device,
                              const std::vector<Row>& rows) {
  const auto or_null = [](const auto& value) {
    return value ? nlohmann::json(*value) : nlohmann::json();
  };
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    list.push_back({{"what", row.what},
                    {"unit", row.unit},
                    {"paper", or_null(row.paper)},
                    {"peer", or_null(row.peer)},
                    {"ours", row.ours},
                    {"goal", or_null(row.goal)},
                    {"met", or_null(row.met)}});
  }
  const char* commit = std::getenv("SEXTANT_COMMIT");
  return {{"name", name},
          {"device", device},
          {"commit", commit ? nlohmann::json(commit) : nlohmann::json()},
          {"date", today_utc()},
          {"seconds",
           std::chrono::duration<double>(std::chrono::steady_clock::now() - kProgramStart).count()},
          {"rows", list}};
}

/// Prints the rows as a table and writes the document that the tables are made from.
inline void publish(const std::string& name, const std::string& device,
                    const std::vector<Row>& rows, const std::string& file) {
  std::printf("%-72s %10s %10s %10s\n", (name + " on " + device).c_str(), "peer", "ours", "unit");
  for (const Row& row : rows) {
    std::printf("%-72s %10s %10.4g %10s%s\n", row.what.c_str(),
                row.peer ? std::to_string(*row.peer).substr(0, 9).c_str() : "-", row.ours,
                row.unit.c_str(), row.met ? (*row.met ? "  met" : "  MISSED") : "");
  }
  if (file.empty()) return;
  const std::string text = to_json(name, device, rows).dump(2) + "\n";
  write_file_atomically(file, std::as_bytes(std::span(text)));
}

/// The main function of a benchmark: `run` gets the file for the results, or an empty name.
inline int run_main(int argc, char** argv, const std::function<int(const std::string& file)>& run) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: %s [RESULT.json]\n", argv[0]);
    return 2;
  }
  try {
    return run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace sextant::measure
