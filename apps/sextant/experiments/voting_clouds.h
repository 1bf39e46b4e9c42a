// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/core/context.h"
#include "sextant/core/vec.h"
#include "sextant/geometry/mesh.h"
#include "sextant/surface/voting.h"

// The clouds of the voting paper's experiments.

namespace sextant::app {

/// Made by formula: as many points as the paper's, and as many votes.
std::vector<Vec3f> made_stairs(float sigma_m, double mean_votes);
std::vector<Vec3f> made_apartment(float sigma_m, double mean_votes);
std::vector<Vec3f> made_plain(float sigma_m, double mean_votes);

/// The file tensor_voting/NAME.vtk of the authors, when SEXTANT_SHARED_DATA names a folder with it.
std::optional<TriangleMesh> captured_file(const std::string& name);
/// The points of the same.
std::optional<std::vector<Vec3f>> captured_cloud(const std::string& name);

double mean_votes(const Context& context, const VotingResult& result);

/// What the points that got a vote look like. Ball votes of a plane give eigenvalues of 2 : 1 : 1,
/// so that the ball is never less than the stick there: stick and plate are what is compared.
struct SaliencySummary {
  double confidence = 0;     ///< mean of stick / λ1: 0.5 on a plane without noise
  double edges_percent = 0;  ///< points with more plate than stick
};
SaliencySummary summary_of(const Context& context, const VotingResult& result);

}  // namespace sextant::app
