// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/depth_file/steps.h"

#include <cmath>

#include "sextant/io/image_info.h"

namespace sextant::detail::depth_file {

Image<std::uint16_t> depth_steps(ImageView<const float> depth_m, double unit_m,
                                 const std::string& name) {
  check_writable(name, depth_m);
  Image<std::uint16_t> steps(Context::cpu(1), depth_m.width, depth_m.height);
  float deepest_m = 0;
  for (int v = 0; v < depth_m.height; ++v) {
    for (int u = 0; u < depth_m.width; ++u) {
      const float z_m = depth_m(u, v);
      const bool returned = std::isfinite(z_m) && z_m > 0;
      const double step = returned ? std::floor(z_m / unit_m + 0.5) : 0.0;
      if (returned && z_m > deepest_m) deepest_m = z_m;
      steps(u, v) = static_cast<std::uint16_t>(step <= 65535 ? step : 0);
    }
  }
  require(std::floor(deepest_m / unit_m + 0.5) <= 65535, name, ": a depth of ", deepest_m,
          " m is beyond 65535 steps of ", unit_m, " m; write with unit_m of at least ",
          deepest_m / 65535.0);
  return steps;
}

}  // namespace sextant::detail::depth_file
