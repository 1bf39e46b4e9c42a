// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "sextant/core/simd/instruction_set.h"

namespace sextant::testing {

/// Calls body(set) for each instruction set that this processor has, the only one that operations
/// then take.
template <class Body>
void for_each_instruction_set(const Body& body) {
  using detail::InstructionSet;
  const auto trace = [](InstructionSet set) {
    return set == InstructionSet::kAvx512Vnni ? "avx512 with vnni"
           : set == InstructionSet::kAvx512   ? "avx512"
           : set == InstructionSet::kAvx2     ? "avx2"
                                              : "portable";
  };
  for (const InstructionSet set : {InstructionSet::kPortable, InstructionSet::kAvx2,
                                   InstructionSet::kAvx512, InstructionSet::kAvx512Vnni}) {
    if (set > detail::supported_instruction_set()) continue;
    SCOPED_TRACE(trace(set));
    const detail::InstructionSetLimit limit(set);
    body(set);
  }
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// run() returns a vector, which must be the same for each instruction set to the last bit.
template <class Run>
void expect_same_bits_on_every_set(const Run& run) {
  decltype(run()) first;
  for_each_instruction_set([&](detail::InstructionSet set) {
    if (set == detail::InstructionSet::kPortable) {
      first = run();
      EXPECT_FALSE(first.empty());
    } else {
      EXPECT_TRUE(same_bytes(run(), first));
    }
  });
}

}  // namespace sextant::testing
