// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/core/progress.h"

namespace sextant {

/// The options that every reader of clouds and meshes has.
struct ReadOptions {
  double unit_m = 1.0;     ///< metres per unit of the file: 0.001 for millimetres
  Progress progress = {};  ///< in bytes; return false to stop

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("unit_m", self.unit_m, "metres per unit of the file (0.001 for millimetres)",
          Range{1e-9, 1e9});
  }
};

}  // namespace sextant
