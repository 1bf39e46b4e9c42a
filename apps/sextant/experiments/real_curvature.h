// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/sextant/experiments/curvature_methods.h"
#include "measure/report.h"

// Curvature on frames of real sensors, beside PCL: a part of `reproduce real-surfaces`.

namespace sextant::app {

/// Ours and PCL's RMS curvature on the pixels of planes, where both have an answer; `of` names the
/// frame. PCL sees points up to 40 mm away, by its usual radius of 20 mm for normals and for their
/// covariance.
void compare_on_planes(const Cloud& organised, const std::vector<char>& on_plane,
                       const PrincipalCurvatures& ours, const std::string& of,
                       std::vector<measure::Row>& rows);

/// Mean k1 on the sides of cans of known radius, in the frames of YCB-Video below `root`.
void add_can_rows(const Context& context, const std::filesystem::path& root,
                  std::vector<measure::Row>& rows);

}  // namespace sextant::app
