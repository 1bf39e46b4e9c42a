// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>

#include "sextant/core/cuda_check.h"
#include "sextant/core/scan/cuda.h"

namespace sextant::detail {

namespace {

/// Reads the values, and a zero behind them, so that the total comes out as one more element.
template <class T>
struct PaddedValue {
  const T* values;
  std::int64_t size;
  SEXTANT_HD T operator()(std::int64_t index) const { return index < size ? values[index] : T(0); }
};

template <class T, class Input>
void scan(const Context& context, Input input, T* sums, std::int64_t count, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const cudaStream_t stream = cuda_stream(context);
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, input, sums, count, stream), "scan");
  const View<std::byte> memory =
      workspace.take<std::byte>(context, static_cast<std::int64_t>(bytes));
  check_cuda(cub::DeviceScan::ExclusiveSum(memory.data, bytes, input, sums, count, stream), "scan");
}

}  // namespace

template <class T>
void exclusive_scan_cuda(const Context& context, View<const T> values, View<T> sums,
                         Workspace& workspace) {
  if (sums.size == 0) return;
  if (sums.size == values.size) {
    scan(context, values.data, sums.data, sums.size, workspace);
  } else {
    const auto padded = thrust::make_transform_iterator(
        thrust::make_counting_iterator(std::int64_t{0}), PaddedValue<T>{values.data, values.size});
    scan(context, padded, sums.data, sums.size, workspace);
  }
}

template void exclusive_scan_cuda(const Context&, View<const std::int32_t>, View<std::int32_t>,
                                  Workspace&);
template void exclusive_scan_cuda(const Context&, View<const std::uint32_t>, View<std::uint32_t>,
                                  Workspace&);
template void exclusive_scan_cuda(const Context&, View<const std::int64_t>, View<std::int64_t>,
                                  Workspace&);

}  // namespace sextant::detail
