// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/core/host_device.h"

namespace sextant::detail {

/// What formulas for a number or a pack of numbers need beyond + - × ÷ and comparison. A pack of
/// lanes specialises it.
template <class T>
struct LaneMath {
  static SEXTANT_HD T square_root(const T& value) { return std::sqrt(value); }
  static SEXTANT_HD T inverse_square_root(const T& value) { return T(1) / std::sqrt(value); }
  static SEXTANT_HD T select(bool condition, const T& yes, const T& no) {
    return condition ? yes : no;
  }
};

}  // namespace sextant::detail
