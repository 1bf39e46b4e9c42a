// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/segment_run.h"

namespace sextant::detail {

void segment_cuda(const Context& context, const PixelSurface& job, ImageView<std::int32_t> labels,
                  View<SurfaceRegion> regions, View<std::int32_t> count) {
  Buffer<PixelPitch> pitch(context, 1);
  transform_reduce(context, job.size(), PixelPitchAt{job.points, job.width, job.height}, Add{},
                   PixelPitch{}, pitch.view());
  PixelSurface surface = job;
  surface.pitch = pitch.data();
  const SegmentOptions& options = job.options;
  run_segmentation(context, surface, options.min_points, options.attach_px,
                   double{options.merge_angle_rad}, labels, regions, count);
}

void segment_cuda(const Context& context, const CloudSurface& surface, View<std::int32_t> labels,
                  View<SurfaceRegion> regions, View<std::int32_t> count) {
  const CloudSegmentOptions& options = surface.options;
  const int width = static_cast<int>(labels.size);
  run_segmentation(
      context, surface, options.min_points, options.attach_rounds, double{options.merge_angle_rad},
      ImageView<std::int32_t>{labels.data, width, 1, width, labels.device}, regions, count);
}

}  // namespace sextant::detail
