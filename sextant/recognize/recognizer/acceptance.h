// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "sextant/recognize/recognizer.h"
#include "sextant/recognize/recognizer/math.h"

namespace sextant::detail::recognizer {

inline constexpr int kFeatures = 24;

struct AcceptanceFeatures {
  double value[kFeatures];
};

/// What the acceptance looks at. Where evidence speaks for and against, the feature is the
/// logarithm of its odds among what can be observed, so that an object that is half hidden can be
/// as certain as one that is not; how much can be observed are features of their own.
SEXTANT_HD inline AcceptanceFeatures acceptance_features(const VerificationTerms& t) {
  const double supported = t.supported, normals = t.normals, confirmed = t.confirmed;
  const double known = confirmed + t.continues + t.falls_short + t.crease;
  const auto odds = [](double yes, double no, double doubt) {
    return std::log((yes + doubt) / (no + doubt));
  };
  return {{1.0,
           odds(supported, t.violated, 0.02),
           odds(supported * normals, supported * (1 - normals), 0.05),
           odds(confirmed, t.continues, 0.03),
           odds(confirmed, t.falls_short, 0.03),
           min_of<double>(t.crease / (known + 0.05), 0.7),
           supported + t.violated,
           known,
           std::log(static_cast<double>(t.extent) + 0.02),
           min_of<double>(static_cast<double>(t.departs), 1.0),
           confirmed,
           std::log(1 + supported * t.pixels / static_cast<double>(kSharedPixels)),
           t.residual,
           clamp(static_cast<double>(t.plane_gain), -0.7, 2.5),
           clamp(static_cast<double>(t.bend_gain), -0.7, 2.0),
           t.edge_offset,
           std::log(static_cast<double>(t.weakest) + 1e-3),
           t.no_data,
           t.occluded,
           t.unknown,
           t.hidden,
           clamp(1000 * static_cast<double>(t.edge_m), 0.0, 5.0),
           clamp(static_cast<double>(t.plane_gain), -0.7, 0.5),
           t.sinks}};
}

/// What the level of an object adds, and the level of one whose lookalikes are not known: a plain
/// box's, so that nothing is reported in a hurry.
inline constexpr double kLevelCoefficient = -0.4909, kUsualLevel = 1;

inline constexpr int kTerms = [] {
  int count = 0;
  VerificationTerms terms;
  for_each_term(terms, [&](const char*, float&) { ++count; });
  return count;
}();

/// How much more a pack of many boxes tells than one of few, which fills faces by chance more
/// often.
SEXTANT_HD inline double pack_bonus(double boxes) {
  constexpr double kOfMore = 0.7;
  return kOfMore * std::log(boxes / 2);
}

/// The logarithm of the odds that the pose is right, as far as the pose itself tells.
SEXTANT_HD inline double shape_logit(const VerificationTerms& terms) {
  // In the order of the features, as bench/evaluation/fit_terms prints them for synthetic and real
  // frames (docs/recognition.md). Packs are too few for a fit of their own and look otherwise than
  // single objects: they have the coefficients with which they were tried out.
  constexpr double kCoefficients[kFeatures] = {
      -21.7359, -0.3075, 1.7781,  1.1703, 1.7597,  7.5026,  6.0827, -3.2130,
      1.3402,   -2.0670, -0.1806, 0.5021, -6.5463, -0.7053, 0.4483, -1.0503,
      -1.5740,  -2.0170, -0.9365, 3.8813, 2.3122,  -0.7072, 2.2055, -2.6937};
  constexpr double kOfPacks[kFeatures] = {-19.9170, -0.0948, 1.4757, 1.2020,  1.3584,  5.6187,
                                          6.7736,   -3.1934, 1.6755, -4.4741, -1.5476, -0.1374,
                                          -3.3638,  -1.2078, 0.9733, -1.0671, -1.9175, -4.0718,
                                          -1.2792,  3.3089,  2.3589, -0.6167, 5.0137,  0};
  const AcceptanceFeatures features = acceptance_features(terms);
  const bool is_pack = terms.boxes > 0;
  double sum = 0;
  for (int i = 0; i < kFeatures; ++i) {
    sum += (is_pack ? kOfPacks[i] : kCoefficients[i]) * features.value[i];
  }
  if (!is_pack) return sum;
  return sum + static_cast<double>(terms.rows) + pack_bonus(static_cast<double>(terms.boxes));
}

/// An object alone, or packs of it: clutter may look like the one and not like the other.
enum class LookalikesOf { kObject, kPacks };
inline LookalikesOf kind_of(const VerificationTerms& terms) {
  return terms.boxes > 0 ? LookalikesOf::kPacks : LookalikesOf::kObject;
}

/// How like an object clutter looks: the logit that the best pose of a frame without it reaches in
/// one frame of ten. A frame without any pose, as where it is too small to be seen, tells nothing.
inline double lookalike_level(const LearnedLookalikes& lookalikes, LookalikesOf what) {
  constexpr double kLow = -9, kHigh = 6;   // what is beyond tells nothing more
  constexpr std::size_t kLeastFrames = 6;  // with poses
  const std::int64_t row = std::int64_t{lookalikes.length} * lookalikes.frame_poses;
  // Those of another version have other terms.
  if (lookalikes.length != kTerms || row == 0 || lookalikes.terms.empty()) return kUsualLevel;
  std::vector<double> best;
  const float* next = lookalikes.terms.data();
  for (std::int64_t frame = 0; frame < lookalikes.terms.size() / row; ++frame) {
    double most = -INFINITY;
    bool has_pose = false;
    for (int pose = 0; pose < lookalikes.frame_poses; ++pose) {
      VerificationTerms terms;
      for_each_term(terms, [&](const char*, float& value) { value = *next++; });
      if (std::isnan(terms.pixels)) continue;
      has_pose = true;
      if (kind_of(terms) == what) most = std::max(most, shape_logit(terms));
    }
    // That no pack was proposed speaks less for packs than one that fits speaks against them.
    if (what == LookalikesOf::kPacks) has_pose = std::isfinite(most);
    if (has_pose) best.push_back(clamp(most, kLow, kHigh));
  }
  if (best.size() < kLeastFrames) return kUsualLevel;
  std::sort(best.begin(), best.end());
  return best[best.size() * 9 / 10];
}

/// The logarithm of the odds that a pose of an object of the level is right.
SEXTANT_HD inline double acceptance_logit(const VerificationTerms& terms, double level) {
  return shape_logit(terms) + kLevelCoefficient * level;
}

SEXTANT_HD inline double probability(double logit) { return 1 / (1 + std::exp(-logit)); }

}  // namespace sextant::detail::recognizer
