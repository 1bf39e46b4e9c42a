// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/host_device.h"

namespace sextant::detail::sift {

/// The element that a mirror shows in the place `i`: one whose plane runs through the middle of the
/// outer elements.
SEXTANT_HD inline int mirrored(int i, int count) {
  if (i >= 0 && i < count) return i;
  if (count == 1) return 0;
  const int period = 2 * (count - 1);
  const int k = ((i % period) + period) % period;
  return k < count ? k : period - k;
}
/// One whose plane is their outer edge.
SEXTANT_HD inline int mirrored_at_edge(int i, int count) {
  if (i >= 0 && i < count) return i;
  const int period = 2 * count;
  const int k = ((i % period) + period) % period;
  return k < count ? k : period - 1 - k;
}

}  // namespace sextant::detail::sift
