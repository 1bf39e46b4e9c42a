// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/vec.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant::detail::sensor_noise {

/// What lies around a pixel, as bits.
enum Edge : std::uint8_t {
  kFarLeft = 1,  ///< the neighbour there is farther by more than the edge's step
  kFarRight = 2,
  kFarUp = 4,
  kFarDown = 8,
  kFarAnywhere = 15,
  kBesideHole = 16,  ///< a 4-neighbour has no depth
  kApart = 32,       ///< a 4-neighbour is nearer or farther by more than the step, or a hole
  kShadow = 64,      ///< the second viewpoint does not see it
};

/// Finds the bits of one pixel in the perfect depth map.
struct EdgePixel {
  ImageView<const float> depth_m;
  ImageView<std::uint8_t> edges;
  float edge_step = 0;
  float scale_m_px = 0;   ///< baseline times focal length; 0 for no shadows
  int most_shift_px = 0;  ///< disparity of the nearest thing that throws a shadow

  SEXTANT_HD int compare(float z, int u, int v, int far_bit) const {
    if (!depth_m.contains(u, v)) return 0;
    const float other = depth_m(u, v);
    if (std::abs(other - z) <= edge_step * z) return 0;
    if (!(other > 0 && other < INFINITY)) return kBesideHole | kApart;
    return other > z ? far_bit | kApart : kApart;
  }

  /// In the picture of the second viewpoint, which stands to the right, a point lies `disparity` px
  /// to the left of where the camera sees it: it is hidden by a nearer one to its right that falls
  /// on the same place.
  SEXTANT_HD bool in_shadow(float z, int u, int v) const {
    const float own = scale_m_px / z;
    const float near_z = scale_m_px / (own + 1.0f);  // nearer by a pixel of disparity
    const int last = min_of(depth_m.width - 1, u + most_shift_px);
    for (int other = u + 1; other <= last; ++other) {
      const float other_z = depth_m(other, v);
      if (!(other_z > 0 && other_z <= near_z)) continue;
      const float apart_px = scale_m_px / other_z - own - static_cast<float>(other - u);
      if (std::abs(apart_px) <= 0.75f) return true;
    }
    return false;
  }

  SEXTANT_HD void operator()(int u, int v) const {
    const float z = depth_m(u, v);
    int bits = 0;
    if (z > 0 && z < INFINITY) {
      bits = compare(z, u - 1, v, kFarLeft) | compare(z, u + 1, v, kFarRight) |
             compare(z, u, v - 1, kFarUp) | compare(z, u, v + 1, kFarDown);
      if (scale_m_px > 0 && in_shadow(z, u, v)) bits |= kShadow;
    }
    edges(u, v) = static_cast<std::uint8_t>(bits);
  }
};

}  // namespace sextant::detail::sensor_noise
