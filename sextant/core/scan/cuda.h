// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/scan.h"

namespace sextant::detail {

template <class T>
void exclusive_scan_cuda(const Context& context, View<const T> values, View<T> sums,
                         Workspace& workspace);

}  // namespace sextant::detail
