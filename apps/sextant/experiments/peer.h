// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sextant/geometry/cloud.h"

namespace sextant::app {

/// What another library made of the same points, and how long it took.
struct PeerResult {
  std::string library;  ///< "PCL 1.13.0"
  int floats_per_point = 0;
  std::vector<float> values;
  nlohmann::json times_ms;  ///< by step

  /// Float `at` of a point.
  float value(std::size_t point, int at) const {
    return values[point * static_cast<std::size_t>(floats_per_point) +
                  static_cast<std::size_t>(at)];
  }
};

/// Runs an operation of PCL on a cloud on the host by way of the program sextant_peer_pcl, which
/// lies beside this one or where SEXTANT_PEER_PCL says; `settings` are KEY=VALUE. Without the
/// program nothing, and one remark a process that says how to get it. An Error when it fails.
std::optional<PeerResult> run_pcl(const std::string& operation, const Cloud& cloud,
                                  const std::vector<std::string>& settings);

}  // namespace sextant::app
