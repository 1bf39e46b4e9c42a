// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift/extrema.h"

// What is read from the windows around keypoints.

namespace sextant::detail::sift {

/// An extremum with one of its directions.
struct Oriented {
  Extremum at;
  float turns;  ///< its angle, in turns from 0 to 1
};

/// Finds the directions of each extremum: one element for each, in order and ascending. They stay
/// in the workspace until its scope ends.
View<Oriented> find_orientations(const Context& context, const Octave& octave,
                                 const View<Extremum>& extrema, float peak_share,
                                 Workspace& workspace);

/// Describes a keypoint; the numbers are normalised.
void describe_window(const Octave& octave, const Oriented& keypoint, bool root,
                     float (&numbers)[kSiftLength]);

}  // namespace sextant::detail::sift
