// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "sextant/core/image.h"
#include "sextant/geometry/camera.h"
#include "sextant/learn/learn_progress.h"
#include "sextant/library/learned_object.h"

namespace sextant {

/// A depth map of things that nobody looks for.
struct ClutterFrame {
  Camera camera;
  Image<float> depth_m;  ///< on the host
};

/// Tables full of things as several sensors see them: objects of the catalogue, each stretched by
/// its own factors, so that no known object is among them. `scale` makes everything larger, the
/// distance too, for objects that would not fit onto a table. The same frames for the same numbers
/// on every machine and for any number of threads. Some seconds.
std::vector<ClutterFrame> make_clutter(const Context& context, int frames, double scale = 1,
                                       std::uint64_t seed = 0, const LearnProgress& progress = {});

/// The scale of clutter for an object.
double clutter_scale(double diameter_m);

/// Looks for the object in frames without it and keeps what the comparison said of the best poses
/// of each: a recogniser that knows how easily other things pass for an object can accept a vague
/// sight of an odd shape and doubt a good one of a plain box. About what recognising each frame
/// takes.
LearnedLookalikes find_lookalikes(const Context& context, const LearnedObject& object,
                                  std::span<const ClutterFrame> clutter,
                                  const LearnProgress& progress = {});

/// Whether the recogniser understands these lookalikes: those of another version tell it nothing,
/// and it accepts the object with the doubt of one that has none.
bool are_understood(const LearnedLookalikes& lookalikes);

}  // namespace sextant
