// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sextant/core/context.h"
#include "sextant/core/error.h"
#include "sextant/core/host_device.h"
#if SEXTANT_CUDA_COMPILER
#include "sextant/core/cuda_check.h"
#endif

namespace sextant {

namespace detail {

/// A reference to a callable that takes the number of a chunk.
struct ChunkFunction {
  void* object;
  void (*call)(void* object, std::int64_t chunk);
};

/// Calls the function for 0 .. chunks - 1 on this thread and on helpers, up to the context's number
/// of threads. It never waits for a helper that has not begun a chunk, so it is safe from any
/// thread, from several at once, from inside a chunk and after fork(). An exception stops the rest
/// and is thrown again here; of several, the one of the lowest chunk.
void run_chunks(const Context& context, std::int64_t chunks, ChunkFunction function);

#if SEXTANT_CUDA_COMPILER
inline constexpr int kForEachBlock = 256;  // full occupancy on every architecture

template <class Function>
__global__ void __launch_bounds__(kForEachBlock)
    for_each_kernel(std::int64_t count, const Function function) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kForEachBlock + threadIdx.x;
  if (index < count) function(index);
}
#endif

}  // namespace detail

/// Splits 0 .. count - 1 into chunks of `grain` and calls function(begin, end) for each on the
/// context's threads. It runs on the host only. The chunks do not depend on the number of threads.
template <class Function>
void for_each_chunk(const Context& context, std::int64_t count, std::int64_t grain,
                    const Function& function) {
  require(context.is_cpu(), "for_each_chunk: runs on the host, the context on ",
          to_string(context.device()));
  require(grain > 0, "for_each_chunk: grain ", grain, " is not positive");
  auto body = [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * grain;
    const std::int64_t end = begin + grain < count ? begin + grain : count;
    function(begin, end);
  };
  using Body = decltype(body);
  detail::run_chunks(
      context, (count + grain - 1) / grain,
      {&body, [](void* object, std::int64_t chunk) { (*static_cast<Body*>(object))(chunk); }});
}

/// Calls function(i) for i = 0 .. count - 1, in any order. In a .cu file the function runs on
/// either device and is marked SEXTANT_HD; in a .cpp file it runs on the host only.
template <class Function, bool kCuda = SEXTANT_CUDA_COMPILER>
void for_each(const Context& context, std::int64_t count, const Function& function) {
  if (count <= 0) return;
  if (context.is_cpu()) {
    constexpr std::int64_t kGrain = 1024;  // far above the cost of handing out a chunk
    for_each_chunk(context, count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) function(i);
    });
    return;
  }
#if SEXTANT_CUDA_COMPILER
  const std::int64_t blocks = (count + detail::kForEachBlock - 1) / detail::kForEachBlock;
  require(blocks <= INT32_MAX, "for_each: ", count, " elements are too many for one launch");
  detail::for_each_kernel<<<static_cast<unsigned>(blocks), detail::kForEachBlock, 0,
                            cuda_stream(context)>>>(count, function);
  check_launch("for_each");
#else
  fail("for_each: this function was compiled for the host, the context runs on ",
       to_string(context.device()));
#endif
}

}  // namespace sextant
