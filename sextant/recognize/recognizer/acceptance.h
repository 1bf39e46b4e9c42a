// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/recognize/recognizer.h"

namespace sextant::detail::recognizer {

inline constexpr int kFeatures = 21;

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
  constexpr double kShared = 15;  // pixels that err together
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
           std::log(1 + supported * t.pixels / kShared),
           t.residual,
           clamp(static_cast<double>(t.plane_gain), -0.7, 2.5),
           clamp(static_cast<double>(t.bend_gain), -0.7, 2.0),
           t.edge_offset,
           std::log(static_cast<double>(t.weakest) + 1e-3),
           t.no_data,
           t.occluded,
           t.unknown,
           t.hidden}};
}

/// The logarithm of the odds that the pose is right.
SEXTANT_HD inline double acceptance_logit(const VerificationTerms& terms) {
  // In the order of the features, as bench/evaluation/fit_terms prints them for 200 synthetic
  // frames and every second real one (docs/recognition.md).
  constexpr double kCoefficients[kFeatures] = {
      -14.6322, 0.6728,  0.4240,  0.7923,  0.7195,  5.7271,  3.5609,
      -2.7938,  -0.5074, -3.5106, 5.5127,  0.0140,  -0.2563, 0.0314,
      0.9248,   -2.5971, -0.4415, -0.8042, -1.2795, 3.8272,  1.8764};
  const AcceptanceFeatures features = acceptance_features(terms);
  double sum = 0;
  for (int i = 0; i < kFeatures; ++i) sum += kCoefficients[i] * features.value[i];
  return sum;
}

SEXTANT_HD inline double probability(double logit) { return 1 / (1 + std::exp(-logit)); }

}  // namespace sextant::detail::recognizer
