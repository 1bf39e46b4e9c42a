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

/// Compares one rendered pose with the frame. `centre` is the object's, in the camera's frame.
Compared compare(const FrameView& frame, const ModelView& model, const Vec3f& centre,
                 const Crop& crop, ImageView<const float> depth_m, ImageView<const Vec3f> normals,
                 const CompareWants& wants);

/// Pixels of the frame under cells of a crop for which has(i, j) is true, ascending.
template <class Has>
std::vector<std::int32_t> pixels_of_cells(const Cameraf& camera, const Crop& crop, Has&& has) {
  std::vector<std::int32_t> pixels;
  const auto add_row = [&](int v, int j) {
    for (int i = 0; i < kCropCells; ++i) {
      const int first = crop.first_u + crop.stride * i;
      if (!has(i, j)) continue;
      const int end = min_of(first + crop.stride, camera.width);
      for (int u = first; u < end; ++u) pixels.push_back(v * camera.width + u);
    }
  };
  for (int j = 0; j < kCropCells; ++j) {
    const int first = crop.first_v + crop.stride * j;
    const int end = min_of(first + crop.stride, camera.height);
    for (int v = first; v < end; ++v) add_row(v, j);
  }
  return pixels;
}

}  // namespace sextant::detail::recognizer
