// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "measure/report.h"
#include "sextant/core/context.h"

namespace sextant::app {

/// An experiment of a paper that `sextant reproduce NAME` runs again.
struct Experiment {
  const char* name;
  const char* what;  ///< one line: the paper's table or figure
  std::vector<measure::Row> (*run)(const Context& context);
};

std::vector<measure::Row> normals_bilateral(const Context& context);
std::vector<measure::Row> surface_speed(const Context& context);
std::vector<measure::Row> voting_error(const Context& context);
std::vector<measure::Row> voting_kernel(const Context& context);
std::vector<measure::Row> voting_scan(const Context& context);
std::vector<measure::Row> voting_speed(const Context& context);
std::vector<measure::Row> voting_sigma(const Context& context);
std::vector<measure::Row> voting_steps(const Context& context);
std::vector<measure::Row> voting_clouds(const Context& context);
std::vector<measure::Row> tensor_speed(const Context& context);
std::vector<measure::Row> tensor_matching(const Context& context);
std::vector<measure::Row> tensor_recognition(const Context& context);
std::vector<measure::Row> tensor_occlusion(const Context& context);
std::vector<measure::Row> pose_covariance(const Context& context);
std::vector<measure::Row> recognition_tables(const Context& context);
std::vector<measure::Row> recognition_time(const Context& context);
std::vector<measure::Row> shot_speed(const Context& context);
std::vector<measure::Row> shot_descriptiveness(const Context& context);
std::vector<measure::Row> curvature_accuracy(const Context& context);
std::vector<measure::Row> curvature_distance(const Context& context);
std::vector<measure::Row> curvature_sensors(const Context& context);
std::vector<measure::Row> curvature_noise(const Context& context);
std::vector<measure::Row> curvature_speed(const Context& context);
std::vector<measure::Row> curvature_correspondence(const Context& context);
std::vector<measure::Row> real_surfaces(const Context& context);
std::vector<measure::Row> learn_captured(const Context& context);
std::vector<measure::Row> moped_matching(const Context& context);
std::vector<measure::Row> moped_poses(const Context& context);
std::vector<measure::Row> photo_score(const Context& context);

}  // namespace sextant::app
