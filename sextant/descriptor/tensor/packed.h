// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"

// What the tensors of images and of meshes do alike around the computation. For .cpp files only.

namespace sextant::detail::tensor {

/// Throws unless the arguments that both computations have are on the context's device and fit
/// together, and the set has room for all bins of its tensors.
void check_computation(const Context& context, View<const PointPair> pairs,
                       View<const std::int32_t> count, const TensorOptions& options,
                       const TensorSet& tensors);

/// Runs compute(count, tensors, workspace) with room for a tensor of each pair, and packs them.
template <class Compute>
TensorSet packed_tensors(const Context& context, View<const PointPair> pairs,
                         const TensorOptions& options, const Compute& compute) {
  check_options(options);
  require(pairs.size <= INT32_MAX, "pairs: ", pairs.size, " are too many");
  const Buffer<std::int32_t> count =
      copy(context, std::vector<std::int32_t>{static_cast<std::int32_t>(pairs.size)});
  TensorSet tensors(context, pairs.size, options.bins);
  Workspace workspace;
  compute(count.view(), tensors, workspace);
  return pack_tensors(context, tensors);
}

}  // namespace sextant::detail::tensor
