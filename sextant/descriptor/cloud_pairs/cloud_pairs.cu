// SPDX-License-Identifier: Apache-2.0
// nvcc: -fmad=false, so that CUDA gives the bits of the CPU.
#include "sextant/core/for_each.h"
#include "sextant/descriptor/cloud_pairs/math.h"

namespace sextant::detail::cloud_pairs {

void find_cloud_partners_cuda(const Context& context, const CloudPartners& search) {
  for_each(context, search.lookers.samples, search);
}

}  // namespace sextant::detail::cloud_pairs
