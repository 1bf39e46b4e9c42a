// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/poses.h"
#include "sextant/render/rasterize.h"

namespace sextant::detail::recognizer {

inline constexpr int kCropCells = 96;  ///< along a side of what is rendered of a pose

/// The part of the frame that a pose is compared with: cell (i, j) is the pixel
/// (first_u + stride i, first_v + stride j).
struct Crop {
  int first_u = 0, first_v = 0;
  int stride = 1;
  Camera camera;
};

struct Verified {
  VerificationTerms terms;
  std::vector<std::int32_t> pixels;  ///< of the scene frame that the object supports, ascending
};

/// Renders poses of one object in batches and compares each with the frame.
class Verifier {
 public:
  Verifier(const Context& context, const SceneFrame& scene, const Model& model,
           const RenderScene& meshes, int mesh);
  std::vector<Verified> verify(std::span<const Rigid3d> poses, bool with_pixels);

 private:
  Crop crop_of(const Rigid3d& pose) const;

  const Context& context_;
  const SceneFrame& scene_;
  const Model& model_;
  const RenderScene& meshes_;
  int mesh_;
  float radius_m_;  ///< of a ball about the centre that holds the object
  Rendering rendering_;
  Workspace workspace_;
};

/// Compares one rendered pose with the frame.
Verified compare(const SceneFrame& scene, float diameter_m, const Crop& crop,
                 ImageView<const float> depth_m, ImageView<const Vec3f> normals, bool with_pixels);

}  // namespace sextant::detail::recognizer
