// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "sextant/core/cuda_check.h"
#include "sextant/core/sort.h"

namespace sextant::detail {

namespace {

struct Less {
  __device__ bool operator()(std::uint64_t a, std::uint64_t b) const { return a < b; }
};

/// Few long keys are merged faster than they are dealt out eight times; on an H200 the two ways
/// take the same time between 256 and 512 thousand.
constexpr std::int64_t kMostMerged = 1 << 18;

/// Stable, like the other way.
void merge_pairs(const Context& context, View<std::uint64_t> keys, std::uint32_t* values) {
  const cudaStream_t stream = cuda_stream(context);
  const auto run = [&](void* workspace, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortPairs(workspace, bytes, keys.data, values, keys.size,
                                                 Less{}, stream);
  };
  std::size_t bytes = 0;
  check_cuda(run(nullptr, bytes), "sort");
  Buffer<std::byte> workspace(context, static_cast<std::int64_t>(bytes));
  check_cuda(run(workspace.data(), bytes), "sort");
}

}  // namespace

template <class Key>
void sort_cuda(const Context& context, View<Key> keys, std::uint32_t* values, SortBits bits) {
  const std::int64_t count = keys.size;
  if (count < 2) return;
  if constexpr (sizeof(Key) == sizeof(std::uint64_t)) {
    const bool all_bits = bits.begin == 0 && bits.end == 8 * sizeof(Key);
    if (values && all_bits && count <= kMostMerged) return merge_pairs(context, keys, values);
  }
  Buffer<Key> spare_keys(context, count);
  Buffer<std::uint32_t> spare_values(context, values ? count : 0);
  cub::DoubleBuffer<Key> key_buffers(keys.data, spare_keys.data());
  cub::DoubleBuffer<std::uint32_t> value_buffers(values, spare_values.data());
  const cudaStream_t stream = cuda_stream(context);
  const auto run = [&](void* workspace, std::size_t& bytes) {
    return values ? cub::DeviceRadixSort::SortPairs(workspace, bytes, key_buffers, value_buffers,
                                                    count, bits.begin, bits.end, stream)
                  : cub::DeviceRadixSort::SortKeys(workspace, bytes, key_buffers, count, bits.begin,
                                                   bits.end, stream);
  };
  std::size_t bytes = 0;
  check_cuda(run(nullptr, bytes), "sort");
  Buffer<std::byte> workspace(context, static_cast<std::int64_t>(bytes));
  check_cuda(run(workspace.data(), bytes), "sort");
  // CUB says which of its two buffers holds the answer.
  if (key_buffers.Current() == keys.data) return;
  copy<Key>(context, spare_keys, keys);
  if (values) {
    copy<std::uint32_t>(context, spare_values.view(), {values, count, keys.device});
  }
}

template void sort_cuda(const Context&, View<float>, std::uint32_t*, SortBits);
template void sort_cuda(const Context&, View<std::uint32_t>, std::uint32_t*, SortBits);
template void sort_cuda(const Context&, View<std::uint64_t>, std::uint32_t*, SortBits);

}  // namespace sextant::detail
