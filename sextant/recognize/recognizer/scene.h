// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/recognize/recognizer.h"
#include "sextant/recognize/recognizer/frame.h"

namespace sextant::detail::recognizer {

/// A depth map made ready: averaged to the working pitch, with points and normals. The images lie
/// on one device.
struct SceneFrame {
  Cameraf camera;
  int averaged = 1;  ///< pixels of the given map along a side of one of these
  int given_width = 0;
  DepthNoise noise;
  Image<float> depth_m;
  Image<Vec3f> points;
  Image<Vec3f> normals;
  int normal_radius_px = 0;       ///< of the planes that normals come from
  Buffer<std::uint8_t> on_plane;  ///< whether the pixel lies on the dominant plane

  float median_depth_m = 0;
  std::int64_t measured = 0;

  Buffer<float> upload;  ///< page-locked, of the given map; on CUDA
  Image<float> given_m;  ///< on CUDA

  FrameView view() const {
    return {camera, noise, depth_m, points, normals, normal_radius_px, on_plane.data()};
  }
};

/// The depth map lies on the host.
SceneFrame prepare_scene(const Context& context, ImageView<const float> depth_m,
                         const Camera& camera, const RecognizeOptions& options);
/// The same into a frame that is used again: without allocation where the sizes stay the same.
/// Waits for the device once.
void prepare_scene_into(const Context& context, ImageView<const float> depth_m,
                        const Camera& camera, const RecognizeOptions& options, SceneFrame& scene,
                        Workspace& workspace);

/// Of rows and columns of pixels, every so many propose poses of an object with this leaf: several
/// pixels a leaf are enough to find what lies in it.
int proposing_step(const SceneFrame& scene, float leaf_m);

/// The points that propose poses of an object of the diameter, sampled with the leaf. On the CPU.
PointSamples sample_scene(const Context& context, const SceneFrame& scene,
                          ImageView<const std::uint8_t> mask, float leaf_m, float diameter_m);

}  // namespace sextant::detail::recognizer
