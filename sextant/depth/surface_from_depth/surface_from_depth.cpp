// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/surface_from_depth.h"

#include "sextant/depth/color_points.h"
#include "sextant/depth/deproject.h"

namespace sextant {

Surface surface_from_depth(const Context& context, ImageView<const float> depth_m,
                           const Camera& camera) {
  Surface surface(deproject(context, depth_m, camera));
  surface.camera = camera;
  surface.camera_rows = true;
  return surface;
}

Surface surface_from_depth(const Context& context, ImageView<const float> depth_m,
                           const Camera& camera, ImageView<const Rgb8> registered) {
  require_same_size(context, registered, depth_m, "registered", "depth_m");
  Surface surface = surface_from_depth(context, depth_m, camera);
  surface.colors = color_points(context, surface.points, registered);
  return surface;
}

}  // namespace sextant
