// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>

#include "sextant/recognize/recognizer.h"

namespace sextant::detail::recognizer {

inline constexpr int kFeatures = 13;

/// What the acceptance looks at. Where evidence speaks for and against, the feature is the
/// logarithm of its odds among what can be observed, so that an object that is half hidden can be
/// as certain as one that is not; how much can be observed are features of their own.
inline std::array<double, kFeatures> acceptance_features(const VerificationTerms& t) {
  const double supported = t.supported, normals = t.normals, confirmed = t.confirmed;
  const double known = confirmed + t.continues + t.falls_short + t.crease;
  const auto odds = [](double yes, double no, double doubt) {
    return std::log((yes + doubt) / (no + doubt));
  };
  constexpr double kPixelDoubt = 0.02, kOutlineDoubt = 0.03;
  constexpr double kShared = 15;  // pixels that err together
  return {1.0,
          odds(supported, t.violated, kPixelDoubt),
          odds(supported * normals, supported * (1 - normals), kPixelDoubt),
          odds(confirmed, t.continues, kOutlineDoubt),
          odds(confirmed, t.falls_short, kOutlineDoubt),
          std::min(t.crease / (known + 0.05), 0.7),
          supported + t.violated,
          known,
          std::log(static_cast<double>(t.extent) + 0.02),
          std::min(static_cast<double>(t.flatness), 0.3),
          std::min(static_cast<double>(t.departs), 1.5),
          confirmed,
          std::log(1 + supported * t.pixels / kShared)};
}

/// The coefficients of the logistic model, in the order of the features. bench/evaluation/fit_terms
/// makes them from the terms of synthetic frames (fit_acceptance) and of every second real one
/// (recognize_judge). The constant is lower by 0.7 than fitted: with the fitted one, a box of
/// similar size passes for an object on a frame that was fitted on.
inline constexpr std::array<double, kFeatures> kCoefficients = {
    -14.189, 0.950, 0.273, 1.292, -0.234, 0.0, 0.762, -0.302, 1.615, 0.721, -0.348, 1.103, 1.263};

/// The logarithm of the odds that the pose is right.
inline double acceptance_logit(const VerificationTerms& terms) {
  const std::array<double, kFeatures> features = acceptance_features(terms);
  double sum = 0;
  for (int i = 0; i < kFeatures; ++i) {
    sum += kCoefficients[static_cast<std::size_t>(i)] * features[static_cast<std::size_t>(i)];
  }
  return sum;
}

inline double probability(double logit) { return 1 / (1 + std::exp(-logit)); }

}  // namespace sextant::detail::recognizer
