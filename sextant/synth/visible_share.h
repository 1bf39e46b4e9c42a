// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/render/rasterize.h"

namespace sextant {

/// Pixels of an object, in a scene and alone.
struct Visibility {
  std::int64_t seen_px = 0;   ///< of the object among the others
  std::int64_t alone_px = 0;  ///< if the others were not there

  /// seen / alone: 1 without occlusion, 0 for an object outside the picture.
  double fraction() const {
    return alone_px > 0 ? static_cast<double>(seen_px) / static_cast<double>(alone_px) : 0.0;
  }
};

/// How much of each instance the others hide, counted in pixels of the rasteriser; what lies
/// outside the picture counts in neither number. `instances` of one view; their object ids are not
/// looked at. Renders each instance once alone and all of them together, and waits.
std::vector<Visibility> measure_visibility(const Context& context, const RenderScene& scene,
                                           const Camera& camera,
                                           std::span<const Instance> instances);

}  // namespace sextant
