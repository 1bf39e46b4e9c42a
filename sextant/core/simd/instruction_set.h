// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Functions that exist once for each instruction set, and the choice at run time. Host only.

#define SEXTANT_FOR_ANY __attribute__((flatten))
#if defined(__x86_64__)
#define SEXTANT_FOR_AVX512 \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,bmi,bmi2"), flatten))
#define SEXTANT_FOR_AVX2 __attribute__((target("avx2,bmi,bmi2"), flatten))
#else
#define SEXTANT_FOR_AVX512 SEXTANT_FOR_ANY
#define SEXTANT_FOR_AVX2 SEXTANT_FOR_ANY
#endif

namespace sextant::detail {

/// Whether the processor runs what SEXTANT_FOR_AVX512 compiles.
inline bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}
inline bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
#else
  return false;
#endif
}

/// The widest of three variants of a function that this processor runs.
template <class Function>
Function* best_variant(Function* avx512, Function* avx2, Function* any) {
  if (has_avx512()) return avx512;
  return has_avx2() ? avx2 : any;
}

}  // namespace sextant::detail

/// Defines run_widest(const Job&, begin, end), which calls job(begin, end) compiled for the widest
/// registers of the processor. A macro, because GCC forgets `flatten` on templates.
#define SEXTANT_RUN_WIDEST(Job)                                                              \
  SEXTANT_FOR_AVX512 void run_avx512(const Job& job, std::int64_t begin, std::int64_t end) { \
    job(begin, end);                                                                         \
  }                                                                                          \
  SEXTANT_FOR_AVX2 void run_avx2(const Job& job, std::int64_t begin, std::int64_t end) {     \
    job(begin, end);                                                                         \
  }                                                                                          \
  SEXTANT_FOR_ANY void run_portable(const Job& job, std::int64_t begin, std::int64_t end) {  \
    job(begin, end);                                                                         \
  }                                                                                          \
  void run_widest(const Job& job, std::int64_t begin, std::int64_t end) {                    \
    if (detail::has_avx512()) return run_avx512(job, begin, end);                            \
    if (detail::has_avx2()) return run_avx2(job, begin, end);                                \
    run_portable(job, begin, end);                                                           \
  }
