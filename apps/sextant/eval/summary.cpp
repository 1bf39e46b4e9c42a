// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace sextant::app {

namespace {

using nlohmann::json;

constexpr double kDegree = 0.017453292519943295;

/// One of the numbers that BOP thresholds.
using ErrorOf = std::function<double(const BopErrors&)>;

void count(const JudgedImage& image, Tally& tally, int object) {
  for (std::size_t i = 0; i < image.truth.size(); ++i) {
    if (object >= 0 && image.truth[i].object_id != object) continue;
    tally.instances += image.judgement.instances[i].wanted ? 1 : 0;
  }
  for (std::size_t i = 0; i < image.reports.size(); ++i) {
    if (object >= 0 && image.reports[i].object_id != object) continue;
    const JudgedReport& report = image.judgement.reports[i];
    tally.right += report.verdict == Verdict::kRight;
    tally.wrong += report.verdict == Verdict::kWrong;
    tally.false_reports += report.verdict == Verdict::kFalse;
    tally.unlisted += report.verdict == Verdict::kUnlisted;
    tally.hidden += report.verdict == Verdict::kHidden;
    if (report.verdict != Verdict::kRight) continue;
    tally.distances_m.push_back(report.difference.translation_m);
    tally.angles_rad.push_back(report.difference.rotation_rad);
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return NAN;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// The reports and instances of an object in an image, and a table of one of their errors.
struct ObjectTable {
  std::vector<int> reports, instances;
  std::vector<double> scores;
  ErrorTable table;
};

ObjectTable table_of(const JudgedImage& image, int object, const ErrorOf& error_of) {
  ObjectTable made;
  std::vector<int> row(image.reports.size(), -1), column(image.truth.size(), -1);
  for (std::size_t i = 0; i < image.reports.size(); ++i) {
    if (image.reports[i].object_id != object) continue;
    row[i] = static_cast<int>(made.reports.size());
    made.reports.push_back(static_cast<int>(i));
    made.scores.push_back(image.reports[i].score);
  }
  for (std::size_t i = 0; i < image.truth.size(); ++i) {
    if (image.truth[i].object_id != object) continue;
    column[i] = static_cast<int>(made.instances.size());
    made.instances.push_back(static_cast<int>(i));
  }
  made.table = {static_cast<int>(made.reports.size()), static_cast<int>(made.instances.size()),
                std::vector<double>(made.reports.size() * made.instances.size(),
                                    std::numeric_limits<double>::infinity())};
  for (const BopErrors& errors : image.judgement.errors) {
    const int r = row[static_cast<std::size_t>(errors.report)];
    const int c = column[static_cast<std::size_t>(errors.instance)];
    if (r < 0 || c < 0) continue;
    made.table
        .errors[static_cast<std::size_t>(r) * made.instances.size() + static_cast<std::size_t>(c)] =
        error_of(errors);
  }
  return made;
}

/// For each instance whether it is among the `most` that are most visible.
std::vector<char> most_visible(const JudgedImage& image, const std::vector<int>& instances,
                               int most) {
  std::vector<std::size_t> order(instances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return image.truth[static_cast<std::size_t>(instances[a])].visible >
           image.truth[static_cast<std::size_t>(instances[b])].visible;
  });
  std::vector<char> allowed(instances.size(), 0);
  for (std::size_t i = 0; i < order.size() && i < static_cast<std::size_t>(most); ++i) {
    allowed[order[i]] = 1;
  }
  return allowed;
}

/// The recall of BOP's localization task, over the thresholds.
double average_recall(std::span<const JudgedImage> images, const std::vector<BopTarget>& targets,
                      const ErrorOf& error_of, const std::function<double(int)>& threshold) {
  std::map<std::pair<int, int>, const JudgedImage*> by_id;
  for (const JudgedImage& image : images) by_id[{image.scene, image.image}] = &image;
  std::int64_t wanted = 0, found = 0;
  for (const BopTarget& target : targets) {
    const auto image = by_id.find({target.scene_id, target.image_id});
    if (image == by_id.end()) continue;
    const ObjectTable made = table_of(*image->second, target.object_id, error_of);
    const std::vector<char> allowed = most_visible(*image->second, made.instances, target.count);
    wanted += std::int64_t{kBopThresholds} * target.count;
    for (int i = 0; i < kBopThresholds; ++i) {
      for (const int match :
           match_estimates(made.table, made.scores, threshold(i), allowed, target.count)) {
        found += match >= 0 ? 1 : 0;
      }
    }
  }
  return wanted > 0 ? static_cast<double>(found) / static_cast<double>(wanted) : 0;
}

/// The mean over objects and thresholds of BOP's average precision of detection.
double mean_average_precision(std::span<const JudgedImage> images, const std::vector<int>& objects,
                              const ErrorOf& error_of,
                              const std::function<double(int)>& threshold) {
  double sum = 0;
  int counted = 0;
  for (const int object : objects) {
    std::int64_t wanted = 0;
    for (const JudgedImage& image : images) {
      for (std::size_t i = 0; i < image.truth.size(); ++i) {
        wanted += image.truth[i].object_id == object && image.judgement.instances[i].wanted;
      }
    }
    if (wanted == 0) continue;
    ++counted;
    for (int i = 0; i < kBopThresholds; ++i) {
      std::vector<RankedEstimate> ranked;
      for (const JudgedImage& image : images) {
        const ObjectTable made = table_of(image, object, error_of);
        const std::vector<int> matched = match_estimates(made.table, made.scores, threshold(i));
        for (std::size_t r = 0; r < matched.size(); ++r) {
          const int instance =
              matched[r] < 0 ? -1 : made.instances[static_cast<std::size_t>(matched[r])];
          const bool counts =
              instance < 0 || image.judgement.instances[static_cast<std::size_t>(instance)].wanted;
          const auto report = static_cast<std::size_t>(made.reports[r]);
          const bool unlisted =
              image.judgement.reports[report].verdict == Verdict::kUnlisted && instance < 0;
          if (counts && !unlisted) ranked.push_back({made.scores[r], instance >= 0});
        }
      }
      sum += average_precision(std::move(ranked), wanted) / kBopThresholds;
    }
  }
  return counted > 0 ? sum / counted : 0;
}

std::vector<BopTarget> targets_of(std::span<const JudgedImage> images) {
  std::vector<BopTarget> targets;
  for (const JudgedImage& image : images) {
    std::map<int, int> counts;
    for (std::size_t i = 0; i < image.truth.size(); ++i) {
      counts[image.truth[i].object_id] += image.judgement.instances[i].wanted;
    }
    for (const auto& [object, number] : counts) {
      if (number > 0) targets.push_back({image.scene, image.image, object, number});
    }
  }
  return targets;
}

void add_bop_scores(std::span<const JudgedImage> images, const std::vector<BopTarget>& targets,
                    bool has_depth, Summary& summary) {
  std::vector<int> objects;
  for (const auto& [id, tally] : summary.objects) objects.push_back(id);
  const auto mssd = [](const BopErrors& e) { return e.mssd; };
  const auto mspd = [](const BopErrors& e) { return e.mspd_px; };
  const auto pixels = [](int i) { return bop_pixels(i, 640); };
  summary.ar_mssd = average_recall(images, targets, mssd, bop_share);
  summary.ar_mspd = average_recall(images, targets, mspd, pixels);
  summary.ar = 0.5 * (summary.ar_mssd + summary.ar_mspd);
  if (has_depth) {
    double sum = 0;
    for (int k = 0; k < kVsdTolerances; ++k) {
      sum += average_recall(
          images, targets, [k](const BopErrors& e) { return e.vsd[k]; }, bop_share);
    }
    summary.ar_vsd = sum / kVsdTolerances;
    summary.ar = (*summary.ar_vsd + summary.ar_mssd + summary.ar_mspd) / 3;
  }
  summary.ap_mssd = mean_average_precision(images, objects, mssd, bop_share);
  summary.ap_mspd = mean_average_precision(images, objects, mspd, pixels);
  summary.ap = 0.5 * (summary.ap_mssd + summary.ap_mspd);
}

json number(double value) { return std::isfinite(value) ? json(value) : json(); }

json to_json(const Tally& t) {
  return {{"instances", t.instances},
          {"right", t.right},
          {"wrong", t.wrong},
          {"false", t.false_reports},
          {"missed", t.missed()},
          {"unlisted", t.unlisted},
          {"hidden", t.hidden},
          {"recall", number(t.recall())},
          {"precision", number(t.precision())},
          {"median_distance_mm", number(median(t.distances_m) * 1000)},
          {"median_angle_deg", number(median(t.angles_rad) / kDegree)}};
}

std::string cell(double value, const char* format = "{:.3f}") {
  return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : "-";
}

}  // namespace

double Tally::recall() const {
  return instances > 0 ? static_cast<double>(right) / static_cast<double>(instances) : NAN;
}
double Tally::precision() const {
  const std::int64_t reports = right + wrong + false_reports;
  return reports > 0 ? static_cast<double>(right) / static_cast<double>(reports) : NAN;
}

Summary summarize(std::span<const JudgedImage> images, std::vector<BopTarget> targets,
                  bool has_depth) {
  Summary summary;
  summary.images = static_cast<int>(images.size());
  for (const double low : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    summary.visible.push_back({low, std::min(low + 0.2, 1.0), 0, 0});
  }
  std::vector<RankedEstimate> ranked;
  std::vector<double> seconds;
  for (const JudgedImage& image : images) {
    count(image, summary.all, -1);
    std::map<int, int> objects;
    for (const Report& report : image.reports) objects[report.object_id] = 1;
    for (const TrueInstance& instance : image.truth) objects[instance.object_id] = 1;
    for (const auto& [id, ignored] : objects) count(image, summary.objects[id], id);
    for (std::size_t i = 0; i < image.truth.size(); ++i) {
      const JudgedInstance& instance = image.judgement.instances[i];
      if (!instance.wanted) continue;
      for (VisibleBin& bin : summary.visible) {
        const bool last = &bin == &summary.visible.back();
        const double share = image.truth[i].visible;
        if (share < bin.low || (share >= bin.high && !last)) continue;
        ++bin.instances;
        bin.right += instance.report >= 0 ? 1 : 0;
        break;
      }
    }
    for (std::size_t i = 0; i < image.reports.size(); ++i) {
      const Verdict verdict = image.judgement.reports[i].verdict;
      if (verdict == Verdict::kUnlisted || verdict == Verdict::kHidden) continue;
      ranked.push_back({image.reports[i].score, verdict == Verdict::kRight});
    }
    if (image.seconds >= 0) seconds.push_back(image.seconds);
  }
  if (targets.empty()) targets = targets_of(images);
  add_bop_scores(images, targets, has_depth, summary);
  summary.curve = precision_recall(ranked, summary.all.instances);
  const bool probabilities =
      !ranked.empty() && std::all_of(ranked.begin(), ranked.end(), [](const RankedEstimate& r) {
        return r.score >= 0 && r.score <= 1;
      });
  if (probabilities) summary.calibration = measure_calibration(ranked);
  if (!seconds.empty()) {
    summary.mean_seconds =
        std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
    summary.median_seconds = median(seconds);
  }
  return summary;
}

std::vector<measure::Row> rows_of(const Summary& s) {
  std::vector<measure::Row> rows;
  const auto add = [&](const char* what, const char* unit, double value) {
    if (std::isfinite(value)) rows.push_back({what, unit, {}, value, {}, {}});
  };
  add("instances", "", static_cast<double>(s.all.instances));
  add("right", "", static_cast<double>(s.all.right));
  add("wrong", "", static_cast<double>(s.all.wrong));
  add("false", "", static_cast<double>(s.all.false_reports));
  add("missed", "", static_cast<double>(s.all.missed()));
  add("recall", "", s.all.recall());
  add("precision", "", s.all.precision());
  add("median distance of right poses", "mm", median(s.all.distances_m) * 1000);
  add("median angle of right poses", "deg", median(s.all.angles_rad) / kDegree);
  if (s.ar_vsd) add("AR VSD", "", *s.ar_vsd);
  add("AR MSSD", "", s.ar_mssd);
  add("AR MSPD", "", s.ar_mspd);
  add("AR", "", s.ar);
  add("AP MSSD", "", s.ap_mssd);
  add("AP MSPD", "", s.ap_mspd);
  add("AP", "", s.ap);
  if (s.calibration) add("expected calibration error", "", s.calibration->expected_error);
  if (s.mean_seconds) add("mean time an image", "s", *s.mean_seconds);
  return rows;
}

std::string text_of(const Summary& s, const SetNotes& notes) {
  std::string text =
      fmt::format("{}: {} images, {} instances ({} truth), {}\n", notes.name, s.images,
                  s.all.instances, notes.truth, name_of(notes.criterion.measure, kPoseMeasures));
  text += fmt::format("{:<24} {:>9} {:>6} {:>6} {:>6} {:>7} {:>9} {:>7} {:>9} {:>7} {:>7}\n",
                      "object", "instances", "right", "wrong", "false", "missed", "unlisted",
                      "recall", "precision", "mm", "deg");
  const auto line = [&](const std::string& name, const Tally& t) {
    text += fmt::format("{:<24} {:>9} {:>6} {:>6} {:>6} {:>7} {:>9} {:>7} {:>9} {:>7} {:>7}\n",
                        name.substr(0, 24), t.instances, t.right, t.wrong, t.false_reports,
                        t.missed(), t.unlisted, cell(t.recall()), cell(t.precision()),
                        cell(median(t.distances_m) * 1000, "{:.1f}"),
                        cell(median(t.angles_rad) / kDegree, "{:.1f}"));
  };
  for (const auto& [id, tally] : s.objects) {
    const auto name = notes.objects.find(id);
    line(name == notes.objects.end() ? fmt::format("object {}", id)
                                     : fmt::format("{} {}", id, name->second),
         tally);
  }
  line("all", s.all);
  text += fmt::format("BOP 2019: AR {:.3f} (VSD {}, MSSD {:.3f}, MSPD {:.3f})\n", s.ar,
                      s.ar_vsd ? cell(*s.ar_vsd) : "-", s.ar_mssd, s.ar_mspd);
  text +=
      fmt::format("BOP 2024: AP {:.3f} (MSSD {:.3f}, MSPD {:.3f})\n", s.ap, s.ap_mssd, s.ap_mspd);
  if (s.calibration) {
    text += fmt::format("calibration error: {:.3f} expected, {:.3f} largest, Brier {:.3f}\n",
                        s.calibration->expected_error, s.calibration->largest_error,
                        s.calibration->brier);
  }
  if (s.mean_seconds) {
    text += fmt::format("{:.3f} s an image on average, {:.3f} s median\n", *s.mean_seconds,
                        *s.median_seconds);
  }
  return text;
}

json to_json(const Summary& s, const SetNotes& notes) {
  json objects = json::array(), visible = json::array(), curve = json::array();
  for (const auto& [id, tally] : s.objects) {
    json entry = to_json(tally);
    entry["object"] = id;
    const auto name = notes.objects.find(id);
    entry["name"] = name == notes.objects.end() ? json() : json(name->second);
    entry["distractor"] = notes.is_distractor(id);
    objects.push_back(entry);
  }
  for (const VisibleBin& bin : s.visible) {
    visible.push_back(
        {{"from", bin.low}, {"to", bin.high}, {"instances", bin.instances}, {"right", bin.right}});
  }
  for (const PrecisionRecall& point : s.curve) {
    curve.push_back({point.score, point.precision, point.recall});
  }
  json document{{"set", notes.name},
                {"truth", notes.truth},
                {"remarks", notes.remarks},
                {"images", s.images},
                {"all", to_json(s.all)},
                {"objects", objects},
                {"by_visible_share", visible},
                {"bop19",
                 {{"AR", s.ar},
                  {"AR_VSD", s.ar_vsd ? json(*s.ar_vsd) : json()},
                  {"AR_MSSD", s.ar_mssd},
                  {"AR_MSPD", s.ar_mspd}}},
                {"bop24", {{"AP", s.ap}, {"AP_MSSD", s.ap_mssd}, {"AP_MSPD", s.ap_mspd}}},
                {"score_precision_recall", curve},
                {"seconds_per_image", s.mean_seconds ? json(*s.mean_seconds) : json()}};
  if (s.calibration) {
    json bins = json::array();
    for (const ReliabilityBin& bin : s.calibration->bins) {
      bins.push_back({{"from", bin.low},
                      {"to", bin.high},
                      {"reports", bin.count},
                      {"mean_score", number(bin.mean_score)},
                      {"right_share", number(bin.right_share)}});
    }
    document["calibration"] = {{"expected_error", s.calibration->expected_error},
                               {"largest_error", s.calibration->largest_error},
                               {"brier", s.calibration->brier},
                               {"bins", bins}};
  }
  return document;
}

}  // namespace sextant::app
