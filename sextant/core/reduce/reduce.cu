// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/reduce/cuda.h"

namespace sextant::detail {

template <class T, class Operation>
void reduce_cuda(const Context& context, View<const T> values, const Operation& operation,
                 T identity, View<T> result, Workspace& workspace) {
  transform_reduce(context, values.size, ReadPartial<T>{values.data}, operation, identity, result,
                   workspace);
}

#define SEXTANT_REDUCE(T, Operation)                                                          \
  template void reduce_cuda<T, Operation>(const Context&, View<const T>, const Operation&, T, \
                                          View<T>, Workspace&);
#define SEXTANT_REDUCE_ALL(T) \
  SEXTANT_REDUCE(T, Add) SEXTANT_REDUCE(T, Smaller) SEXTANT_REDUCE(T, Larger)
SEXTANT_REDUCE_ALL(std::int32_t)
SEXTANT_REDUCE_ALL(std::int64_t)
SEXTANT_REDUCE_ALL(float)
SEXTANT_REDUCE_ALL(double)
#undef SEXTANT_REDUCE_ALL
#undef SEXTANT_REDUCE

}  // namespace sextant::detail
