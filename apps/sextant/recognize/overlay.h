// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "apps/sextant/recognize/frames.h"
#include "sextant/library/learned_object.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/render/scene.h"

namespace sextant::app {

/// Draws what was found over a frame. Made once for the objects that the Recognizer has, in their
/// order.
class FoundOverlay {
 public:
  explicit FoundOverlay(const std::vector<LearnedObject>& objects);

  /// The picture of the frame or, without one, its depth in grey; on it, each detection in its own
  /// colour: outline, tint where it is not hidden, the object's axes from its middle, name and
  /// score.
  Image<Rgb8> draw(const SeenFrame& frame, const Recognition& found) const;

 private:
  struct Size {
    Vec3d middle_m;
    double diameter_m;
  };
  RenderScene meshes_;
  std::vector<Size> sizes_;
};

}  // namespace sextant::app
