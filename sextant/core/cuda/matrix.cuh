// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Products of small matrices on tensor cores, and copies to shared memory that run beside them. For
// .cu files only. Of a row-major matrix A (16 rows) and a row-major matrix B whose rows are the
// columns of the product (8 of them), lane l of a warp holds the numbers of A in rows l / 4 and
// l / 4 + 8 and those of B in row l / 4, and of the product D those of rows l / 4 and l / 4 + 8 in
// columns 2 (l % 4) and the next: {row l / 4: two columns, row l / 4 + 8: two columns}.

namespace sextant::detail {

/// Where shared memory lies for instructions that want a number.
__device__ inline std::uint32_t shared_address(const void* data) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(data));
}

/// Four matrices of 8 rows of 16 bytes; lane l gives the address of row l % 8 of matrix l / 8, and
/// receives bytes 4 (l % 4) and the next three of row l / 4 of each.
__device__ inline void load_matrices(std::uint32_t address, std::uint32_t (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// D = A B + C for 32 unsigned bytes a row.
__device__ inline void multiply_bytes(const std::uint32_t (&a)[4], std::uint32_t b0,
                                      std::uint32_t b1, const std::int32_t (&c)[4],
                                      std::int32_t (&d)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]),
        "r"(c[2]), "r"(c[3]));
#else
  const auto quarter = [](std::uint32_t x, std::uint32_t y, std::int32_t& low, std::int32_t& high) {
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+r"(low), "+r"(high)
        : "r"(x), "r"(y));
  };
  for (int i = 0; i < 4; ++i) d[i] = c[i];
  quarter(a[0], b0, d[0], d[1]);
  quarter(a[1], b0, d[2], d[3]);
  quarter(a[2], b1, d[0], d[1]);
  quarter(a[3], b1, d[2], d[3]);
#endif
}

/// D += A B for 16 numbers of half precision a row.
__device__ inline void multiply_add_halves(const std::uint32_t (&a)[4], std::uint32_t b0,
                                           std::uint32_t b1, float (&d)[4]) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  const auto half = [&d](std::uint32_t x0, std::uint32_t x1, std::uint32_t y) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(x0), "r"(x1), "r"(y));
  };
  half(a[0], a[1], b0);
  half(a[2], a[3], b1);
#endif
}

/// Begins to copy 16 bytes to shared memory, or to fill them with zeros.
__device__ inline void copy_16_bytes(void* to, const void* from, bool exists) {
#if __CUDA_ARCH__ >= 800
  const int bytes = exists ? 16 : 0;
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(from), "r"(bytes)
               : "memory");
#else
  *static_cast<uint4*>(to) = exists ? *static_cast<const uint4*>(from) : uint4{};
#endif
}

/// Ends a group of copies, and waits until at most kOpen of this thread's groups are unfinished.
__device__ inline void end_copy_group() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int kOpen>
__device__ void wait_for_copy_groups() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kOpen) : "memory");
#endif
}

}  // namespace sextant::detail
