// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/core/simd/interleave.h"
#include "sextant/core/simd/lanes_math.h"
#include "sextant/descriptor/sift/mirror.h"
#include "sextant/descriptor/sift/scale_space.h"

// Blurring is separable. A task takes a tile, so that the rows around it stay in the nearest cache:
// some rows are first summed up over the rows around them, into lines as long as the tile and its
// margin, and then along these lines.

namespace sextant::detail::sift {

namespace {

constexpr int kTileWidth = 256;
constexpr int kTileHeight = 64;
constexpr int kAtOnce = 4;  ///< rows summed up together, and packs along a line
/// Room before the first pixel of a line, a whole number of registers.
constexpr int kMargin = (kMostRadius + 15) / 16 * 16;
constexpr int kLine = kTileWidth + 2 * kMargin + 64;

struct Tile {
  int u, v, width, height;
};

template <class Mirror>
void extend_line(int u, int width, int radius, int image_width, const Mirror& mirror, float* line) {
  if (u < radius) {
    for (int i = u - radius; i < 0; ++i) line[i - u] = line[mirror(i, image_width) - u];
  }
  for (int i = image_width; i < u + width + radius; ++i) {
    line[i - u] = line[mirror(i, image_width) - u];
  }
}

/// Calls task(tile) for the tiles of some rows on the context's threads.
template <class Task>
void for_each_tile(const Context& context, int width, RowRange rows, const Task& task) {
  const std::int64_t columns = (width + kTileWidth - 1) / kTileWidth;
  const std::int64_t bands = (rows.size() + kTileHeight - 1) / kTileHeight;
  for_each_chunk(context, columns * bands, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) {
      const int u = static_cast<int>(index % columns) * kTileWidth;
      const int v = rows.first + static_cast<int>(index / columns) * kTileHeight;
      task(Tile{u, v, std::min(kTileWidth, width - u), std::min(kTileHeight, rows.end - v)});
    }
  });
}

struct BlurTile {
  const Kernel& kernel;
  const Rows& from;
  const Rows& to;

  template <class Set>
  void operator()(Set, const Tile& tile) const {
    using Pack = FloatLanes<Set::kFloats, Set>;
    alignas(64) float lines[kAtOnce][kLine];
    const int end = tile.v + tile.height;
    int v = tile.v;
    for (; v + kAtOnce <= end; v += kAtOnce) blur<kAtOnce, Pack>(tile, v, lines);
    for (; v < end; ++v) blur<1, Pack>(tile, v, lines);
  }

 private:
  template <int kRows, class Pack>
  void blur(const Tile& tile, int v, float (&lines)[kAtOnce][kLine]) const {
    sum_rows<kRows, Pack>(tile, v, lines);
    for (int i = 0; i < kRows; ++i) {
      float* line = lines[i] + kMargin;
      extend_line(tile.u, tile.width, kernel.radius, from.width, mirrored, line);
      sum_line<Pack>(line, tile.width, to.row(v + i) + tile.u);
    }
  }

  /// Over the rows around; pairs of rows at the same distance have the same weight.
  template <int kRows, class Pack>
  void sum_rows(const Tile& tile, int v, float (&lines)[kAtOnce][kLine]) const {
    const int radius = kernel.radius;
    const float* rows[2 * kMostRadius + kRows];
    for (int i = 0; i < 2 * radius + kRows; ++i) {
      rows[i] = from.row(mirrored(v - radius + i, from.height)) + tile.u;
    }
    const float* const* middle = rows + radius;
    const int first = -std::min((radius + 15) / 16 * 16, tile.u);
    const int end = std::min(tile.width + radius, from.width - tile.u);
    for (int u = first; u < end; u += Pack::kCount) {
      Pack sum[kRows];
      const Pack center(kernel.weight[0]);
      SEXTANT_UNROLL
      for (int i = 0; i < kRows; ++i) sum[i] = center * Pack::load(middle[i] + u);
      for (int k = 1; k <= radius; ++k) {
        const Pack weight(kernel.weight[k]);
        SEXTANT_UNROLL
        for (int i = 0; i < kRows; ++i) {
          sum[i] = LaneMath<Pack>::multiply_add(
              weight, Pack::load(middle[i - k] + u) + Pack::load(middle[i + k] + u), sum[i]);
        }
      }
      SEXTANT_UNROLL
      for (int i = 0; i < kRows; ++i) sum[i].store(lines[i] + kMargin + u);
    }
  }

  template <class Pack>
  void sum_line(const float* line, int width, float* result) const {
    int u = 0;
    for (; u + kAtOnce * Pack::kCount <= width; u += kAtOnce * Pack::kCount) {
      sum_packs<kAtOnce, Pack>(line + u, result + u);
    }
    for (; u < width; u += Pack::kCount) sum_packs<1, Pack>(line + u, result + u);
  }
  template <int kPacks, class Pack>
  void sum_packs(const float* line, float* result) const {
    Pack sum[kPacks];
    const Pack center(kernel.weight[0]);
    SEXTANT_UNROLL
    for (int i = 0; i < kPacks; ++i) sum[i] = center * Pack::load(line + i * Pack::kCount);
    for (int k = 1; k <= kernel.radius; ++k) {
      const Pack weight(kernel.weight[k]);
      SEXTANT_UNROLL
      for (int i = 0; i < kPacks; ++i) {
        const float* at = line + i * Pack::kCount;
        sum[i] =
            LaneMath<Pack>::multiply_add(weight, Pack::load(at - k) + Pack::load(at + k), sum[i]);
      }
    }
    SEXTANT_UNROLL
    for (int i = 0; i < kPacks; ++i) sum[i].store(result + i * Pack::kCount);
  }
};

/// Tiles are those of the image that is doubled.
struct DoubleTile {
  const DoublingKernel& kernel;
  const Rows& from;
  const Rows& to;
  RowRange range;  ///< of the result

  template <class Set>
  void operator()(Set, const Tile& tile) const {
    using Pack = FloatLanes<Set::kFloats, Set>;
    alignas(64) float lines[2][kLine];
    for (int v = tile.v; v < tile.v + tile.height; ++v) {
      sum_rows<Pack>(tile, v, lines);
      for (int odd = 0; odd < 2; ++odd) {
        const int row = 2 * v + odd;
        if (row < range.first || row >= range.end) continue;
        float* line = lines[odd] + kMargin;
        extend_line(tile.u, tile.width, kernel.radius, from.width, mirrored_at_edge, line);
        sum_line<Pack>(line, tile.width, to.row(row) + 2 * tile.u);
      }
    }
  }

 private:
  template <class Pack>
  void sum_rows(const Tile& tile, int v, float (&lines)[2][kLine]) const {
    const int radius = kernel.radius;
    const float* rows[2 * kMostRadius + 1];
    for (int i = 0; i <= 2 * radius; ++i) {
      rows[i] = from.row(mirrored_at_edge(v - radius + i, from.height)) + tile.u;
    }
    const int first = -std::min((radius + 15) / 16 * 16, tile.u);
    const int end = std::min(tile.width + radius, from.width - tile.u);
    for (int u = first; u < end; u += Pack::kCount) {
      Pack even, odd;
      for (int i = 0; i <= 2 * radius; ++i) {
        const Pack value = Pack::load(rows[i] + u);
        even = LaneMath<Pack>::multiply_add(Pack(kernel.weight[i]), value, even);
        odd = LaneMath<Pack>::multiply_add(Pack(kernel.weight[2 * radius - i]), value, odd);
      }
      even.store(lines[0] + kMargin + u);
      odd.store(lines[1] + kMargin + u);
    }
  }

  template <class Pack>
  void sum_line(const float* line, int width, float* result) const {
    const int radius = kernel.radius;
    for (int u = 0; u < width; u += Pack::kCount) {
      Pack even, odd;
      for (int i = 0; i <= 2 * radius; ++i) {
        const Pack value = Pack::load(line + u + i - radius);
        even = LaneMath<Pack>::multiply_add(Pack(kernel.weight[i]), value, even);
        odd = LaneMath<Pack>::multiply_add(Pack(kernel.weight[2 * radius - i]), value, odd);
      }
      store_interleaved(even, odd, result + 2 * u);
    }
  }
};

struct HalveRow {
  template <class Set>
  void operator()(Set, const float* from, float* to, int count) const {
    using Pack = FloatLanes<Set::kFloats, Set>;
    int u = 0;
    for (; u + Pack::kCount <= count; u += Pack::kCount) {
      load_every_other<Pack>(from + 2 * u).store(to + u);
    }
    for (; u < count; ++u) to[u] = from[2 * u];
  }
};

}  // namespace

void blur_rows(const Context& context, const Kernel& kernel, const Rows& from, const Rows& to,
               RowRange range) {
  const BlurTile job{kernel, from, to};
  for_each_tile(context, from.width, range, [&](const Tile& tile) { run_widest(job, tile); });
}

void double_rows(const Context& context, const DoublingKernel& kernel, const Rows& from,
                 const Rows& to, RowRange range) {
  const DoubleTile job{kernel, from, to, range};
  for_each_tile(context, from.width, {range.first / 2, (range.end + 1) / 2},
                [&](const Tile& tile) { run_widest(job, tile); });
}

void halve_rows(const Context& context, const Rows& from, const Rows& to, RowRange range) {
  for_each_chunk(context, range.size(), 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const int v = range.first + static_cast<int>(i);
      run_widest(HalveRow{}, from.row(2 * v), to.row(v), to.width);
    }
  });
}

}  // namespace sextant::detail::sift
