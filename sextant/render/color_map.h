// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant {

/// Returns the colour for a share in [0, 1] (clamped): from dark violet over blue and green to
/// light yellow. Lightness grows evenly to the eye (it is linear in the Oklab colour space), so
/// that equal steps look equal and a grey print keeps the order.
Rgb8 map_color(double share);

/// Draws numbers on the host, such as a depth map: `dark` is shown darkest, `light`
/// lightest, whichever is larger, and what lies beyond takes the colour of the end. NaN is black,
/// which the colours never are.
Image<Rgb8> color_map(ImageView<const float> values, float dark, float light);

/// Draws unit normals on the host, in the camera's frame, as colours: red to the right, green up,
/// blue towards the camera. Holes are black.
Image<Rgb8> normal_map(ImageView<const Vec3f> normals);

/// Returns the colour of two principal curvatures k1 >= k2, each as a share of the strongest that
/// is told apart (clamped to [-1, 1]; in the other order they are the same pair). Hue is the shape:
/// ball red, rod (k2 = 0) yellow, saddle green, gutter (k1 = 0) blue, bowl violet. The farther from
/// flat, the stronger the colour: a plane is almost white.
Rgb8 curvature_color(double k1_share, double k2_share);

/// Draws principal curvatures on the host, of two images of one size, in those colours: those from
/// `limit_per_m` on are strongest. Holes are black.
Image<Rgb8> curvature_map(ImageView<const float> k1_per_m, ImageView<const float> k2_per_m,
                          float limit_per_m);

/// Finds the values below which the given shares of the finite values lie: {0.01, 0.99} gives a
/// range for `color_map` that outliers do not stretch. {0, 0} when nothing is finite.
struct ValueRange {
  float low = 0;
  float high = 0;
};
ValueRange value_range(ImageView<const float> values, double low_share = 0.01,
                       double high_share = 0.99);

}  // namespace sextant
