// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/sextant/datasets/set_notes.h"
#include "apps/sextant/eval/judged_image.h"
#include "measure/report.h"
#include "sextant/evaluate/calibration.h"
#include "sextant/io/bop_dataset.h"

namespace sextant::app {

/// What reports and instances became, of one object or of all.
struct Tally {
  std::int64_t instances = 0;  ///< that were asked for
  std::int64_t right = 0, wrong = 0, false_reports = 0, unlisted = 0, hidden = 0;
  std::vector<double> distances_m, angles_rad;  ///< of the right reports

  std::int64_t missed() const { return instances - right; }
  double recall() const;     ///< right / instances; NaN without instances
  double precision() const;  ///< right / (right + wrong + false); NaN without reports
};

/// Recall of instances by how much of them is visible.
struct VisibleBin {
  double low = 0, high = 0;
  std::int64_t instances = 0, right = 0;
};

struct Summary {
  int images = 0;
  Tally all;
  std::map<int, Tally> objects;
  std::vector<VisibleBin> visible;
  /// BOP 2019: average recalls over the thresholds, and their mean. BOP 2024: average precisions of
  /// detection, the mean over objects. VSD is left out where there is no depth.
  std::optional<double> ar_vsd;
  double ar_mssd = 0, ar_mspd = 0, ar = 0;
  double ap_mssd = 0, ap_mspd = 0, ap = 0;
  std::vector<PrecisionRecall> curve;
  std::optional<Calibration> calibration;  ///< where scores are probabilities
  std::optional<double> mean_seconds, median_seconds;
};

/// The same for the same images in the same order. Where `targets` is empty, they are made of the
/// instances that are asked for.
Summary summarize(std::span<const JudgedImage> images, std::vector<BopTarget> targets,
                  bool has_depth);

std::vector<measure::Row> rows_of(const Summary& summary);
std::string text_of(const Summary& summary, const SetNotes& notes);
nlohmann::json to_json(const Summary& summary, const SetNotes& notes);

}  // namespace sextant::app
