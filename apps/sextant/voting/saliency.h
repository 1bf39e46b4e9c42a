// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/surface.h"
#include "sextant/surface/cloud_segment.h"
#include "sextant/surface/voting.h"

namespace sextant::app {

/// Votes for the points of the surface, adds stick, plate, ball and confidence to its attributes,
/// and returns the normals.
Buffer<Vec3f> vote_on(const Context& context, Surface& surface, const VotingOptions& options);

/// The attributes stick, plate and ball of the surface; Error naming the file when it has none, or
/// when they find no surface, as those of ball votes never do. Waits for the device.
PointSaliency saliency_of(const Context& context, const Surface& surface, const std::string& file);

/// The shares of λ1 as colours: stick red, plate green, ball blue. A plane is half stick and half
/// ball, so surfaces are purple, curves green and scattered points blue. For a cloud on the host
/// that vote_on has seen.
std::vector<Rgb8> saliency_colors(const Cloud& cloud);

}  // namespace sextant::app
