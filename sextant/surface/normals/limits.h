// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sextant::detail::normals {

/// The largest window is 21 × 21.
inline constexpr int kMaxNormalsRadius_px = 10;
/// Fewer points in the window give no normal.
inline constexpr float kLeastNormalsPoints = 5;

}  // namespace sextant::detail::normals
