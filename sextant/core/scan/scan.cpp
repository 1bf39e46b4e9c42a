// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/scan/cuda.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"

namespace sextant {

namespace {

constexpr std::int64_t kTile = 16384;  // fits the first-level cache

template <class T>
void scan_cpu(const Context& context, View<const T> values, View<T> sums, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t tiles = (values.size + kTile - 1) / kTile;
  const View<T> offset = workspace.take<T>(context, tiles + 1);
  offset[0] = T(0);
  for_each_chunk(context, values.size, kTile, [&](std::int64_t begin, std::int64_t end) {
    T total(0);
    for (std::int64_t i = begin; i < end; ++i) total = static_cast<T>(total + values[i]);
    offset[begin / kTile + 1] = total;
  });
  for (std::int64_t tile = 1; tile <= tiles; ++tile) {
    offset[tile] = static_cast<T>(offset[tile] + offset[tile - 1]);
  }
  for_each_chunk(context, values.size, kTile, [&](std::int64_t begin, std::int64_t end) {
    T total = offset[begin / kTile];
    for (std::int64_t i = begin; i < end; ++i) {
      const T value = values[i];  // read before the write: the scan may be in place
      sums[i] = total;
      total = static_cast<T>(total + value);
    }
  });
  if (sums.size > values.size) sums[values.size] = offset[tiles];
}

}  // namespace

template <class T>
void exclusive_scan(const Context& context, View<const T> values, View<T> sums,
                    Workspace& workspace) {
  require_on(context, values, "values");
  require_on(context, sums, "sums");
  require(sums.size == values.size || sums.size == values.size + 1, "sums: room for ", sums.size,
          " elements; ", values.size, " or one more are needed");
  detail::on_device(
      context, [&] { detail::exclusive_scan_cuda(context, values, sums, workspace); },
      [&] { scan_cpu(context, values, sums, workspace); });
}

template void exclusive_scan(const Context&, View<const std::int32_t>, View<std::int32_t>,
                             Workspace&);
template void exclusive_scan(const Context&, View<const std::uint32_t>, View<std::uint32_t>,
                             Workspace&);
template void exclusive_scan(const Context&, View<const std::int64_t>, View<std::int64_t>,
                             Workspace&);

}  // namespace sextant
