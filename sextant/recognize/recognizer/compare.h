// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/recognize/recognizer/compare_math.h"
#include "sextant/recognize/recognizer/scene.h"

namespace sextant::detail::recognizer {

/// What a comparison is asked for beside the terms.
struct CompareWants {
  bool pixels = false;
};

struct Compared {
  VerificationTerms terms;
  std::vector<std::int32_t> pixels;  ///< of the scene frame that the object supports, ascending
  /// Of a small motion about the object's centre: the depths of supported pixels and the places of
  /// edges, each divided by its variance and by how many err together, so that the inverse is a
  /// covariance.
  PoseEquations<double> equations;
};

/// What the cells of a rendered pose say. Writes a bit for each cell that is supported, row by row
/// into kMaskWords words, unless that is null.
CompareSums compare_cells(const FrameView& frame, const ModelView& model, const Vec3f& centre,
                          const Crop& crop, ImageView<const float> depth_m,
                          ImageView<const Vec3f> normals, std::uint32_t* supported);

/// Pixels of the frame under the supported cells of a crop, ascending.
std::vector<std::int32_t> supported_pixels(const Cameraf& camera, const Crop& crop,
                                           const std::uint32_t* supported);

}  // namespace sextant::detail::recognizer
