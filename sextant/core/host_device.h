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

/// Stands before a short loop whose count is known, so that arrays it indexes stay in registers.
#if defined(__CUDA_ARCH__) || (defined(__clang__) && !defined(__CUDACC__))
#define SEXTANT_UNROLL _Pragma("unroll")
#elif defined(__CUDACC__)
#define SEXTANT_UNROLL
#else
#define SEXTANT_UNROLL _Pragma("GCC unroll 16")
#endif
