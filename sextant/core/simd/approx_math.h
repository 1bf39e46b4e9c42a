// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/host_device.h"

// These are single instructions of the GPU, right to 3e-7 of the result for arguments and results
// that are normal numbers; the exactly rounded operations take ten instructions and more. The file
// is empty for other compilers than nvcc.
#if SEXTANT_CUDA_COMPILER

namespace sextant::detail {

__device__ inline float approx_inverse(float value) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
__device__ inline float approx_root(float value) {
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
__device__ inline float approx_inverse_root(float value) {
  float result;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
}
__device__ inline float approx_exp2(float exponent) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
}

}  // namespace sextant::detail

#endif
