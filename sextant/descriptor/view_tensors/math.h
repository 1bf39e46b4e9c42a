// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/vec.h"

namespace sextant::detail::view_tensors {

/// Keeps every step-th pixel of every step-th row.
template <class T>
struct KeepEvery {
  ImageView<const T> from;
  int step;
  ImageView<T> to;
  SEXTANT_HD void operator()(int u, int v) const { to(u, v) = from(u * step, v * step); }
};

}  // namespace sextant::detail::view_tensors
