// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/segment_run.h"

namespace sextant::detail::segmentation {

void segment_cuda(const Context& context, const PixelSurface& surface,
                  ImageView<std::int32_t> labels, View<SurfaceRegion> regions,
                  View<std::int32_t> count) {
  run_segmentation(context, surface, labels, regions, count);
}

void segment_cuda(const Context& context, const CloudSurface& surface, View<std::int32_t> labels,
                  View<SurfaceRegion> regions, View<std::int32_t> count) {
  run_segmentation(context, surface, labels, regions, count);
}

}  // namespace sextant::detail::segmentation
