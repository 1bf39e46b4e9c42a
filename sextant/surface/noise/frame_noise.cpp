// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/noise/frame_noise.h"

#include "sextant/core/for_each/anywhere.h"

namespace sextant::detail::noise {

const FrameNoise* estimate_frame_noise(const Context& context, ImageView<const Vec3f> points,
                                       const GivenNoise& given, Workspace& workspace) {
  FrameNoiseState s;
  s.points = points;
  s.columns = points.width / kCellPx;
  s.rows = points.height / kCellPx;
  const std::int64_t cells = std::int64_t{s.columns} * s.rows;
  s.result = workspace.take<FrameNoise>(context, 1).data;
  s.quantiles = workspace.take<NoiseQuantiles>(context, 1).data;
  s.cells = workspace.take<NoiseCell>(context, cells).data;
  constexpr std::int64_t kCounts = sizeof(NoiseCounts) / sizeof(std::int32_t);
  const View<std::int32_t> counts = workspace.take<std::int32_t>(context, kCounts);
  s.counts = reinterpret_cast<NoiseCounts*>(counts.data);
  for_each_anywhere(context, kCounts, ClearCounts{counts.data});
  if (!(given.sigma_per_m > 0.0f)) {
    const MeasureNarrow narrow = MeasureNarrow::of(s);
    const MeasureWide wide = MeasureWide::of(s);
    for_each_anywhere(context, cells, MeasureCell{s});
    for_each_anywhere(context, narrow.windows(), narrow);
    for_each_anywhere(context, wide.windows(), wide);
  }
  for_each_anywhere(context, kDepthBins + 1, FindQuantiles{s});
  for_each_anywhere(context, kDepthBins, FinishLevels{s, given});
  return s.result;
}

}  // namespace sextant::detail::noise
