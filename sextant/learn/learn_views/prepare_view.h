// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/shot.h"
#include "sextant/io/views_folder.h"
#include "sextant/pose/align.h"

namespace sextant::detail::learn_views {

/// Points of a view with SHOT of one radius.
struct DescribedPoints {
  Buffer<Vec3f> points, normals;
  ShotDescriptors shot;
};

/// A view without its background, on the host.
struct PreparedView {
  Camera camera;
  Image<float> depth_m;         ///< of the object, without its rim; NaN elsewhere
  Image<float> seen_m;          ///< everything that was measured
  Image<std::uint8_t> outside;  ///< not 0 where a mask says that the object is not
  Surface surface;       ///< of the object, smoothed, with normals, in the rows of the camera
  AlignSurface aligned;  ///< the same for alignment
  std::vector<DescribedPoints> described;  ///< one set for each radius
  std::int64_t points = 0;                 ///< of the object
  float diagonal_m = 0;                    ///< of what is seen of it
  std::string background;                  ///< what was removed, in words
};

/// Fewer pixels of the object are no view of it.
inline constexpr std::int64_t kLeastPixels = 200;

/// Finds the object; a view in which there is none has points = 0.
PreparedView prepare_view(const Context& context, const RgbdView& view);

/// Adds keypoints and SHOT of these radii.
void describe_view(const Context& context, std::span<const float> radii_m, PreparedView& view);

/// How two views agree when b is moved into the frame of a.
struct Agreement {
  double in_view = 0;    ///< points of b that a could see but for what is in front
  double supported = 0;  ///< points of b that a sees in the same place
  double violated = 0;   ///< points of b where a sees through them
  double facing = 0;     ///< points of b that would face a, wherever they are

  double share() const {
    return supported + violated > 0 ? supported / (supported + violated) : 0.0;
  }
  double overlap() const { return facing > 0 ? supported / facing : 0.0; }
};
Agreement agreement(const PreparedView& a, const PreparedView& b, const Rigid3d& a_from_b,
                    double tolerance_m);

}  // namespace sextant::detail::learn_views
