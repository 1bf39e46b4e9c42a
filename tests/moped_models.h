// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "sextant/io/moped_model.h"

namespace sextant::testing {

/// A model of MOPED with the corners of a box, `size`, twice and three times that long.
inline MopedModel make_moped_box(const std::string& name, float size) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  MopedModel model;
  model.name = name;
  model.version = "made";
  for (int i = 0; i < 8; ++i) {
    const auto side = [&](int bit) { return static_cast<float>(i >> bit & 1) * size; };
    model.points_m.push_back({side(0), 2 * side(1), 3 * side(2)});
    model.views.push_back(3 + i);
    model.errors_px.push_back(0.25f);
    model.colors.push_back({static_cast<std::uint8_t>(20 * i), 200, 30});
    std::array<double, kMopedDescriptorLength> numbers;
    double sum_sq = 0;
    for (double& number : numbers) {
      number = std::pow(uniform(generator), 3);
      sum_sq += number * number;
    }
    for (const double number : numbers) {
      model.descriptors.push_back(
          static_cast<std::uint8_t>(std::min(std::round(512 * number / std::sqrt(sum_sq)), 255.0)));
    }
  }
  return model;
}

}  // namespace sextant::testing
