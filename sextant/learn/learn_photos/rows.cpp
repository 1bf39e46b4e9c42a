// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_photos/rows.h"

#include <algorithm>
#include <cmath>

#include "sextant/learn/learn_photos/pair_matches.h"

namespace sextant::detail::learn_photos {

namespace {

constexpr double kLength = 512;  // of a descriptor's bytes

/// The mean, of the length that descriptors have.
Descriptor mean_of(std::span<const std::uint8_t* const> descriptors) {
  double sum[128] = {}, square = 0;
  for (int i = 0; i < 128; ++i) {
    for (const std::uint8_t* descriptor : descriptors) sum[i] += descriptor[i];
    square += sum[i] * sum[i];
  }
  const double scale = square > 0 ? kLength / std::sqrt(square) : 0;
  Descriptor mean;
  for (std::size_t i = 0; i < 128; ++i) {
    mean[i] = static_cast<std::uint8_t>(std::min(255.0, std::round(scale * sum[i])));
  }
  return mean;
}

}  // namespace

std::vector<Descriptor> make_rows(std::span<const std::uint8_t* const> descriptors,
                                  const LearnPhotosOptions& options) {
  std::vector<const std::uint8_t*> left(descriptors.begin(), descriptors.end());
  const double radius_sq = options.row_distance * options.row_distance;
  std::vector<Descriptor> rows;
  while (!left.empty() && rows.size() < static_cast<std::size_t>(options.most_rows)) {
    std::vector<const std::uint8_t*> best;
    for (const std::uint8_t* centre : left) {
      std::vector<const std::uint8_t*> near;
      std::copy_if(
          left.begin(), left.end(), std::back_inserter(near),
          [&](const std::uint8_t* other) { return distance_sq(centre, other) <= radius_sq; });
      if (near.size() > best.size()) best = std::move(near);
    }
    rows.push_back(mean_of(best));
    std::erase_if(left, [&](const std::uint8_t* descriptor) {
      return std::find(best.begin(), best.end(), descriptor) != best.end();
    });
  }
  return rows;
}

}  // namespace sextant::detail::learn_photos
