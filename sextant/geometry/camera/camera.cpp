// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/camera.h"

namespace sextant {

void check_camera(const Camera& camera) {
  require(camera.width > 0 && camera.height > 0, "camera: image size ", camera.width, " x ",
          camera.height, " px is not positive");
  require(camera.fx_px > 0 && camera.fy_px > 0 && std::isfinite(camera.fx_px) &&
              std::isfinite(camera.fy_px),
          "camera: focal lengths fx = ", camera.fx_px, " px, fy = ", camera.fy_px,
          " px must be positive; they are given in pixels");
  require(std::isfinite(camera.cx_px) && std::isfinite(camera.cy_px), "camera: principal point (",
          camera.cx_px, ", ", camera.cy_px, ") px is not finite");
  const Distortion<double>& d = camera.distortion;
  for (const double coefficient : {d.k1, d.k2, d.p1, d.p2, d.k3}) {
    require(std::isfinite(coefficient), "camera: distortion coefficient ", coefficient,
            " is not finite");
  }
}

}  // namespace sextant
