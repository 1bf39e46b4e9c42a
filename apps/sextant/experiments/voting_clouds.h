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

/// Which saliency is the largest, in percent of the points that got a vote.
struct SaliencyShares {
  double stick = 0, plate = 0, ball = 0;
};
SaliencyShares saliency_shares(const Context& context, const VotingResult& result);

}  // namespace sextant::app
