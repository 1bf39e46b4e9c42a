// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sextant/core/image.h"

namespace sextant::detail::depth_file {

/// A depth map on the host in steps of unit_m, rounded to the nearest. NaN, infinite, zero and
/// negative depths become 0 (nothing came back), as do depths below half a step; one beyond 65535
/// steps is an Error that names the file.
Image<std::uint16_t> depth_steps(ImageView<const float> depth_m, double unit_m,
                                 const std::string& name);

}  // namespace sextant::detail::depth_file
