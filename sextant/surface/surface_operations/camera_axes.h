// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/geometry/surface.h"
#include "sextant/surface/cloud_segment.h"

namespace sextant::detail::surface_operations {

/// An organised surface in the axes of its camera, as the operations on windows of pixels need it:
/// the surface's own memory where that is where it lies, else copies. The surface must outlive it.
class CameraAxes {
 public:
  CameraAxes(const Context& context, const Surface& surface, const Rigid3d& points_from_camera);

  ImageView<const Vec3f> points() const;
  ImageView<const Vec3f> normals() const;  ///< the surface must have some

  /// Turns and moves results into the frame of the surface's points, in place.
  void turn_back(const Context& context, View<Vec3f> directions) const;
  void move_back(const Context& context, View<Vec3f> points) const;
  void move_back(std::vector<SurfaceRegion>& regions) const;

 private:
  const Surface& surface_;
  Rigid3d points_from_camera_;
  bool elsewhere_;
  Buffer<Vec3f> points_, normals_;
};

}  // namespace sextant::detail::surface_operations
