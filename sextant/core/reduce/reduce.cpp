// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/reduce.h"

#include "sextant/core/build_config.h"

namespace sextant {

namespace {

template <class T, class Operation>
void reduce(const Context& context, View<const T> values, const Operation& operation, T identity,
            View<T> result) {
  require_on(context, values, "values");
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      return detail::reduce_cuda(context, values, operation, identity, result);
    }
  }
  transform_reduce(context, values.size, detail::ReadPartial<T>{values.data}, operation, identity,
                   result);
}

}  // namespace

template <class T>
void reduce_sum(const Context& context, View<const T> values, View<T> result) {
  reduce(context, values, detail::Add{}, T(0), result);
}

template <class T>
void reduce_min(const Context& context, View<const T> values, View<T> result) {
  reduce(context, values, detail::Smaller{}, detail::highest<T>(), result);
}

template <class T>
void reduce_max(const Context& context, View<const T> values, View<T> result) {
  reduce(context, values, detail::Larger{}, detail::lowest<T>(), result);
}

#define SEXTANT_REDUCE(T)                                              \
  template void reduce_sum<T>(const Context&, View<const T>, View<T>); \
  template void reduce_min<T>(const Context&, View<const T>, View<T>); \
  template void reduce_max<T>(const Context&, View<const T>, View<T>);
SEXTANT_REDUCE(std::int32_t)
SEXTANT_REDUCE(std::int64_t)
SEXTANT_REDUCE(float)
SEXTANT_REDUCE(double)
#undef SEXTANT_REDUCE

}  // namespace sextant
