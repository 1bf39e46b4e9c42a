// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/sensor_noise.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/for_each/anywhere.h"
#include "sextant/synth/sensor_noise/filtered_noise.h"
#include "sextant/synth/sensor_noise/math.h"

namespace sextant {

using namespace detail::sensor_noise;

namespace {

Taps normalized(const std::vector<double>& weights) {
  double square = 0;
  for (const double w : weights) square += w * w;
  Taps taps;
  taps.count = static_cast<int>(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    taps.weight[i] = static_cast<float>(weights[i] / std::sqrt(square));
  }
  return taps;
}

Taps taps_of(NoiseKernel kernel, float size_px) {
  if (kernel == NoiseKernel::kBox) {
    return normalized(std::vector<double>(std::max(1L, std::lround(size_px)), 1.0));
  }
  const double sigma = size_px;
  const int radius = static_cast<int>(std::ceil(3 * sigma));
  std::vector<double> weights;
  for (int i = -radius; i <= radius; ++i) weights.push_back(std::exp(-i * i / (2 * sigma * sigma)));
  return normalized(weights);
}

ImageView<float> take_image(const Context& context, Workspace& workspace, int width, int height) {
  const View<float> memory = workspace.take<float>(context, std::int64_t{width} * height);
  return {memory.data, width, height, width, context.device()};
}

/// White noise that reaches beyond the picture by the kernel, filtered along rows, then columns.
void fill_with_noise(const Context& context, const Taps& along_x, const Taps& along_y,
                     std::uint64_t seed, Draw stream, ImageView<float> out, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const int height = out.height + along_y.count - 1;
  const ImageView<float> white =
      take_image(context, workspace, out.width + along_x.count - 1, height);
  const ImageView<float> rows = take_image(context, workspace, out.width, height);
  const int runs = FilterRun::runs(out.width);
  detail::for_each_pixel_anywhere(context, white.width, height, WhiteNoise{white, seed, stream});
  detail::for_each_pixel_anywhere(context, runs, height, FilterRun{white, rows, 1, along_x});
  detail::for_each_pixel_anywhere(context, runs, out.height,
                                  FilterRun{rows, out, rows.stride, along_y});
}

}  // namespace

void add_sensor_noise_into(const Context& context, ImageView<const float> depth_m,
                           ImageView<const Vec3f> normals, const Camera& camera,
                           const SensorNoiseOptions& options, std::uint64_t seed,
                           ImageView<float> noisy_m, Workspace& workspace) {
  check_options(options);
  check_camera(camera);
  require(options.grazing_start_rad <= options.grazing_end_rad,
          "grazing_start_rad: ", options.grazing_start_rad,
          " is above grazing_end_rad = ", options.grazing_end_rad);
  require_same_size(context, depth_m, camera, "depth_m", "camera");
  require_same_size(context, noisy_m, camera, "noisy_m", "camera");
  if (!normals.empty()) require_same_size(context, normals, camera, "normals", "camera");
  require(depth_m.data != noisy_m.data, "noisy_m: is depth_m; neighbours are still read from it");
  const int width = depth_m.width, height = depth_m.height;
  const Workspace::Scope scope(workspace);
  NoisyPixel pixel{depth_m, normals, {}, {}, {}, noisy_m, cast<float>(camera), options};
  pixel.cos_start = static_cast<float>(std::cos(static_cast<double>(options.grazing_start_rad)));
  pixel.cos_end = static_cast<float>(std::cos(static_cast<double>(options.grazing_end_rad)));
  pixel.seed = seed;
  const ImageView<std::uint8_t> edges{workspace.take<std::uint8_t>(context, depth_m.pixels()).data,
                                      width, height, width, context.device()};
  EdgePixel edge{depth_m, edges, options.edge_step};
  if (options.shadow) {
    constexpr float kNearestShadow_m = 0.1f;  // nearer things throw shadows that are cut
    edge.scale_m_px = options.baseline_m * static_cast<float>(camera.fx_px);
    edge.most_shift_px = static_cast<int>(
        std::min(edge.scale_m_px / std::max(options.min_depth_m, kNearestShadow_m), 1e6f));
  }
  detail::for_each_pixel_anywhere(context, width, height, edge);
  pixel.edges = edges;
  if (options.sigma_per_m > 0 || options.sigma_relative > 0) {
    const ImageView<float> field = take_image(context, workspace, width, height);
    fill_with_noise(context, taps_of(options.kernel, options.kernel_x_px),
                    taps_of(options.kernel, options.kernel_y_px), seed, kCorrelated, field,
                    workspace);
    pixel.correlated = field;
  }
  if (options.warp_per_m > 0) {
    const ImageView<float> field = take_image(context, workspace, width, height);
    const Taps taps = taps_of(NoiseKernel::kGaussian, options.warp_px);
    fill_with_noise(context, taps, taps, seed, kWarp, field, workspace);
    pixel.warp = field;
  }
  detail::for_each_pixel_anywhere(context, width, height, pixel);
}

Image<float> add_sensor_noise(const Context& context, ImageView<const float> depth_m,
                              ImageView<const Vec3f> normals, const Camera& camera,
                              const SensorNoiseOptions& options, std::uint64_t seed) {
  Image<float> noisy_m(context, depth_m.width, depth_m.height);
  Workspace workspace;
  add_sensor_noise_into(context, depth_m, normals, camera, options, seed, noisy_m, workspace);
  return noisy_m;
}

}  // namespace sextant
