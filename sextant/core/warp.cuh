// SPDX-License-Identifier: Apache-2.0
#pragma once

// For .cu files only.

namespace sextant::detail {

inline constexpr int kWarp = 32;                    ///< lanes
inline constexpr unsigned kAllLanes = 0xffffffffu;  ///< as a mask

}  // namespace sextant::detail
