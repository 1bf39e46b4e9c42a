// SPDX-License-Identifier: Apache-2.0
#pragma once

// For .cu files only.

#include <cuda_runtime.h>

#include "sextant/core/context.h"
#include "sextant/core/error.h"

namespace sextant {

/// Throws Error with the call's name and CUDA's own words.
inline void check_cuda(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a sticky error would otherwise be reported again by the next check
  fail(what, ": ", cudaGetErrorName(status), ": ", cudaGetErrorString(status));
}

/// Call it after a kernel launch: it reports a bad configuration at once, under the kernel's name.
inline void check_launch(const char* kernel) { check_cuda(cudaGetLastError(), kernel); }

/// Returns the context's stream, and makes its device current for the launches that follow.
inline cudaStream_t cuda_stream(const Context& context) {
  check_cuda(cudaSetDevice(context.device().ordinal), "cudaSetDevice");
  return static_cast<cudaStream_t>(context.stream());
}

}  // namespace sextant
