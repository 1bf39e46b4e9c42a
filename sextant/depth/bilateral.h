// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"

namespace sextant {

/// The bilateral filter's window and widths.
struct BilateralOptions {
  int radius_px = 5;             ///< half the side of the square window: 5 is 11×11
  double sigma_space_px = 4.5;   ///< width of the Gaussian over the distance in the image
  double sigma_depth_m = 0.030;  ///< width of the Gaussian over the difference in depth

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("radius_px", self.radius_px, "half the side of the window (5 is 11 x 11)", Range{1, 15});
    visit("sigma_space_px", self.sigma_space_px, "width of the Gaussian over image distance",
          Range{0.1, 1000});
    visit("sigma_depth_m", self.sigma_depth_m, "width of the Gaussian over depth difference",
          Range{1e-6, 1000});
  }
};

/// Smooths a depth map in metres and keeps its edges (Tomasi and Manduchi, 1998):
///
///     out(p) = Σ_q V_q w_q / Σ_q w_q,  w_q = exp(-|p - q|² / 2σs²) exp(-(V_p - V_q)² / 2σd²)
///
/// over the valid pixels q of the window, which is clipped at the border. Holes (NaN, infinite,
/// zero or negative depth) stay holes, as NaN, and count for nothing: nothing is filled. A constant
/// image comes back unchanged, bit by bit. The output is not rounded to millimetres.
///
/// Cost: (2 radius + 1)² exponentials a pixel; at 640×480 and radius 5, 37 million. Accuracy:
/// within 3e-7 z + 2e-6 sigma_depth of exact arithmetic. CPU and CUDA differ by less than twice
/// that; the same bits on every run and for any number of threads.
Image<float> bilateral_filter(const Context& context, ImageView<const float> depth_m,
                              const BilateralOptions& options = {});

/// Into another image of the same size; allocates nothing and does not wait.
void bilateral_filter_into(const Context& context, ImageView<const float> depth_m,
                           const BilateralOptions& options, ImageView<float> filtered_m);

}  // namespace sextant
