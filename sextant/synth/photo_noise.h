// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/vec.h"

namespace sextant {

/// What lens and sensor make of a perfect picture.
struct PhotoNoiseOptions {
  float blur_px = 0.6f;                  ///< standard deviation of the lens' blur; 0 for none
  float full_well_electrons = 10000.0f;  ///< what makes a pixel white: fewer is noisier; 0 for no
                                         ///< noise
  float read_noise_electrons = 10.0f;    ///< standard deviation that every pixel has

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("blur_px", self.blur_px, "standard deviation of the lens' blur", Range{0, 20});
    visit("full_well_electrons", self.full_well_electrons,
          "electrons of a white pixel, 0 for no noise", Range{0, 1e9});
    visit("read_noise_electrons", self.read_noise_electrons, "noise of an unlit pixel",
          Range{0, 1e6});
  }
};

/// Blurs the picture with a separable Gaussian (cut at three deviations, mirrored at the border)
/// and adds shot and read noise: a pixel of n electrons deviates by sqrt(n + read²). Both happen in
/// linear light, of which a byte is the 2.2th root. Random numbers are functions of (seed, pixel,
/// channel). On the host's threads; a context of another device is an Error.
Image<Rgb8> add_photo_noise(const Context& context, ImageView<const Rgb8> image,
                            const PhotoNoiseOptions& options = {}, std::uint64_t seed = 0);

}  // namespace sextant
