// SPDX-License-Identifier: Apache-2.0
// Compiled without fused multiply-add, so that CUDA finds the pairs of the CPU to the last bit.
#include "sextant/core/for_each.h"
#include "sextant/descriptor/cloud_pairs_math.h"

namespace sextant::detail {

void find_cloud_partners_cuda(const Context& context, const CloudPartners& search) {
  for_each(context, search.lookers.samples, search);
}

}  // namespace sextant::detail
