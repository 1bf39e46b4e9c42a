// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/devices.h"

namespace sextant::testing {

/// Every CUDA device present.
inline std::vector<Context> cuda_contexts() {
  std::vector<Context> contexts;
  for (const Context& context : all_contexts()) {
    if (context.is_cuda()) contexts.push_back(context);
  }
  return contexts;
}

/// The CPU and every CUDA device present: for bodies that take long, where threads are tested
/// elsewhere.
inline std::vector<Context> each_device() {
  std::vector<Context> contexts = cuda_contexts();
  contexts.insert(contexts.begin(), Context::cpu(2));
  return contexts;
}

}  // namespace sextant::testing
