// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <thread>

#include "bench/competitors.h"
#include "measure/report.h"
#include "sextant/core/device.h"

namespace sextant::measure {

/// After a loop, idle threads of OpenMP spin for milliseconds on processors that others need.
inline void let_peers_sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }

/// One operation and those who do the same: what a loaded run measures.
struct Contest {
  struct Peer {
    std::string name;
    std::function<void()> run;
  };
  std::string what;
  std::function<void()> ours;
  std::vector<Peer> peers;
};

/// Times of a contest, the peers' in their order.
struct ContestTimes {
  std::size_t turns = 0;
  Spread ours;
  std::vector<Spread> peers;

  /// The index of the fastest peer.
  std::size_t fastest() const {
    const auto by_median = [](const Spread& a, const Spread& b) { return a.median < b.median; };
    return static_cast<std::size_t>(std::min_element(peers.begin(), peers.end(), by_median) -
                                    peers.begin());
  }
};

/// Runs everybody in turn, so that all meet the same weather, once a round, for as many rounds as
/// fit the budget: nobody gets more tries than another.
inline ContestTimes time_contest(const Contest& contest) {
  constexpr double kBudget_ms = 15000;
  constexpr int kFewestRounds = 20, kMostRounds = 200;
  std::vector<double> ours;
  std::vector<std::vector<double>> theirs(contest.peers.size());
  double spent_ms = 0;
  contest.ours();  // all warm up
  for (const Contest::Peer& peer : contest.peers) peer.run();
  for (int round = 0; round < kMostRounds; ++round) {
    if (round >= kFewestRounds && spent_ms > kBudget_ms) break;
    let_peers_sleep();
    ours.push_back(milliseconds(contest.ours));
    spent_ms += ours.back();
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      theirs[i].push_back(milliseconds(contest.peers[i].run));
      spent_ms += theirs[i].back();
    }
  }
  ContestTimes times{ours.size(), spread_of(ours), {}};
  for (const std::vector<double>& sample : theirs) times.peers.push_back(spread_of(sample));
  return times;
}

/// Half of each processor is left beside one competitor on each, so twice the quiet time is ideal.
/// The goals stand beside the fastest peer.
inline void add_rows(const Contest& contest, const ContestTimes& quiet, const ContestTimes& loaded,
                     std::vector<Row>& rows) {
  const double median_goal = 2.5 * quiet.ours.median, p95_goal = 5 * quiet.ours.median;
  for (std::size_t i = 0; i < contest.peers.size(); ++i) {
    const auto name = [&](const char* state, const ContestTimes& times, const char* figure) {
      return contest.what + ", " + state + ", " + figure + " of " + std::to_string(times.turns) +
             ", peer " + contest.peers[i].name;
    };
    const auto add = [&](const std::string& what, double peer, double ours,
                         std::optional<double> goal) {
      std::optional<bool> met;
      if (goal) met = ours <= *goal;
      rows.push_back({what, "ms", peer, ours, goal, met});
    };
    const auto goal = [&](double value) {
      return i == loaded.fastest() ? std::optional(value) : std::nullopt;
    };
    add(name("quiet", quiet, "median"), quiet.peers[i].median, quiet.ours.median, {});
    add(name("quiet", quiet, "p95"), quiet.peers[i].p95, quiet.ours.p95, {});
    add(name("loaded", loaded, "median"), loaded.peers[i].median, loaded.ours.median,
        goal(median_goal));
    add(name("loaded", loaded, "p95"), loaded.peers[i].p95, loaded.ours.p95, goal(p95_goal));
  }
  const std::size_t fastest = loaded.fastest();
  const double ratio = loaded.peers[fastest].median / loaded.ours.median;
  rows.push_back({contest.what + ", loaded, time of " + contest.peers[fastest].name + " over ours",
                  "x",
                  {},
                  ratio,
                  1.0,
                  ratio >= 1});
}

/// Each contest on a machine as quiet as it is, then beside one busy process for each processor.
inline int run_loaded(const std::string& name, const std::vector<Contest>& contests,
                      const std::string& file) {
  const DeviceInfo cpu = list_devices().devices.front();
  std::vector<Row> rows;
  for (const Contest& contest : contests) {
    const ContestTimes quiet = time_contest(contest);
    const Competitors competitors(cpu.processors);
    add_rows(contest, quiet, time_contest(contest), rows);
  }
  const std::string machine = cpu.name + ", " + std::to_string(cpu.processors) +
                              " threads, loaded with as many busy processes";
  publish(name + "_loaded", machine, rows, file);
  return 0;
}

/// The main function of a benchmark that has a loaded mode: `--loaded [RESULT.json]`.
inline int run_main(int argc, char** argv, const std::function<int(const std::string& file)>& run,
                    const std::string& name,
                    const std::function<std::vector<Contest>()>& contests) {
  if (argc < 2 || std::strcmp(argv[1], "--loaded") != 0) return run_main(argc, argv, run);
  return run_main(argc - 1, argv + 1,
                  [&](const std::string& file) { return run_loaded(name, contests(), file); });
}

}  // namespace sextant::measure
