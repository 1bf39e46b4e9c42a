// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/reduce.h"

// Reductions for .cpp files that run on either device. Map and operation are compiled by nvcc in a
// .cu file of the operation, which has one line for each:
//
//   namespace sextant::detail {
//   SEXTANT_TRANSFORM_REDUCE_ON_CUDA(Bounds, cloud::PointBounds, cloud::JoinBounds)
//   }

namespace sextant::detail {

template <class T, class Map, class Operation>
void transform_reduce_on_cuda(const Context& context, std::int64_t count, const Map& map,
                              const Operation& operation, const T& identity, View<T> result,
                              Workspace& workspace);

/// Does the same as sextant::transform_reduce, from a .cpp file.
template <class T, class Map, class Operation>
void transform_reduce_anywhere(const Context& context, std::int64_t count, const Map& map,
                               const Operation& operation, const T& identity, View<T> result,
                               Workspace& workspace) {
  on_device(
      context,
      [&] {
        transform_reduce_on_cuda(context, count, map, operation, identity, result, workspace);
      },
      [&] { transform_reduce(context, count, map, operation, identity, result, workspace); });
}

#if SEXTANT_CUDA_COMPILER
template <class T, class Map, class Operation>
void transform_reduce_on_cuda(const Context& context, std::int64_t count, const Map& map,
                              const Operation& operation, const T& identity, View<T> result,
                              Workspace& workspace) {
  transform_reduce(context, count, map, operation, identity, result, workspace);
}

#define SEXTANT_TRANSFORM_REDUCE_ON_CUDA(T, Map, Operation)                        \
  template void transform_reduce_on_cuda(const Context&, std::int64_t, const Map&, \
                                         const Operation&, const T&, View<T>, Workspace&);
#endif

}  // namespace sextant::detail
