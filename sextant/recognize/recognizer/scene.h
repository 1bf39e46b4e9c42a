// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/image.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/geometry/camera.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/surface/noise/levels.h"

namespace sextant::detail::recognizer {

/// What depth errs by: the deviation of 1/z at every depth, and what is left even when near.
struct DepthNoise {
  float per_m[noise::kDepthBins] = {};
  float grain_px[noise::kDepthBins] = {};  ///< side of the square of pixels that err together
  float floor_m = 0;
  SEXTANT_HD float grain(float z) const { return grain_px[noise::depth_bin(z)]; }
  SEXTANT_HD float sigma_m(float z) const { return floor_m + per_m[noise::depth_bin(z)] * z * z; }
};

/// A depth map made ready: averaged to the working pitch, with points and normals.
struct SceneFrame {
  Cameraf camera;
  int averaged = 1;  ///< pixels of the given map along a side of one of these
  int given_width = 0;
  DepthNoise noise;
  Image<float> depth_m;
  Image<Vec3f> points;
  Image<Vec3f> normals;
  int normal_radius_px = 0;            ///< of the planes that normals come from
  std::vector<std::uint8_t> on_plane;  ///< whether the pixel lies on the dominant plane

  float median_depth_m = 0;
  std::int64_t measured = 0;
};

SceneFrame prepare_scene(const Context& context, ImageView<const float> depth_m,
                         const Camera& camera, const RecognizeOptions& options);

/// Whether the pixel proposes poses of objects up to the diameter: it lies off the dominant plane
/// and where the mask of the given map is not 0, and not so far off that an object of the diameter
/// would be too few pixels wide, or its depth too uncertain, to be told from others.
bool is_proposing(const SceneFrame& scene, ImageView<const std::uint8_t> mask, int u, int v,
                  float diameter_m);

/// The points that propose poses of an object of the diameter, sampled with the leaf.
PointSamples sample_scene(const Context& context, const SceneFrame& scene,
                          ImageView<const std::uint8_t> mask, float leaf_m, float diameter_m);

}  // namespace sextant::detail::recognizer
