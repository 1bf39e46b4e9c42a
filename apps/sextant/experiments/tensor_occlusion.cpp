// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <map>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/toy_tables.h"
#include "sextant/match/library_matches.h"

// Section 4.3.2, Figs. 16 and 17 of the tensor paper: tables with toys that are hidden by others
// and by things that the library does not know. The paper counts single tensors that are taken for
// the right object, and has no verification; poses, found by each source alone and by all, are
// ours. Hidden is the share of the pixels that the toy would have alone in the same view; the paper
// says "total object points" without saying of which view.

namespace sextant::app {

namespace {

/// Occlusions of Fig. 16 (25, 42, 47 and 82 %), and between them.
constexpr float kOcclusions[] = {0.25f, 0.35f, 0.42f, 0.47f, 0.55f, 0.65f, 0.75f, 0.82f};
constexpr std::uint64_t kTables = 4;  // of each; the paper has 8 in all

struct Manner {
  const char* name;
  const char* sources;
};
constexpr Manner kManners[] = {{"point pairs", "point-pairs"},
                               {"tensors", "tensors"},
                               {"SHOT", "shot"},
                               {"all three", "point-pairs,tensors,shot"}};

struct Interval {
  double low, high;  // of the hidden share
  const char* name;
  std::optional<double> goal;  // of what is found by all sources
};
constexpr Interval kIntervals[] = {
    {-1, 0.25, "up to 25 %", {}},  {0.25, 0.45, "25 to 45 %", {}},
    {0.45, 0.6, "45 to 60 %", {}}, {0.6, 0.8, "60 to 80 %", 75.0},
    {0.8, 0.9, "80 to 90 %", {}},  {-1, 0.6, "up to 60 %, together", 95.0}};

/// Tensors of tables by what they lie on, and how many were taken for that.
struct TensorLabels {
  double on_toys = 0, right = 0, on_strangers = 0;

  void count(const Context& context, const ResidentLibrary& library, const ToyTable& table) {
    // Objects were learned without a table, which the recogniser leaves out as well.
    Image<float> depth_m = copy(context, table.depth_m);
    for (int v = 0; v < depth_m.height(); ++v) {
      for (int u = 0; u < depth_m.width(); ++u) {
        if (table.ids(u, v) == 0) depth_m(u, v) = NAN;
      }
    }
    const LibraryMatches found =
        match_library_tensors(context, library, depth_m, table.scene.camera, {}, {.k = 1});
    for (const LibraryMatch& match : found.matches) {
      const Vec2f pixel = project(cast<float>(table.scene.camera), match.scene_m);
      const int u = static_cast<int>(std::lround(pixel.x));
      const int v = static_cast<int>(std::lround(pixel.y));
      if (!table.ids.view().contains(u, v) || table.ids(u, v) <= 0) continue;
      const std::string& lies_on =
          table.scene.objects[static_cast<std::size_t>(table.ids(u, v)) - 1].name;
      const bool known = std::ranges::any_of(
          library.objects, [&](const ResidentObject& object) { return object.name == lies_on; });
      on_toys += known;
      on_strangers += !known;
      right += library.objects[static_cast<std::size_t>(match.object)].name == lies_on;
    }
  }
};

struct Outcome {
  std::array<double, std::size(kIntervals)> sought{}, proposed{}, found{};
  double false_reports = 0;

  void count(const JudgedTable& judged) {
    for (const SoughtToy& toy : judged.toys) {
      for (std::size_t i = 0; i < std::size(kIntervals); ++i) {
        if (toy.hidden <= kIntervals[i].low || toy.hidden > kIntervals[i].high) continue;
        sought[i] += 1;
        proposed[i] += toy.proposed;
        found[i] += toy.found;
      }
    }
    false_reports += judged.false_reports;
  }
};

void add_rates(const std::array<Outcome, std::size(kManners)>& outcomes,
               std::vector<measure::Row>& rows) {
  for (std::size_t i = 0; i < std::size(kIntervals); ++i) {
    const Interval& interval = kIntervals[i];
    if (outcomes[0].sought[i] == 0) continue;
    for (std::size_t m = 0; m < std::size(kManners); ++m) {
      const double rate = 100 * outcomes[m].found[i] / outcomes[m].sought[i];
      measure::Row row{fmt::format("toys hidden {}, found by {}", interval.name, kManners[m].name),
                       "%",
                       {},
                       rate,
                       {},
                       {}};
      const bool all = m + 1 == std::size(kManners);
      if (all && interval.goal) row.goal = interval.goal, row.met = rate >= *interval.goal;
      rows.push_back(row);
    }
    for (std::size_t m = 0; m < std::size(kManners); ++m) {
      rows.push_back(
          {fmt::format("toys hidden {}, proposed by {}", interval.name, kManners[m].name),
           "%",
           {},
           100 * outcomes[m].proposed[i] / outcomes[m].sought[i],
           {},
           {}});
    }
    rows.push_back(
        {fmt::format("toys hidden {}", interval.name), "", {}, outcomes[0].sought[i], {}, {}});
  }
}

}  // namespace

std::vector<measure::Row> tensor_occlusion(const Context& context) {
  const std::vector<LearnedObject> toys = learn_toys(context);
  const ToyJudge judge(toys);
  const TableObjects objects(ObjectSet::kAll);
  const Context host = context.is_cpu() ? context : Context::cpu();
  const ResidentLibrary library = make_resident(host, toys);
  std::vector<Recognizer> recognizers;
  for (const Manner& manner : kManners) {
    recognizers.emplace_back(context, toys, RecognizeOptions{.sources = manner.sources});
  }
  TensorLabels labels;
  std::array<Outcome, std::size(kManners)> outcomes;
  double tables = 0;
  for (std::size_t o = 0; o < std::size(kOcclusions); ++o) {
    for (std::uint64_t t = 0; t < kTables; ++t) {
      const ToyTable table = make_toy_table(host, objects, kOcclusions[o], 1000 * o + t);
      labels.count(host, library, table);
      for (std::size_t m = 0; m < std::size(kManners); ++m) {
        RecognitionTrace trace;
        const Recognition recognition =
            recognizers[m].recognize(table.depth_m, table.scene.camera, {}, {}, &trace);
        outcomes[m].count(judge.judge(table, recognition, trace));
      }
      ++tables;
    }
  }
  std::vector<measure::Row> rows;
  rows.push_back({"tables", "", {}, tables, {}, {}, 8.0});
  rows.push_back({"tensors with the right label, of those on toys and strangers",
                  "%",
                  {},
                  100 * labels.right / (labels.on_toys + labels.on_strangers),
                  {},
                  {},
                  82.0});
  rows.push_back({"tensors with the right label, of those on toys",
                  "%",
                  {},
                  100 * labels.right / labels.on_toys,
                  {},
                  {}});
  add_rates(outcomes, rows);
  for (std::size_t m = 0; m < std::size(kManners); ++m) {
    rows.push_back({fmt::format("false reports in 50 tables, by {}", kManners[m].name),
                    "",
                    {},
                    50 * outcomes[m].false_reports / tables,
                    {},
                    {}});
  }
  return rows;
}

}  // namespace sextant::app
