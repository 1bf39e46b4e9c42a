// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/match/tensors/blocks_math.h"

namespace sextant::detail::tensors {

namespace {

void arrange_tensor(const tensor::TensorSource& from, const SceneTensors& to, std::int64_t t) {
  const int all = to.all_bins();
  std::uint64_t sums[2][4 * kBlockWords] = {};
  std::uint64_t norm_sq = 0;
  std::fill_n(to.areas + 2 * t * all, 2 * all, 0u);
  to.masks[2 * t] = to.masks[2 * t + 1] = TensorMask{};
  for (std::int64_t e = from.first[t]; e < from.first[t] + from.sizes[t]; ++e) {
    const std::uint32_t area = fixed_area(from.values[e]);
    const std::uint64_t square = std::uint64_t{area} * area;
    norm_sq += square;
    for (int f = 0; f < 2; ++f) {
      const int bin = f ? flipped_bin(from.indices[e], to.bins) : from.indices[e];
      to.areas[(2 * t + f) * all + bin] = area;
      to.masks[2 * t + f].words[bin / 64] |= std::uint64_t{1} << (bin % 64);
      sums[f][block_of(bin, to.bins)] += square;
    }
  }
  to.norms_sq[t] = norm_sq;
  for (int f = 0; f < 2; ++f) {
    for (int w = 0; w < kBlockWords; ++w) {
      std::uint32_t word = 0;
      for (int b = 0; b < 4; ++b) word |= share_of(sums[f][4 * w + b], norm_sq) << 8 * b;
      to.blocks[(2 * t + f) * kBlockWords + w] = word;
    }
  }
}

}  // namespace

void arrange_scene_cpu(const Context& context, const tensor::TensorSource& from,
                       const SceneTensors& to) {
  for_each_chunk(context, std::min<std::int64_t>(to.capacity, *from.count), 8,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t t = begin; t < end; ++t) arrange_tensor(from, to, t);
                 });
}

}  // namespace sextant::detail::tensors
