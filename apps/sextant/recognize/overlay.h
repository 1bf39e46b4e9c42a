// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apps/sextant/recognize/frames.h"
#include "sextant/library/learned_object.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/render/scene.h"

namespace sextant::app {

/// An object to be drawn.
struct DrawnPose {
  std::int32_t object_index = -1;
  std::string name;
  Rigid3d camera_from_object;
  double score = 0;
  Rgb8 color;
};

/// Draws what was found over a frame. Made once for the objects that the recogniser has, in their
/// order.
class FoundOverlay {
 public:
  explicit FoundOverlay(const std::vector<LearnedObject>& objects);

  /// The picture of the frame or, without one, its depth in grey; on it, each detection in its own
  /// colour: outline, tint where it is not hidden, the object's axes from its middle, name and
  /// score.
  Image<Rgb8> draw(const SeenFrame& frame, const Recognition& found) const;

  /// The same over a picture that a camera without distortion took. Where a depth map of its pixels
  /// is given, what lies behind it gets no tint. Of an object that is known by points alone, the
  /// outline is the hull of its points.
  void draw(const Camera& camera, std::span<const DrawnPose> poses, Image<Rgb8>& picture,
            ImageView<const float> depth_m = {}) const;

 private:
  struct Size {
    Vec3d middle_m;
    double diameter_m;
  };
  struct Corner {
    int u = 0, v = 0;
  };
  Corner draw_shape(const Camera& camera, const DrawnPose& pose, Image<Rgb8>& picture,
                    ImageView<const float> depth_m) const;
  Corner draw_hull(const Camera& camera, const DrawnPose& pose, Image<Rgb8>& picture) const;

  RenderScene meshes_;
  std::vector<Size> sizes_;
  std::vector<std::vector<Vec3f>> clouds_;  ///< of objects without triangles; else empty
};

}  // namespace sextant::app
