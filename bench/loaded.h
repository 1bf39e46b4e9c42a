// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <limits>
#include <thread>

#include "bench/competitors.h"
#include "measure/report.h"
#include "sextant/core/device.h"

namespace sextant::measure {

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

/// Times of a contest: ours and the fastest peer's.
struct ContestTimes {
  std::size_t turns = 0;
  Spread ours;
  Spread peer;
  std::string peer_name;
};

/// Runs everybody in turn, so that all meet the same weather: ours several times a round, because
/// the slow tail of it is judged, for as many rounds as fit the budget.
inline ContestTimes time_contest(const Contest& contest) {
  constexpr double kBudget_ms = 15000;
  constexpr int kFewestRounds = 5, kMostRounds = 40, kOursPerRound = 5;
  // After a loop, idle threads of OpenMP spin for milliseconds on processors that others need.
  constexpr std::chrono::milliseconds kUntilPeersSleep{30};
  std::vector<double> ours;
  std::vector<std::vector<double>> theirs(contest.peers.size());
  double spent_ms = 0;
  contest.ours();  // warms up
  for (int round = 0; round < kMostRounds; ++round) {
    if (round >= kFewestRounds && spent_ms > kBudget_ms) break;
    std::this_thread::sleep_for(kUntilPeersSleep);
    for (int turn = 0; turn < kOursPerRound; ++turn) {
      ours.push_back(milliseconds(contest.ours));
      spent_ms += ours.back();
    }
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      theirs[i].push_back(milliseconds(contest.peers[i].run));
      spent_ms += theirs[i].back();
    }
  }
  ContestTimes times{ours.size(), spread_of(ours), {}, "none"};
  times.peer.median = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    const Spread spread = spread_of(theirs[i]);
    if (spread.median >= times.peer.median) continue;
    times.peer = spread;
    times.peer_name = contest.peers[i].name;
  }
  return times;
}

/// Half of each processor is left beside one competitor on each, so twice the quiet time is ideal.
inline void add_rows(const Contest& contest, const ContestTimes& quiet, const ContestTimes& loaded,
                     std::vector<Row>& rows) {
  const auto name = [&](const char* state, const ContestTimes& times, const char* figure) {
    return contest.what + ", " + state + ", " + figure + " of " + std::to_string(times.turns) +
           ", peer " + times.peer_name;
  };
  const double median_goal = 2.5 * quiet.ours.median, p95_goal = 5 * quiet.ours.median;
  rows.push_back(
      {name("quiet", quiet, "median"), "ms", quiet.peer.median, quiet.ours.median, {}, {}});
  rows.push_back({name("quiet", quiet, "p95"), "ms", quiet.peer.p95, quiet.ours.p95, {}, {}});
  rows.push_back({name("loaded", loaded, "median"), "ms", loaded.peer.median, loaded.ours.median,
                  median_goal, loaded.ours.median <= median_goal});
  rows.push_back({name("loaded", loaded, "p95"), "ms", loaded.peer.p95, loaded.ours.p95, p95_goal,
                  loaded.ours.p95 <= p95_goal});
  const double ratio = loaded.peer.median / loaded.ours.median;
  rows.push_back({contest.what + ", loaded, time of " + loaded.peer_name + " over ours",
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
