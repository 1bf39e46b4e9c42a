// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/compare.h"
#include "sextant/recognize/recognizer/poses.h"
#include "sextant/render/rasterize.h"

namespace sextant::detail::recognizer {

/// Renders poses of one object in batches and compares each with the frame.
class Verifier {
 public:
  Verifier(const Context& context, const SceneFrame& scene, const Model& model,
           const RenderScene& meshes, int mesh);
  std::vector<Compared> verify(std::span<const Rigid3d> poses, const CompareWants& wants = {});

 private:
  const Context& context_;
  const SceneFrame& scene_;
  const Model& model_;
  const RenderScene& meshes_;
  int mesh_;
  Rendering rendering_;
  Workspace workspace_;
};

}  // namespace sextant::detail::recognizer
