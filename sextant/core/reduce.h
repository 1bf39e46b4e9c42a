// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/for_each.h"
#include "sextant/core/vec.h"
#include "sextant/core/workspace.h"

namespace sextant {

/// Reductions follow one fixed tree, the same on every device and for any number of threads: the
/// result has the same bits everywhere, as long as map and operation round alike.
///
/// Tiles have 4096 elements. In a tile, lane l of 256 folds the elements l, l + 256, … in order;
/// then lanes fold pairwise, l with l + 128, l + 64, …, l + 1. The tiles' results are reduced the
/// same way. That costs one pass over the input and one launch per level (two up to 16 million
/// elements).
namespace detail {

inline constexpr int kReduceLanes = 256;
inline constexpr int kReduceRows = 16;
inline constexpr std::int64_t kReduceTile = std::int64_t{kReduceLanes} * kReduceRows;

/// Computes the result of tile `tile`, on the host.
template <class T, class Map, class Operation>
T reduce_tile(std::int64_t tile, std::int64_t count, const Map& map, const Operation& operation,
              const T& identity) {
  T lane[kReduceLanes];
  for (T& value : lane) value = identity;
  const std::int64_t begin = tile * kReduceTile;
  const std::int64_t end = min_of(begin + kReduceTile, count);
  for (std::int64_t row = begin; row < end; row += kReduceLanes) {
    const int width = static_cast<int>(min_of<std::int64_t>(kReduceLanes, end - row));
    for (int l = 0; l < width; ++l) lane[l] = operation(lane[l], map(row + l));
  }
  for (int stride = kReduceLanes / 2; stride > 0; stride /= 2) {
    for (int l = 0; l < stride; ++l) lane[l] = operation(lane[l], lane[l + stride]);
  }
  return lane[0];
}

#if SEXTANT_CUDA_COMPILER
template <class T, class Map, class Operation>
__global__ void __launch_bounds__(kReduceLanes)
    reduce_kernel(std::int64_t count, const Map map, const Operation operation, const T identity,
                  T* result) {
  __shared__ T lane[kReduceLanes];
  const int l = threadIdx.x;
  const std::int64_t begin = std::int64_t{blockIdx.x} * kReduceTile + l;
  T value = identity;
  if (std::int64_t{blockIdx.x + 1} * kReduceTile <= count) {
    // A full tile: all loads are issued before the first is used.
    T row[kReduceRows];
#pragma unroll
    for (int j = 0; j < kReduceRows; ++j) row[j] = map(begin + j * kReduceLanes);
#pragma unroll
    for (int j = 0; j < kReduceRows; ++j) value = operation(value, row[j]);
  } else {
    for (std::int64_t i = begin; i < count; i += kReduceLanes) value = operation(value, map(i));
  }
  lane[l] = value;
  for (int stride = kReduceLanes / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (l < stride) lane[l] = operation(lane[l], lane[l + stride]);
  }
  if (l == 0) result[blockIdx.x] = lane[0];
}
#endif

/// Reads the partial results of the level below.
template <class T>
struct ReadPartial {
  const T* data;
  SEXTANT_HD T operator()(std::int64_t index) const { return data[index]; }
};

/// Reduces one level: `result` receives one element per tile.
template <class T, class Map, class Operation, bool kCuda = SEXTANT_CUDA_COMPILER>
void reduce_level(const Context& context, std::int64_t count, const Map& map,
                  const Operation& operation, const T& identity, T* result) {
  const std::int64_t tiles = max_of<std::int64_t>(1, (count + kReduceTile - 1) / kReduceTile);
  if (context.is_cpu()) {
    for_each_chunk(context, tiles, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t tile = begin; tile < end; ++tile) {
        result[tile] = reduce_tile(tile, count, map, operation, identity);
      }
    });
    return;
  }
#if SEXTANT_CUDA_COMPILER
  require(tiles <= INT32_MAX, "reduce: ", count, " elements are too many");
  reduce_kernel<<<static_cast<unsigned>(tiles), kReduceLanes, 0, cuda_stream(context)>>>(
      count, map, operation, identity, result);
  check_launch("reduce");
#else
  fail("reduce: this function was compiled for the host, the context runs on ",
       to_string(context.device()));
#endif
}

}  // namespace detail

/// result[0] = identity ∘ map(0) ∘ map(1) ∘ … along the fixed tree; `result` lies on the context's
/// device and nothing waits. In a .cu file, map and operation are marked SEXTANT_HD.
template <class T, class Map, class Operation, bool kCuda = SEXTANT_CUDA_COMPILER>
void transform_reduce(const Context& context, std::int64_t count, const Map& map,
                      const Operation& operation, const T& identity, View<T> result,
                      Workspace& workspace) {
  require_on(context, result, "result");
  require(result.size == 1, "result: room for ", result.size, " elements instead of 1");
  require(count >= 0, "count: ", count, " is negative");
  std::int64_t tiles = (count + detail::kReduceTile - 1) / detail::kReduceTile;
  if (tiles <= 1) {
    detail::reduce_level<T, Map, Operation, kCuda>(context, count, map, operation, identity,
                                                   result.data);
    return;
  }
  const Workspace::Scope scope(workspace);
  const View<T> partial = workspace.take<T>(context, tiles);
  detail::reduce_level<T, Map, Operation, kCuda>(context, count, map, operation, identity,
                                                 partial.data);
  const detail::ReadPartial<T> read{partial.data};
  transform_reduce<T, detail::ReadPartial<T>, Operation, kCuda>(context, tiles, read, operation,
                                                                identity, result, workspace);
}
template <class T, class Map, class Operation, bool kCuda = SEXTANT_CUDA_COMPILER>
void transform_reduce(const Context& context, std::int64_t count, const Map& map,
                      const Operation& operation, const T& identity, View<T> result) {
  Workspace workspace;
  transform_reduce<T, Map, Operation, kCuda>(context, count, map, operation, identity, result,
                                             workspace);
}

/// Find the sum, the smallest and the largest element of a view; compiled for int32, int64, float
/// and double. The empty view gives 0, the largest and the smallest value of the type. With NaN the
/// sum is NaN; minimum and maximum leave it out.
template <class T>
void reduce_sum(const Context& context, View<const T> values, View<T> result, Workspace& workspace);
template <class T>
void reduce_min(const Context& context, View<const T> values, View<T> result, Workspace& workspace);
template <class T>
void reduce_max(const Context& context, View<const T> values, View<T> result, Workspace& workspace);
template <class T>
void reduce_sum(const Context& context, View<const T> values, View<T> result) {
  Workspace workspace;
  reduce_sum(context, values, result, workspace);
}
template <class T>
void reduce_min(const Context& context, View<const T> values, View<T> result) {
  Workspace workspace;
  reduce_min(context, values, result, workspace);
}
template <class T>
void reduce_max(const Context& context, View<const T> values, View<T> result) {
  Workspace workspace;
  reduce_max(context, values, result, workspace);
}

namespace detail {

struct Add {
  template <class T>
  SEXTANT_HD T operator()(const T& a, const T& b) const {
    return a + b;
  }
};
struct Smaller {
  template <class T>
  SEXTANT_HD T operator()(const T& a, const T& b) const {
    return min_of(a, b);
  }
};
struct Larger {
  template <class T>
  SEXTANT_HD T operator()(const T& a, const T& b) const {
    return max_of(a, b);
  }
};

}  // namespace detail

}  // namespace sextant
