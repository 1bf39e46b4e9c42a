// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"
#include "sextant/geometry/camera.h"
#include "sextant/surface/noise/levels.h"

namespace sextant::detail::recognizer {

/// What depth errs by: the deviation of 1/z at every depth, and what is left even when near.
struct DepthNoise {
  float per_m[noise::kDepthBins] = {};
  float grain_px[noise::kDepthBins] = {};  ///< side of the square of pixels that err together
  float reach_px[noise::kDepthBins] = {};  ///< the same as covariances take it, which may be wider
  float floor_m = 0;
  SEXTANT_HD float grain(float z) const { return grain_px[noise::depth_bin(z)]; }
  SEXTANT_HD float reach(float z) const { return reach_px[noise::depth_bin(z)]; }
  SEXTANT_HD float sigma_m(float z) const { return floor_m + per_m[noise::depth_bin(z)] * z * z; }
};

/// The prepared frame as loops over it see it, on either device.
struct FrameView {
  Cameraf camera;
  DepthNoise noise;
  ImageView<const float> depth_m;
  ImageView<const Vec3f> points;
  ImageView<const Vec3f> normals;
  int normal_radius_px = 0;                ///< of the planes that normals come from
  const std::uint8_t* on_plane = nullptr;  ///< whether a pixel lies on the dominant plane; may be
                                           ///< null where there is none

  SEXTANT_HD bool contains(int u, int v) const {
    return u >= 0 && v >= 0 && u < camera.width && v < camera.height;
  }
  SEXTANT_HD bool is_on_plane(int u, int v) const {
    return on_plane && on_plane[std::int64_t{v} * camera.width + u] != 0;
  }
};

}  // namespace sextant::detail::recognizer
