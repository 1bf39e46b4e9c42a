// SPDX-License-Identifier: Apache-2.0
#pragma once

// Functions that exist once for each instruction set, and the choice at run time. Host only.

#define SEXTANT_FOR_ANY __attribute__((flatten))
#if defined(__x86_64__)
#define SEXTANT_FOR_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"), flatten))
#define SEXTANT_FOR_AVX2 __attribute__((target("avx2"), flatten))
#else
#define SEXTANT_FOR_AVX512 SEXTANT_FOR_ANY
#define SEXTANT_FOR_AVX2 SEXTANT_FOR_ANY
#endif

namespace sextant::detail {

/// The widest of three variants of a function that this processor runs.
template <class Function>
Function* best_variant(Function* avx512, Function* avx2, Function* any) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return avx512;
  }
  if (__builtin_cpu_supports("avx2")) return avx2;
#else
  (void)avx512;
  (void)avx2;
#endif
  return any;
}

}  // namespace sextant::detail
