// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift/scale_space.h"

namespace sextant::detail::sift {

/// As compute_sift_into, with another limit for the pixels of an octave that are in memory at once.
/// The limit changes nothing about the result.
void compute_sift_in_slabs(const Context& context, const PhotoView& photo,
                           const ImageView<const std::uint8_t>& mask, const SiftOptions& options,
                           std::int64_t slab_pixels, SiftFeatures& features, Workspace& workspace);

}  // namespace sextant::detail::sift
