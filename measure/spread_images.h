// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sextant::measure {

/// Which of the images 0 .. count - 1 of a data set a run on part of it takes: of those from
/// `first` on at most `most`, spread evenly over them; all of them for 0. Programs that make
/// results and the one that judges them follow the same rule.
inline std::vector<std::size_t> spread_images(std::size_t count, std::size_t first,
                                              std::size_t most) {
  std::vector<std::size_t> chosen;
  const std::size_t left = first < count ? count - first : 0;
  const std::size_t taken = most == 0 ? left : std::min(left, most);
  for (std::size_t i = 0; i < taken; ++i) chosen.push_back(first + i * left / taken);
  return chosen;
}

}  // namespace sextant::measure
