// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/report.h"
#include "sextant/core/context.h"

namespace sextant::app {

/// An experiment of a paper that `sextant reproduce NAME` runs again.
struct Experiment {
  const char* name;
  const char* what;  ///< one line: the paper's table or figure
  std::vector<bench::Row> (*run)(const Context& context);
};

std::vector<bench::Row> normals_bilateral(const Context& context);
std::vector<bench::Row> surface_speed(const Context& context);
std::vector<bench::Row> voting_error(const Context& context);
std::vector<bench::Row> voting_kernel(const Context& context);
std::vector<bench::Row> voting_scan(const Context& context);
std::vector<bench::Row> voting_speed(const Context& context);
std::vector<bench::Row> tensor_speed(const Context& context);
std::vector<bench::Row> shot_speed(const Context& context);
std::vector<bench::Row> shot_descriptiveness(const Context& context);
std::vector<bench::Row> curvature_accuracy(const Context& context);
std::vector<bench::Row> curvature_distance(const Context& context);
std::vector<bench::Row> curvature_noise(const Context& context);
std::vector<bench::Row> curvature_speed(const Context& context);
std::vector<bench::Row> curvature_correspondence(const Context& context);

}  // namespace sextant::app
