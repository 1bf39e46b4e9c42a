// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sextant/descriptor/sift/math.h"
#include "sextant/descriptor/sift/scale_space.h"

namespace sextant::detail::sift {

Kernel gaussian_kernel(double sigma) {
  Kernel kernel;
  kernel.radius = std::clamp(static_cast<int>(std::lround(4 * sigma)), 1, kMostRadius);
  double weight[kMostRadius + 1];
  double sum = 0;
  for (int i = 0; i <= kernel.radius; ++i) {
    weight[i] = std::exp(-0.5 * i * i / (sigma * sigma));
    sum += i == 0 ? weight[i] : 2 * weight[i];
  }
  for (int i = 0; i <= kernel.radius; ++i) kernel.weight[i] = static_cast<float>(weight[i] / sum);
  return kernel;
}

DoublingKernel doubling_kernel(const Kernel& blur) {
  // Pixel 2i of the doubled image lies 1/4 to the left of pixel i, pixel 2i + 1 as far to its
  // right.
  double weight[2 * kMostRadius + 1] = {};
  DoublingKernel kernel;
  kernel.radius = (blur.radius + 1) / 2 + 1;
  for (int k = -blur.radius; k <= blur.radius; ++k) {
    const int pixel = k >> 1;
    const int other = k & 1 ? pixel + 1 : pixel - 1;
    weight[pixel + kernel.radius] += 0.75 * blur.weight[std::abs(k)];
    weight[other + kernel.radius] += 0.25 * blur.weight[std::abs(k)];
  }
  for (int i = 0; i <= 2 * kernel.radius; ++i) kernel.weight[i] = static_cast<float>(weight[i]);
  return kernel;
}

std::int64_t stride_for(int width) { return (std::int64_t{width} + 15) / 16 * 16 + 16; }

ScalePlan make_scale_plan(int width, int height, const SiftOptions& options) {
  ScalePlan plan;
  plan.layers = options.layers;
  plan.doubled = options.doubled;
  plan.width = options.doubled ? 2 * width : width;
  plan.height = options.doubled ? 2 * height : height;
  plan.sigma = options.sigma_px;
  const int most = options.octaves > 0 ? options.octaves : 32;
  const auto has_inside = [](int side) { return side > 2 * kBorder; };
  while (plan.octaves < most && has_inside(plan.width_of(plan.octaves)) &&
         has_inside(plan.height_of(plan.octaves))) {
    ++plan.octaves;
  }
  const double before = options.doubled ? 2 * options.image_sigma_px : options.image_sigma_px;
  const double least_sq = 0.01;  // an image that is blurred already is hardly blurred again
  plan.base =
      gaussian_kernel(std::sqrt(std::max(plan.sigma * plan.sigma - before * before, least_sq)));
  plan.doubling = doubling_kernel(plan.base);
  const double ratio = std::exp2(1.0 / plan.layers);
  for (int s = 0; s < plan.layers + 2; ++s) {
    const double at = plan.sigma * std::pow(ratio, s);
    plan.step[s] = gaussian_kernel(at * std::sqrt(ratio * ratio - 1));
  }
  const double widest = plan.sigma * std::exp2((plan.layers + 0.5) / plan.layers);
  plan.reach = kMostWandering + 2 +
               std::max(descriptor_radius(static_cast<float>(widest)),
                        angle_radius(static_cast<float>(widest)));
  return plan;
}

SlabRows rows_for(const ScalePlan& plan, int octave, RowRange core) {
  const int height = plan.height_of(octave);
  const auto around = [&](RowRange range, int margin) {
    return RowRange{std::max(range.first - margin, 0), std::min(range.end + margin, height)};
  };
  SlabRows slab;
  slab.core = core;
  const int last = plan.scales() - 1;
  for (int s = 0; s <= last; ++s) {
    const bool described = s >= 1 && s <= plan.layers;
    slab.scale[s] = around(core, described ? plan.reach : kMostWandering + 1);
  }
  for (int s = last - 1; s >= 0; --s) {
    const RowRange next = around(slab.scale[s + 1], plan.step[s].radius);
    slab.scale[s] = {std::min(slab.scale[s].first, next.first),
                     std::max(slab.scale[s].end, next.end)};
  }
  return slab;
}

int core_rows(const ScalePlan& plan, int octave) {
  const int height = plan.height_of(octave);
  const std::int64_t width = plan.width_of(octave);
  if (width * height <= plan.slab_pixels) return height;
  const SlabRows slab = rows_for(plan, octave, {height / 2, height / 2 + 1});
  const std::int64_t margins = slab.scale[0].size() - 1;
  constexpr std::int64_t kLeast = 64;  // else the margins would be most of the work
  const std::int64_t rows = std::max(plan.slab_pixels / width - margins, kLeast);
  return static_cast<int>(std::min<std::int64_t>(rows / 2 * 2, height));
}

}  // namespace sextant::detail::sift
