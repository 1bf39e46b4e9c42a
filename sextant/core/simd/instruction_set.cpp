// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/simd/instruction_set.h"

#include <algorithm>
#include <atomic>

namespace sextant::detail {

namespace {

std::atomic<InstructionSet> limit{InstructionSet::kAvx512Vnni};

InstructionSet detect() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (avx2 && avx512) {
    return __builtin_cpu_supports("avx512vnni") ? InstructionSet::kAvx512Vnni
                                                : InstructionSet::kAvx512;
  }
  if (avx2) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kPortable;
}

}  // namespace

InstructionSet supported_instruction_set() {
  static const InstructionSet supported = detect();
  return supported;
}

InstructionSet chosen_instruction_set() {
  return std::min(supported_instruction_set(), limit.load(std::memory_order_relaxed));
}

InstructionSetLimit::InstructionSetLimit(InstructionSet widest) : before_(limit.exchange(widest)) {}

InstructionSetLimit::~InstructionSetLimit() { limit.store(before_); }

}  // namespace sextant::detail
