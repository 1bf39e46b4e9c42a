// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/synth/kinect_noise/math.h"

namespace sextant::detail::kinect_noise {

void add_kinect_noise_cuda(const Context& context, const KinectNoisePixel& pixel) {
  for_each(context, pixel.noisy_m.pixels(), pixel);
}

}  // namespace sextant::detail::kinect_noise
