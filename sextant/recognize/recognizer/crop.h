// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/frame.h"
#include "sextant/recognize/recognizer/model_view.h"

namespace sextant::detail::recognizer {

inline constexpr int kCropCells = 96;  ///< along a side of what is rendered of a pose
inline constexpr int kMaskWords = kCropCells * kCropCells / 32;  ///< with a bit for each cell
inline constexpr float kOutlineWalk = 0.08f;  ///< of the diameter, across the outline

/// The part of the frame that a pose is compared with: cell (i, j) is the pixel
/// (first_u + stride i, first_v + stride j).
struct Crop {
  int first_u = 0, first_v = 0;
  int stride = 1;
  Camera camera;
};

/// The crop that holds the object in a pose, and what lies around it within a walk.
SEXTANT_HD inline Crop crop_of(const Cameraf& of_frame, const ModelView& model,
                               const Rigid3d& pose) {
  const Vec3d centre = pose * cast<double>(model.centre);
  const Camera frame = cast<double>(of_frame);
  Crop crop;
  crop.camera = frame;
  crop.camera.width = crop.camera.height = kCropCells;
  if (!(centre.z > 0)) {
    crop.camera.cx_px = crop.camera.cy_px = -1e6;  // behind the camera: nothing is rendered
    return crop;
  }
  const auto radius_m = static_cast<double>(model.radius_m);
  const auto walk_m = static_cast<double>(kOutlineWalk * model.part_diameter_m);
  const double near = max_of(centre.z - radius_m, 0.3 * centre.z);
  const double reach_px = frame.fx_px * (radius_m + walk_m) / near + 3;
  crop.stride = max_of(1, static_cast<int>(std::ceil(2 * reach_px / kCropCells)));
  const Vec2d middle = project(frame, centre);
  crop.first_u = static_cast<int>(std::lround(middle.x)) - crop.stride * kCropCells / 2;
  crop.first_v = static_cast<int>(std::lround(middle.y)) - crop.stride * kCropCells / 2;
  crop.camera.fx_px = frame.fx_px / crop.stride;
  crop.camera.fy_px = frame.fy_px / crop.stride;
  crop.camera.cx_px = (frame.cx_px - crop.first_u) / crop.stride;
  crop.camera.cy_px = (frame.cy_px - crop.first_v) / crop.stride;
  return crop;
}

}  // namespace sextant::detail::recognizer
