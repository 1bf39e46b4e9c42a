// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/toy_tables.h"
#include "sextant/evaluate/calibration.h"

// What recognition was set to reach on rendered tables: seven toys, sensors' noise from 0.6 to
// 1.2 m, a hundred tables with three to six toys among strangers.

namespace sextant::app {

namespace {

constexpr std::uint64_t kTables = 100, kFirst = 400;

struct Interval {
  double low, high;  // of the hidden share
  const char* name;
  std::optional<double> goal;  // of the share that is found
};
constexpr Interval kIntervals[] = {{-1, 0.25, "up to 25 %", {}},
                                   {0.25, 0.6, "25 to 60 %", {}},
                                   {-1, 0.6, "up to 60 %, together", 95.0},
                                   {0.6, 0.8, "60 to 80 %", 75.0},
                                   {0.8, 0.9, "80 to 90 %", {}}};

measure::Row with_goal(std::string what, std::string unit, double ours, double goal, bool met) {
  return {std::move(what), std::move(unit), {}, ours, goal, met};
}

}  // namespace

std::vector<measure::Row> recognition_tables(const Context& context) {
  const std::vector<LearnedObject> toys = learn_toys(context);
  const ToyJudge judge(toys);
  const TableObjects objects(ObjectSet::kAll);
  const Recognizer recognizer(context, toys);
  std::vector<SoughtToy> sought;
  std::vector<RankedEstimate> reports;
  double wrong = 0, false_reports = 0;
  for (std::uint64_t t = 0; t < kTables; ++t) {
    const ToyTable table = make_mixed_table(context, objects, kFirst + t);
    RecognitionTrace trace;
    const Recognition recognition =
        recognizer.recognize(table.depth_m, table.scene.camera, {}, {}, &trace);
    const JudgedTable judged = judge.judge(table, recognition, trace);
    sought.insert(sought.end(), judged.toys.begin(), judged.toys.end());
    reports.insert(reports.end(), judged.reports.begin(), judged.reports.end());
    wrong += judged.wrong_reports;
    false_reports += judged.false_reports - judged.wrong_reports;
  }
  std::vector<measure::Row> rows;
  for (const Interval& interval : kIntervals) {
    double count = 0, proposed = 0, found = 0;
    for (const SoughtToy& toy : sought) {
      if (toy.hidden <= interval.low || toy.hidden > interval.high) continue;
      count += 1;
      proposed += toy.proposed;
      found += toy.found;
    }
    if (count == 0) continue;
    const double rate = 100 * found / count;
    measure::Row row{fmt::format("toys hidden {}, found", interval.name), "%", {}, rate, {}, {}};
    if (interval.goal) row.goal = interval.goal, row.met = rate >= *interval.goal;
    rows.push_back(row);
    rows.push_back({fmt::format("toys hidden {}, proposed", interval.name),
                    "%",
                    {},
                    100 * proposed / count,
                    {},
                    {}});
    rows.push_back({fmt::format("toys hidden {}", interval.name), "", {}, count, {}, {}});
  }
  const double per_fifty = 50.0 / static_cast<double>(kTables);
  rows.push_back(with_goal("false reports in 50 tables", "", per_fifty * false_reports, 1,
                           per_fifty * false_reports <= 1));
  rows.push_back({"poses of a toy that is there, but turned, in 50 tables",
                  "",
                  {},
                  per_fifty * wrong,
                  {},
                  {}});
  std::vector<double> distances_mm, angles_deg;
  for (const SoughtToy& toy : sought) {
    if (!toy.found) continue;
    distances_mm.push_back(1000 * toy.error.translation_m);
    angles_deg.push_back(toy.error.rotation_rad * 180 / M_PI);
  }
  const double distance_mm = measure::spread_of(distances_mm).median;
  const double angle_deg = measure::spread_of(angles_deg).median;
  rows.push_back(with_goal("median error of place", "mm", distance_mm, 2, distance_mm <= 2));
  rows.push_back(with_goal("median error of rotation", "deg", angle_deg, 1.5, angle_deg <= 1.5));
  const double error = measure_calibration(reports).expected_error;
  rows.push_back(with_goal("expected calibration error", "", error, 0.05, error <= 0.05));
  return rows;
}

}  // namespace sextant::app
