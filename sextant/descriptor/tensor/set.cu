// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each.h"
#include "sextant/descriptor/tensor/set_math.h"

namespace sextant::detail::tensor {

void unpack_tensors_cuda(const Context& context, std::int64_t elements, const UnpackBin& unpack) {
  for_each(context, elements, unpack);
}

void pack_tensors_cuda(const Context& context, std::int64_t elements, const PackElement& pack) {
  for_each(context, elements, pack);
}

void flip_tensors_cuda(const Context& context, std::int64_t capacity, const FlipMask& mask,
                       const FlipBin& bin) {
  for_each(context, capacity * 16, mask);
  for_each(context, capacity * bin.from.all_bins(), bin);
}

}  // namespace sextant::detail::tensor
