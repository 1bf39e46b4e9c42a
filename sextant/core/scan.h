// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/workspace.h"

namespace sextant {

/// sums[i] = values[0] + … + values[i - 1]. With room for one more element than `values`, the last
/// receives the total: the offsets and the size of a list in one pass. In place is allowed when the
/// sizes are equal. Compiled for int32, uint32 and int64: floating-point scans depend on the order
/// of addition and are not offered. It takes one pass over the data on CUDA and two on the CPU.
template <class T>
void exclusive_scan(const Context& context, View<const T> values, View<T> sums,
                    Workspace& workspace);
template <class T>
void exclusive_scan(const Context& context, View<const T> values, View<T> sums) {
  Workspace workspace;
  exclusive_scan(context, values, sums, workspace);
}

}  // namespace sextant
