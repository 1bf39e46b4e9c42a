// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

// Host code is compiled once for each instruction set, and the choice is made at run time. This
// file is for the host only.
//
// Such code is a functor whose call operator takes a set as its first argument and uses packs of
// that set (lanes.h):
//
//     struct SumOfRow {
//       template <class Set>
//       void operator()(Set, int row) const;
//     };
//     run_widest(SumOfRow{...}, row);
//
// Everything that the functor calls is inlined into one function for each set, so that plain
// templates in between need no attribute. What must stay outside is marked noinline.

namespace sextant::detail {

/// The sets, in ascending width.
enum class InstructionSet { kPortable, kAvx2, kAvx512, kAvx512Vnni };

/// What every processor of the architecture has: on x86-64, SSE4.2.
struct Portable {
  static constexpr InstructionSet kSet = InstructionSet::kPortable;
  static constexpr int kBytes = 16;                       ///< of a register
  static constexpr int kFloats = kBytes / sizeof(float);  ///< in a register
#if defined(__aarch64__)
  static constexpr bool kFused = true;  ///< whether multiply_add rounds once
#else
  static constexpr bool kFused = false;
#endif
};

/// AVX2 with FMA and BMI.
struct Avx2 {
  static constexpr InstructionSet kSet = InstructionSet::kAvx2;
  static constexpr int kBytes = 32;
  static constexpr int kFloats = kBytes / sizeof(float);
  static constexpr bool kFused = true;
};

/// AVX-512 F, VL, BW and DQ.
struct Avx512 {
  static constexpr InstructionSet kSet = InstructionSet::kAvx512;
  static constexpr int kBytes = 64;
  static constexpr int kFloats = kBytes / sizeof(float);
  static constexpr bool kFused = true;
};

/// Avx512 with sums of products of bytes (ByteDot in register.h). Its packs are those of Avx512,
/// and only run_widest_bytes chooses it.
struct Avx512Vnni : Avx512 {
  static constexpr InstructionSet kSet = InstructionSet::kAvx512Vnni;
};

#if defined(__x86_64__)
#define SEXTANT_TARGET_AVX2 __attribute__((target("avx2,fma,bmi,bmi2")))
#define SEXTANT_TARGET_AVX512 \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,fma,bmi,bmi2")))
#define SEXTANT_TARGET_AVX512_VNNI \
  __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx512vnni,fma,bmi,bmi2")))
#else
#define SEXTANT_TARGET_AVX2
#define SEXTANT_TARGET_AVX512
#define SEXTANT_TARGET_AVX512_VNNI
#endif

/// Returns the widest set that this processor has.
InstructionSet supported_instruction_set();

/// Returns the set that run_widest takes: the widest that the processor has and that no limit
/// forbids.
InstructionSet chosen_instruction_set();

/// For tests and benchmarks: as long as it lives, all threads of the process take no wider set.
class InstructionSetLimit {
 public:
  explicit InstructionSetLimit(InstructionSet widest);
  ~InstructionSetLimit();
  InstructionSetLimit(const InstructionSetLimit&) = delete;
  InstructionSetLimit& operator=(const InstructionSetLimit&) = delete;

 private:
  InstructionSet before_;
};

template <class Job, class... Arguments>
__attribute__((flatten)) void run_on(Portable set, const Job& job, Arguments&&... arguments) {
  job(set, std::forward<Arguments>(arguments)...);
}
template <class Job, class... Arguments>
__attribute__((flatten)) SEXTANT_TARGET_AVX2 void run_on(Avx2 set, const Job& job,
                                                         Arguments&&... arguments) {
  job(set, std::forward<Arguments>(arguments)...);
}
template <class Job, class... Arguments>
__attribute__((flatten)) SEXTANT_TARGET_AVX512 void run_on(Avx512 set, const Job& job,
                                                           Arguments&&... arguments) {
  job(set, std::forward<Arguments>(arguments)...);
}

template <class Job, class... Arguments>
__attribute__((flatten)) SEXTANT_TARGET_AVX512_VNNI void run_on(Avx512Vnni set, const Job& job,
                                                                Arguments&&... arguments) {
  job(set, std::forward<Arguments>(arguments)...);
}

/// Calls job(set, std::forward<Arguments>(arguments)...), compiled for the set that is chosen.
template <class Job, class... Arguments>
void run_widest(const Job& job, Arguments&&... arguments) {
#if defined(__x86_64__)
  switch (chosen_instruction_set()) {
    case InstructionSet::kAvx512Vnni:
    case InstructionSet::kAvx512:
      return run_on(Avx512{}, job, std::forward<Arguments>(arguments)...);
    case InstructionSet::kAvx2:
      return run_on(Avx2{}, job, std::forward<Arguments>(arguments)...);
    case InstructionSet::kPortable:
      break;
  }
#endif
  run_on(Portable{}, job, std::forward<Arguments>(arguments)...);
}

/// As run_widest, for jobs that multiply bytes: those are also compiled for Avx512Vnni.
template <class Job, class... Arguments>
void run_widest_bytes(const Job& job, Arguments&&... arguments) {
#if defined(__x86_64__)
  if (chosen_instruction_set() == InstructionSet::kAvx512Vnni) {
    return run_on(Avx512Vnni{}, job, std::forward<Arguments>(arguments)...);
  }
#endif
  run_widest(job, std::forward<Arguments>(arguments)...);
}

}  // namespace sextant::detail
