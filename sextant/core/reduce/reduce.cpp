// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/reduce/cuda.h"

namespace sextant {

namespace {

template <class T, class Operation>
void reduce(const Context& context, View<const T> values, const Operation& operation, T identity,
            View<T> result, Workspace& workspace) {
  require_on(context, values, "values");
  detail::on_device(
      context,
      [&] { detail::reduce_cuda(context, values, operation, identity, result, workspace); },
      [&] {
        transform_reduce(context, values.size, detail::ReadPartial<T>{values.data}, operation,
                         identity, result, workspace);
      });
}

}  // namespace

template <class T>
void reduce_sum(const Context& context, View<const T> values, View<T> result,
                Workspace& workspace) {
  reduce(context, values, detail::Add{}, T(0), result, workspace);
}

template <class T>
void reduce_min(const Context& context, View<const T> values, View<T> result,
                Workspace& workspace) {
  reduce(context, values, detail::Smaller{}, detail::highest<T>(), result, workspace);
}

template <class T>
void reduce_max(const Context& context, View<const T> values, View<T> result,
                Workspace& workspace) {
  reduce(context, values, detail::Larger{}, detail::lowest<T>(), result, workspace);
}

#define SEXTANT_REDUCE(T)                                                          \
  template void reduce_sum<T>(const Context&, View<const T>, View<T>, Workspace&); \
  template void reduce_min<T>(const Context&, View<const T>, View<T>, Workspace&); \
  template void reduce_max<T>(const Context&, View<const T>, View<T>, Workspace&);
SEXTANT_REDUCE(std::int32_t)
SEXTANT_REDUCE(std::int64_t)
SEXTANT_REDUCE(float)
SEXTANT_REDUCE(double)
#undef SEXTANT_REDUCE

}  // namespace sextant
