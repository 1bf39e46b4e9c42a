// SPDX-License-Identifier: Apache-2.0
#pragma once

/// True in files that nvcc compiles. Templates that launch kernels there carry it as a template
/// parameter, so that their host-only twin in a .cpp file is a different function.
#if defined(__CUDACC__)
#define SEXTANT_CUDA_COMPILER 1
#define SEXTANT_HD __host__ __device__
#else
#define SEXTANT_CUDA_COMPILER 0
#define SEXTANT_HD
#endif
