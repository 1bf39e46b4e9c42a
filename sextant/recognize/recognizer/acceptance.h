// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>

#include "sextant/recognize/recognizer.h"
#include "sextant/recognize/recognizer/math.h"

namespace sextant::detail::recognizer {

inline constexpr int kFeatures = 25;

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
           t.sinks,
           std::log(1 + 50 * static_cast<double>(t.buried))}};
}

/// The levels of an object whose lookalikes are not known and of packs of it: a plain box's, whose
/// levels lie between -1 and 3, so that nothing is reported in a hurry.
inline constexpr double kUsualLevel = 0, kUsualPackLevel = 1;

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

/// How a score follows from the features, in the order of these, and from an object's level.
struct Acceptance {
  double of_features[kFeatures];
  double of_level;
};

// As bench/evaluation/fit_terms prints them for synthetic and real frames (docs/recognition.md).
// Packs are too few for a fit of their own and look otherwise than single objects: they have the
// numbers with which they were tried out.
SEXTANT_HD constexpr Acceptance alone() {
  return {{-27.1384, 0.6404,  1.9884, 1.3971,   1.6752,  7.1796,  3.0956, -1.8585, -0.7145,
           1.0537,   -0.8907, 0.3984, -10.2518, -1.9071, 0.7990,  0.3715, -1.9622, -1.6345,
           -0.1778,  1.6381,  1.5358, -0.5867,  5.5533,  -3.3970, -1.5875},
          -0.6541};
}
/// Of an object of which several are found: things of a kind stand flush, so that surfaces go on
/// beyond the outlines of right poses, which speaks against a pose anywhere else.
SEXTANT_HD constexpr Acceptance among_several() {
  return {{-20.7327, -0.0381, 1.9278, 1.1103,  1.5903,  6.7129,  5.4148,  -2.6368, 0.4360,
           -0.9210,  -0.7917, 0.5840, -5.7787, -0.9416, 0.5371,  -0.8548, -1.1709, -4.5185,
           -0.2713,  3.5240,  1.7270, -0.5435, 2.7054,  -2.7419, -0.2636},
          -0.4218};
}
SEXTANT_HD constexpr Acceptance of_packs() {
  return {{-19.9170, -0.0948, 1.4757,  1.2020,  1.3584,  5.6187, 6.7736,  -3.1934, 1.6755,
           -4.4741,  -1.5476, -0.1374, -3.3638, -1.2078, 0.9733, -1.0671, -1.9175, -4.0718,
           -1.2792,  3.3089,  2.3589,  -0.6167, 5.0137,  0,      0},
          -0.4909};
}

SEXTANT_HD inline double logit_by(const Acceptance& acceptance, const VerificationTerms& terms) {
  const AcceptanceFeatures features = acceptance_features(terms);
  double sum = 0;
  for (int i = 0; i < kFeatures; ++i) sum += acceptance.of_features[i] * features.value[i];
  return sum;
}

/// The logarithm of the odds that the pose is right, as far as the pose itself tells.
SEXTANT_HD inline double shape_logit(const VerificationTerms& terms) {
  if (!(terms.boxes > 0)) return logit_by(alone(), terms);
  return logit_by(of_packs(), terms) + static_cast<double>(terms.rows) +
         pack_bonus(static_cast<double>(terms.boxes));
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
  const double usual = what == LookalikesOf::kPacks ? kUsualPackLevel : kUsualLevel;
  // Those of another version have other terms.
  if (lookalikes.length != kTerms || row == 0 || lookalikes.terms.empty()) return usual;
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
  if (best.size() < kLeastFrames) return usual;
  std::sort(best.begin(), best.end());
  return best[best.size() * 9 / 10];
}

/// The logarithm of the odds that a pose of an object of the level is right.
SEXTANT_HD inline double acceptance_logit(const VerificationTerms& terms, double level) {
  return shape_logit(terms) + (terms.boxes > 0 ? of_packs() : alone()).of_level * level;
}

inline constexpr double kPacksAmongSeveral = 1;

/// The same where several of the object are found: another is likelier then than the object being
/// there at all.
SEXTANT_HD inline double acceptance_logit_among_several(const VerificationTerms& terms,
                                                        double level) {
  const double by_itself = acceptance_logit(terms, level);
  if (terms.boxes > 0) return by_itself + kPacksAmongSeveral;
  return max_of(by_itself, logit_by(among_several(), terms) + among_several().of_level * level);
}

SEXTANT_HD inline double probability(double logit) { return 1 / (1 + std::exp(-logit)); }

}  // namespace sextant::detail::recognizer
