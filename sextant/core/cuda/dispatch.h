// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/build_config.h"
#include "sextant/core/context.h"

namespace sextant::detail {

/// Calls `cuda` on a CUDA context and `cpu` on the host, and returns what it returns:
///
///   on_device(
///       context, [&] { return estimate_normals_cuda(context, job); },
///       [&] { return estimate_normals_cpu(context, job); });
///
/// A build without CUDA never calls the first, so what it names need not be defined. That holds for
/// the function itself, not for others that it calls: the name of what is missing must stand in it.
template <class Cuda, class Cpu>
decltype(auto) on_device(const Context& context, [[maybe_unused]] const Cuda& cuda,
                         const Cpu& cpu) {
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return cuda();
  }
  return cpu();
}

}  // namespace sextant::detail
