// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/features2d.hpp>
#include <vector>

#include "sextant/descriptor/sift.h"
#include "sextant/match/descriptors.h"

// Features of either library in one form, and how well those of two pictures answer each other.

namespace sextant::testing {

struct Features {
  struct Place {
    double u_px, v_px, sigma_px, angle_rad;
  };
  std::vector<Place> places;
  std::vector<std::uint8_t> descriptors;  ///< 128 a place
};

inline Features by_us(const Image<std::uint8_t>& image, const SiftOptions& options = {}) {
  const SiftFeatures found = compute_sift(Context::cpu(), image, options);
  Features features;
  for (const SiftKeypoint& k :
       found.keypoints.host().first(static_cast<std::size_t>(found.count))) {
    features.places.push_back({k.u_px, k.v_px, k.sigma_px, k.angle_rad});
  }
  features.descriptors.assign(found.bytes.data(), found.bytes.data() + found.count * kSiftLength);
  return features;
}

inline Features by_opencv(const Image<std::uint8_t>& image) {
  const cv::Mat pixels(image.height(), image.width(), CV_8U,
                       const_cast<std::uint8_t*>(image.pixels().data()));
  std::vector<cv::KeyPoint> keypoints;
  cv::Mat descriptors;
  cv::SIFT::create()->detectAndCompute(pixels, cv::noArray(), keypoints, descriptors);
  Features features;
  for (std::size_t i = 0; i < keypoints.size(); ++i) {
    const cv::KeyPoint& k = keypoints[i];
    features.places.push_back({k.pt.x, k.pt.y, k.size / 2.0, k.angle * CV_PI / 180});
    const float* row = descriptors.ptr<float>(static_cast<int>(i));
    for (int n = 0; n < kSiftLength; ++n) {
      features.descriptors.push_back(static_cast<std::uint8_t>(row[n]));
    }
  }
  return features;
}

/// Where a point of the first picture is in the second, and how much larger things are there.
struct Homography {
  std::array<double, 9> h;

  Vec2d operator()(double u, double v) const {
    const double w = h[6] * u + h[7] * v + h[8];
    return {(h[0] * u + h[1] * v + h[2]) / w, (h[3] * u + h[4] * v + h[5]) / w};
  }
  double scale_at(double u, double v) const {
    const Vec2d at = (*this)(u, v), right = (*this)(u + 1, v), below = (*this)(u, v + 1);
    return std::sqrt(
        std::abs((right.x - at.x) * (below.y - at.y) - (right.y - at.y) * (below.x - at.x)));
  }
};

/// Of the features of the first picture that the second one shows.
struct Answers {
  int shown = 0;
  int matched = 0;   ///< the nearest by descriptor is where it should, and clearly the nearest
  int places = 0;    ///< of them; a place may have several angles
  int repeated = 0;  ///< places for which the second has one too, of the same size
  double repeatability() const { return double(repeated) / places; }
  double matching_score() const { return double(matched) / shown; }
};

inline Answers answers(const Features& first, const Features& second, const Homography& map,
                       int width, int height) {
  constexpr double kMostApart_px = 2.0, kMostScale = 1.25, kRatio_sq = 0.8 * 0.8;
  const NearestDescriptors nearest = nearest_descriptors(
      Context::cpu(), DescriptorRows<std::uint8_t>{view_of(first.descriptors), kSiftLength},
      DescriptorRows<std::uint8_t>{view_of(second.descriptors), kSiftLength});
  Answers result;
  for (std::size_t i = 0; i < first.places.size(); ++i) {
    const Vec2d at = map(first.places[i].u_px, first.places[i].v_px);
    if (at.x < 0 || at.y < 0 || at.x > width - 1 || at.y > height - 1) continue;
    ++result.shown;
    const Features::Place& here = first.places[i];
    const double sigma = here.sigma_px * map.scale_at(here.u_px, here.v_px);
    const auto agrees = [&](const Features::Place& other) {
      const double ratio = other.sigma_px / sigma;
      return std::hypot(other.u_px - at.x, other.v_px - at.y) < kMostApart_px &&
             ratio < kMostScale && ratio > 1 / kMostScale;
    };
    const auto is_here = [&](const Features::Place& other) {
      return other.u_px == here.u_px && other.v_px == here.v_px && other.sigma_px == here.sigma_px;
    };
    if (i == 0 || !is_here(first.places[i - 1])) {
      ++result.places;
      result.repeated += std::any_of(second.places.begin(), second.places.end(), agrees);
    }
    const std::int32_t match = nearest.indices.host()[2 * i];
    const bool clear =
        nearest.distances_sq.host()[2 * i] < kRatio_sq * nearest.distances_sq.host()[2 * i + 1];
    result.matched += clear && agrees(second.places[static_cast<std::size_t>(match)]);
  }
  return result;
}

}  // namespace sextant::testing
