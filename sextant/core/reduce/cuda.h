// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/reduce.h"

namespace sextant::detail {

/// The neutral elements of Smaller and Larger.
template <class T>
constexpr T highest() {
  return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::max();
}
template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

template <class T, class Operation>
void reduce_cuda(const Context& context, View<const T> values, const Operation& operation,
                 T identity, View<T> result, Workspace& workspace);

}  // namespace sextant::detail
