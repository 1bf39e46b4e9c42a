// SPDX-License-Identifier: Apache-2.0
#include "sextant/depth/bilateral.h"

#include <algorithm>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/depth/bilateral/math.h"
#include "sextant/depth/bilateral/tile.h"

namespace sextant {

using namespace detail::bilateral;

namespace {

void filter_on_cpu(const Context& context, const ImageView<const float>& depth_m,
                   const BilateralWeights& weights, const ImageView<float>& filtered_m) {
  const BilateralWindow window = bilateral_window(weights);
  const BilateralTileFilter filter{weights, window, depth_m, filtered_m};
  const std::int64_t columns = (depth_m.width + kBilateralTileWidth - 1) / kBilateralTileWidth;
  const std::int64_t rows = (depth_m.height + kBilateralTileHeight - 1) / kBilateralTileHeight;
  for_each_chunk(context, columns * rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) {
      const int u = static_cast<int>(index % columns) * kBilateralTileWidth;
      const int v = static_cast<int>(index / columns) * kBilateralTileHeight;
      const BilateralTile tile{u, v, std::min(kBilateralTileWidth, depth_m.width - u),
                               std::min(kBilateralTileHeight, depth_m.height - v)};
      detail::run_widest(filter, tile);
    }
  });
}

}  // namespace

void bilateral_filter_into(const Context& context, ImageView<const float> depth_m,
                           const BilateralOptions& options, ImageView<float> filtered_m) {
  check_options(options);
  require_on(context, depth_m, "depth_m");
  require_same_size(context, filtered_m, depth_m, "filtered_m", "depth_m");
  if (depth_m.empty()) return;
  require(filtered_m.data != depth_m.data,
          "filtered_m: is the input itself; the filter needs another image");
  const BilateralWeights weights = bilateral_weights(options);
  detail::on_device(
      context, [&] { bilateral_filter_cuda(context, depth_m, weights, filtered_m); },
      [&] { filter_on_cpu(context, depth_m, weights, filtered_m); });
}

Image<float> bilateral_filter(const Context& context, ImageView<const float> depth_m,
                              const BilateralOptions& options) {
  Image<float> filtered_m(context, depth_m.width, depth_m.height);
  bilateral_filter_into(context, depth_m, options, filtered_m);
  return filtered_m;
}

}  // namespace sextant
