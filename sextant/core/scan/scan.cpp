// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/scan.h"

#include "sextant/core/build_config.h"
#include "sextant/core/for_each.h"

namespace sextant {

namespace {

constexpr std::int64_t kTile = 16384;  // fits the first-level cache

template <class T>
void scan_cpu(const Context& context, View<const T> values, View<T> sums) {
  const std::int64_t tiles = (values.size + kTile - 1) / kTile;
  std::vector<T> offset(static_cast<std::size_t>(tiles) + 1, T(0));
  for_each_chunk(context, values.size, kTile, [&](std::int64_t begin, std::int64_t end) {
    T total(0);
    for (std::int64_t i = begin; i < end; ++i) total = static_cast<T>(total + values[i]);
    offset[static_cast<std::size_t>(begin / kTile) + 1] = total;
  });
  for (std::size_t tile = 1; tile < offset.size(); ++tile) {
    offset[tile] = static_cast<T>(offset[tile] + offset[tile - 1]);
  }
  for_each_chunk(context, values.size, kTile, [&](std::int64_t begin, std::int64_t end) {
    T total = offset[static_cast<std::size_t>(begin / kTile)];
    for (std::int64_t i = begin; i < end; ++i) {
      const T value = values[i];  // read before the write: the scan may be in place
      sums[i] = total;
      total = static_cast<T>(total + value);
    }
  });
  if (sums.size > values.size) sums[values.size] = offset.back();
}

}  // namespace

template <class T>
void exclusive_scan(const Context& context, View<const T> values, View<T> sums) {
  require_on(context, values, "values");
  require_on(context, sums, "sums");
  require(sums.size == values.size || sums.size == values.size + 1, "sums: room for ", sums.size,
          " elements; ", values.size, " or one more are needed");
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) return detail::exclusive_scan_cuda(context, values, sums);
  }
  scan_cpu(context, values, sums);
}

template void exclusive_scan(const Context&, View<const std::int32_t>, View<std::int32_t>);
template void exclusive_scan(const Context&, View<const std::uint32_t>, View<std::uint32_t>);
template void exclusive_scan(const Context&, View<const std::int64_t>, View<std::int64_t>);

}  // namespace sextant
