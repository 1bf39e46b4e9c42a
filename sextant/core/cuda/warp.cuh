// SPDX-License-Identifier: Apache-2.0
#pragma once

// For .cu files only.

namespace sextant::detail {

inline constexpr int kWarp = 32;                    ///< lanes
inline constexpr unsigned kAllLanes = 0xffffffffu;  ///< as a mask

__device__ inline int lane_index() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline unsigned lanes_before() { return (1u << lane_index()) - 1u; }

// All lanes of a warp call these, and all get the result.

template <class T>
__device__ T warp_sum(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, step);
  }
  return value;
}
template <class T>
__device__ T warp_min(T value) {
  for (int step = kWarp / 2; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(kAllLanes, value, step);
    value = other < value ? other : value;
  }
  return value;
}

// These are one instruction since Ampere.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
template <>
__device__ inline int warp_sum(int value) {
  return __reduce_add_sync(kAllLanes, value);
}
template <>
__device__ inline int warp_min(int value) {
  return __reduce_min_sync(kAllLanes, value);
}
#endif

}  // namespace sextant::detail
