// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant {

/// Returns a colour for a number: black for 0, and for those after it hues that lie far apart,
/// light and strong by turns, so that neighbours in number are easy to tell apart.
Rgb8 label_color(std::int32_t label);

/// Draws labels on the host.
Image<Rgb8> label_map(ImageView<const std::int32_t> labels);

}  // namespace sextant
