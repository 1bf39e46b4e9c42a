// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/sift.h"

namespace sextant::detail::sift {

/// As compute_sift_into on a CUDA context, with arguments that have been checked. Lists begin with
/// room for `capacity` keypoints, and grow to what is found.
void compute_sift_cuda(const Context& context, const PhotoView& photo,
                       const ImageView<const std::uint8_t>& mask, const SiftOptions& options,
                       std::int64_t capacity, SiftFeatures& features, Workspace& workspace);

/// The room that is taken at first for the keypoints of an image: twice and more what photographs
/// have.
inline std::int64_t first_capacity(const PhotoView& photo, const SiftOptions& options) {
  const std::int64_t pixels = std::int64_t{photo.width} * photo.height * (options.doubled ? 4 : 1);
  return pixels / 128 > 1024 ? pixels / 128 : 1024;
}

}  // namespace sextant::detail::sift
