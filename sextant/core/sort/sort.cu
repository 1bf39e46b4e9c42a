// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "sextant/core/cuda_check.h"
#include "sextant/core/sort/cuda.h"

namespace sextant::detail {

namespace {

struct Less {
  __device__ bool operator()(std::uint64_t a, std::uint64_t b) const { return a < b; }
};

/// Few long keys are merged faster than they are dealt out eight times; on an H200 the two ways
/// take the same time between 256 and 512 thousand.
constexpr std::int64_t kMostMerged = 1 << 18;

/// This is stable, like the other way.
void merge_pairs(const Context& context, View<std::uint64_t> keys, std::uint32_t* values,
                 Workspace& workspace) {
  const cudaStream_t stream = cuda_stream(context);
  const auto run = [&](void* memory, std::size_t& bytes) {
    return cub::DeviceMergeSort::StableSortPairs(memory, bytes, keys.data, values, keys.size,
                                                 Less{}, stream);
  };
  std::size_t bytes = 0;
  check_cuda(run(nullptr, bytes), "sort");
  const View<std::byte> memory =
      workspace.take<std::byte>(context, static_cast<std::int64_t>(bytes));
  check_cuda(run(memory.data, bytes), "sort");
}

}  // namespace

template <class Key>
void sort_cuda(const Context& context, View<Key> keys, std::uint32_t* values, SortBits bits,
               Workspace& workspace) {
  const std::int64_t count = keys.size;
  if (count < 2) return;
  const Workspace::Scope scope(workspace);
  if constexpr (sizeof(Key) == sizeof(std::uint64_t)) {
    const bool all_bits = bits.begin == 0 && bits.end == 8 * sizeof(Key);
    if (values && all_bits && count <= kMostMerged) {
      return merge_pairs(context, keys, values, workspace);
    }
  }
  const View<Key> spare_keys = workspace.take<Key>(context, count);
  const View<std::uint32_t> spare_values =
      workspace.take<std::uint32_t>(context, values ? count : 0);
  cub::DoubleBuffer<Key> key_buffers(keys.data, spare_keys.data);
  cub::DoubleBuffer<std::uint32_t> value_buffers(values, spare_values.data);
  const cudaStream_t stream = cuda_stream(context);
  const auto run = [&](void* memory, std::size_t& bytes) {
    return values ? cub::DeviceRadixSort::SortPairs(memory, bytes, key_buffers, value_buffers,
                                                    count, bits.begin, bits.end, stream)
                  : cub::DeviceRadixSort::SortKeys(memory, bytes, key_buffers, count, bits.begin,
                                                   bits.end, stream);
  };
  std::size_t bytes = 0;
  check_cuda(run(nullptr, bytes), "sort");
  const View<std::byte> memory =
      workspace.take<std::byte>(context, static_cast<std::int64_t>(bytes));
  check_cuda(run(memory.data, bytes), "sort");
  // CUB says which of its two buffers holds the answer.
  if (key_buffers.Current() == keys.data) return;
  copy<Key>(context, spare_keys, keys);
  if (values) {
    copy<std::uint32_t>(context, spare_values, {values, count, keys.device});
  }
}

template void sort_cuda(const Context&, View<float>, std::uint32_t*, SortBits, Workspace&);
template void sort_cuda(const Context&, View<std::uint32_t>, std::uint32_t*, SortBits, Workspace&);
template void sort_cuda(const Context&, View<std::uint64_t>, std::uint32_t*, SortBits, Workspace&);

}  // namespace sextant::detail
