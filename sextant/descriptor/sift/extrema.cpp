// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/sift/extrema.h"

#include <algorithm>
#include <bit>
#include <span>

#include "sextant/core/for_each.h"
#include "sextant/core/simd/lanes_math.h"
#include "sextant/descriptor/sift/math.h"

namespace sextant::detail::sift {

namespace {

constexpr int kBandWidth = 512;  ///< of three rows of differences in the nearest cache
constexpr int kBandHeight = 32;
constexpr int kWord = 16;  ///< pixels of a word of flags

/// Flags the pixels of some rows that are no less, or no more, than their 26 neighbours.
struct FlagExtrema {
  const Octave& octave;
  int layers;
  float least;  ///< smaller differences are left out
  const ExtremumFlags& flags;

  template <class Set>
  void operator()(Set, int first_column, RowRange rows) const {
    using Pack = FloatLanes<kWord, Set>;
    alignas(64) float ring[3][kMostLayers + 2][kStride];
    for (int v = rows.first - 1; v <= rows.end; ++v) {
      subtract<Pack>(first_column, v, ring[(v + 1) % 3]);
      if (v <= rows.first) continue;
      const Differences near{ring[(v - 1) % 3], ring[v % 3], ring[(v + 1) % 3]};
      for (int layer = 1; layer <= layers; ++layer) flag<Pack>(near, layer, first_column, v - 1);
    }
  }

 private:
  static constexpr int kMargin = 16;
  static constexpr int kStride = kBandWidth + 2 * kMargin;
  using DifferenceRow = const float (*)[kStride];
  struct Differences {
    DifferenceRow above, at, below;  ///< rows, by layer
  };

  template <class Pack>
  void subtract(int first_column, int v, float (&to)[kMostLayers + 2][kStride]) const {
    const int end = std::min(kBandWidth, octave.scale[0].width - first_column);
    const int first = first_column == 0 ? 0 : -kMargin;
    const int last = end < kBandWidth ? end : kBandWidth + kMargin;
    for (int s = 0; s < layers + 2; ++s) {
      const float* fine = octave.scale[s].row(v) + first_column;
      const float* coarse = octave.scale[s + 1].row(v) + first_column;
      for (int u = first; u < last; u += kWord) {
        (Pack::load(coarse + u) - Pack::load(fine + u)).store(to[s] + kMargin + u);
      }
    }
  }

  template <class Pack>
  void flag(const Differences& near, int layer, int first_column, int v) const {
    const int width = octave.scale[0].width;
    const int end = std::min(kBandWidth, width - first_column);
    std::uint16_t* words = flags.row(layer, v) + first_column / kWord;
    for (int u = 0; u < end; u += kWord) {
      std::uint32_t found = 0;
      if (first_column + u + kWord > kBorder && first_column + u < width - kBorder) {
        found = extrema<Pack>(near, layer, kMargin + u) & inside(first_column + u, width);
      }
      words[u / kWord] = static_cast<std::uint16_t>(found);
    }
  }

  /// The pixels of a word that are not on the border.
  static std::uint32_t inside(int column, int width) {
    std::uint32_t all = 0xffff;
    if (column < kBorder) all &= 0xffffu << (kBorder - column);
    const int left = width - kBorder - column;
    if (left < kWord) all &= (1u << left) - 1;
    return all;
  }

  /// First those of the same row, which leave little to compare with the others.
  template <class Pack>
  std::uint32_t extrema(const Differences& near, int layer, int u) const {
    using Math = LaneMath<Pack>;
    const float* at = near.at[layer] + u;
    const Pack value = Pack::load(at);
    const float* above = near.above[layer] + u;
    const float* below = near.below[layer] + u;
    const Pack left = Pack::load(at - 1), right = Pack::load(at + 1);
    const Pack up = Pack::load(above), down = Pack::load(below);
    Pack low = Math::smaller(Math::smaller(left, right), Math::smaller(up, down));
    Pack high = Math::larger(Math::larger(left, right), Math::larger(up, down));
    const auto is_extremum = [&] {
      return ((value > Pack(least)) & (value >= high)) | ((value < Pack(-least)) & (value <= low));
    };
    const auto compare = [&](const float* row) {
      const Pack a = Pack::load(row - 1), b = Pack::load(row), c = Pack::load(row + 1);
      low = Math::smaller(Math::smaller(low, a), Math::smaller(b, c));
      high = Math::larger(Math::larger(high, a), Math::larger(b, c));
    };
    if (!is_extremum().any()) return 0;
    compare(above);
    compare(below);
    for (const int other : {layer - 1, layer + 1}) {
      compare(near.at[other] + u);
      compare(near.above[other] + u);
      compare(near.below[other] + u);
      if (!is_extremum().any()) return 0;
    }
    return is_extremum().bits();
  }
};

/// A flagged pixel.
struct Candidate {
  std::int32_t layer, row, column;
};

/// All flagged pixels, by layer, row and column.
View<Candidate> list_candidates(const Context& context, const ExtremumFlags& flags, int layers,
                                Workspace& workspace) {
  const RowRange range = flags.rows();
  const std::int64_t rows = std::int64_t{layers} * range.size();
  const auto words_of = [&](std::int64_t i) {
    return std::span<const std::uint16_t>(flags.row(1, range.first) + i * flags.row_words(),
                                          static_cast<std::size_t>(flags.row_words()));
  };
  View<std::int32_t> first = workspace.take<std::int32_t>(context, rows + 1);
  for_each_chunk(context, rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      int count = 0;
      for (const std::uint16_t word : words_of(i)) count += std::popcount(word);
      first[i] = count;
    }
  });
  std::int32_t total = 0;
  for (std::int64_t i = 0; i <= rows; ++i) {
    const std::int32_t count = i < rows ? first[i] : 0;
    first[i] = total;
    total += count;
  }
  View<Candidate> candidates = workspace.take<Candidate>(context, total);
  for_each_chunk(context, rows, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (first[i] == first[i + 1]) continue;
      Candidate* to = candidates.data + first[i];
      std::int32_t column = 0;
      for (const std::uint16_t word : words_of(i)) {
        for (unsigned left = word; left != 0; left &= left - 1) {
          *to++ = {static_cast<std::int32_t>(i / range.size()) + 1,
                   range.first + static_cast<std::int32_t>(i % range.size()),
                   column + std::countr_zero(left)};
        }
        column += kWord;
      }
    }
  });
  return candidates;
}

}  // namespace

ExtremumFlags::ExtremumFlags(const Context& context, std::int64_t core_pixels, int layers,
                             Workspace& workspace)
    // Rows are filled up to whole words; the shortest that have flags are 11 pixels long.
    : words_(workspace.take<std::uint16_t>(context, layers * (core_pixels / 8 + 1))) {}

void ExtremumFlags::begin(const Octave& octave) {
  const RowRange core = octave.slab.core;
  rows_.first = std::max(core.first, kBorder);
  rows_.end = std::max(std::min(core.end, octave.scale[0].height - kBorder), rows_.first);
  row_words_ = (octave.scale[0].width + kWord - 1) / kWord;
}

void ExtremumFlags::set(const Context& context, const Octave& octave, const ExtremumLimits& limits,
                        RowRange rows) {
  rows = {std::max(rows.first, rows_.first), std::min(rows.end, rows_.end)};
  if (rows.size() <= 0) return;
  const FlagExtrema job{octave, limits.layers, least_difference(limits), *this};
  const std::int64_t columns = (octave.scale[0].width + kBandWidth - 1) / kBandWidth;
  const std::int64_t bands = (rows.size() + kBandHeight - 1) / kBandHeight;
  for_each_chunk(context, columns * bands, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const int first = rows.first + static_cast<int>(i / columns) * kBandHeight;
      run_widest(job, static_cast<int>(i % columns) * kBandWidth,
                 RowRange{first, std::min(first + kBandHeight, rows.end)});
    }
  });
}

View<Extremum> find_extrema(const Context& context, const ScalePlan& plan, const Octave& octave,
                            const ExtremumLimits& limits, const ExtremumFlags& flags,
                            const ImageView<const std::uint8_t>& mask, Workspace& workspace) {
  const View<Candidate> candidates = list_candidates(context, flags, limits.layers, workspace);
  View<Extremum> extrema = workspace.take<Extremum>(context, candidates.size);
  for_each_chunk(context, candidates.size, 64, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Candidate& from = candidates[i];
      Extremum found = refine(octave, limits, from.layer, from.row, from.column);
      if (found.layer > 0 && !is_wanted(mask, plan.doubled, octave.number, found)) found.layer = 0;
      extrema[i] = found;
    }
  });
  // Two candidates may have moved to the same extremum, and past each other.
  Extremum* end = std::remove_if(extrema.begin(), extrema.end(),
                                 [](const Extremum& e) { return e.layer == 0; });
  std::sort(extrema.begin(), end, comes_before);
  end = std::unique(extrema.begin(), end, [](const Extremum& a, const Extremum& b) {
    return !comes_before(a, b) && !comes_before(b, a);
  });
  return extrema.subview(0, end - extrema.begin());
}

}  // namespace sextant::detail::sift
