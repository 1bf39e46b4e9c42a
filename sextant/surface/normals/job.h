// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/normals.h"
#include "sextant/surface/normals/curved.h"

namespace sextant::detail::normals {

/// What the loops of estimate_normals need to know, on either device.
struct NormalsJob {
  ImageView<const Vec3f> points;
  ImageView<Vec3f> normals;
  NormalsMethod method = NormalsMethod::kRay;
  int radius_px = 3;
  float depth_gate_m = 0.02f;
  float relative_depth_gate = 0.02f;
  CurvedWeights curved{};  ///< of kCurved

  /// A window point takes part unless it lies farther than this in front of or behind the centre.
  SEXTANT_HD float depth_gate(float z_m) const {
    return max_of(depth_gate_m, relative_depth_gate * z_m);
  }
};

void estimate_normals_cuda(const Context& context, const NormalsJob& job);

}  // namespace sextant::detail::normals
