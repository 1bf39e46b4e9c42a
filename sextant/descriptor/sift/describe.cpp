// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/descriptor/sift/gradients.h"
#include "sextant/descriptor/sift/square_columns.h"
#include "sextant/descriptor/sift/window.h"

namespace sextant::detail::sift {

namespace {

/// The cells and those around them; as a row of pixels may begin and end a little outside these,
/// one more to the right and below. Only the inner ones are kept.
constexpr int kRing = kCells + 3;
/// A sample goes into two neighbouring cells of a row and the two below them. Neighbours lie in one
/// register: one list holds the columns 0 and 1, 2 and 3, 4 and 5, the other 1 and 2, 3 and 4, 5
/// and 6, so that what is stored is never loaded again in other portions.
constexpr int kPair = 2 * kDirections;
constexpr int kPairs = 3;  ///< of a row
constexpr int kRowNumbers = kPairs * kPair;
constexpr int kListNumbers = kRing * kRowNumbers;
/// Neighbouring samples often meet in the same cells; in copies they need not wait for each other.
constexpr int kCopies = 4;
using Cells = float[kCopies][2 * kListNumbers];

/// Where the directions of a cell begin, in one of the lists.
constexpr int number_at(int list, int row, int column) {
  const int from = column - list;
  return list * kListNumbers + row * kRowNumbers + from / 2 * kPair + from % 2 * kDirections;
}

/// Pixels are collected row by row until so many have come together.
constexpr int kSamples = 512;
static_assert(kSamples > kLongestRow + kRun + kCopies);

/// The pixels that count, each number in a list of its own.
struct Samples {
  alignas(64) std::int32_t cell[kSamples];  ///< where the first of its cells begins
  alignas(64) float direction[kSamples];    ///< in bins, from 0 to kDirections
  alignas(64) float above[kSamples];        ///< its weight for two cells of a row
  alignas(64) float below[kSamples];        ///< and for the two below them
  alignas(64) float beyond[kSamples];       ///< share of the right ones
};

struct DescribeWindow {
  const Rows& image;
  const Oriented& keypoint;

  template <class Set>
  void operator()(Set, float (&numbers)[kSiftLength]) const {
    using Pack = FloatLanes<kRun, Set>;
    const float sigma = keypoint.at.sigma;
    const int column = static_cast<int>(std::lround(keypoint.at.u));
    const int row = static_cast<int>(std::lround(keypoint.at.v));
    const int radius = descriptor_radius(sigma);
    const float cell = kCellSigmas * sigma;
    const float angle = 2.0f * std::numbers::pi_v<float> * keypoint.turns;
    const float cosine = std::cos(angle) / cell, sine = std::sin(angle) / cell;
    alignas(64) float near_u[kLongestRow + kRun], near_v[kLongestRow + kRun];
    const float center_u = keypoint.at.u, center_v = keypoint.at.v;
    const float width = 0.5f * kCells * cell;
    fill_gaussian<Pack>(radius, center_u - static_cast<float>(column), width, near_u);
    fill_gaussian<Pack>(radius, center_v - static_cast<float>(row), width, near_v);
    alignas(64) Cells cells = {};
    const SquareColumns columns(cosine, sine);
    Samples samples;
    int count = 0;
    const int first_row = std::max(row - radius, 1);
    const int end_row = std::min(row + radius + 1, image.height - 1);
    for (int v = first_row; v < end_row; ++v) {
      const float down = static_cast<float>(v) - center_v;
      const SquareColumns::Range range = columns.at(down);
      const int left = static_cast<int>(std::floor(center_u + range.first));
      const int right = static_cast<int>(std::floor(center_u + range.last));
      const int first = std::max({left, column - radius, 1});
      const int end = std::min({right + 1, column + radius + 1, image.width - 1});
      prefetch_row(image, std::min(v + kRowsAhead, end_row), first, end);
      for (int u = first; u < end; u += kRun) {
        count =
            collect<Pack>(v, u, end - u, static_cast<float>(u) - center_u, down, cosine, sine,
                          near_v[v - row + radius], near_u + (u - column + radius), samples, count);
      }
      if (count > kSamples - kLongestRow - kRun - kCopies || v + 1 == end_row) {
        add<FloatLanes<kPair, Set>>(samples, count, cells);
        count = 0;
      }
    }
    gather<FloatLanes<kDirections, Set>>(cells, numbers);
  }

 private:
  /// Appends a run of at most `most` pixels, those outside the square with no weight; returns how
  /// many there are now.
  template <class Pack>
  int collect(int v, int u, int most, float right, float down, float cosine, float sine,
              float row_weight, const float* column_weight, Samples& to, int count) const {
    using Math = LaneMath<Pack>;
    const Gradient<Pack> gradient = gradient_at<Pack>(image, v, u);
    const Pack steps = count_up<Pack>();
    const WindowPlace<Pack> place =
        place_in_window(steps + Pack(right), Pack(down), Pack(cosine), Pack(sine));
    const auto inside = (Math::magnitude(place.row) < Pack(kReach)) &
                        (Math::magnitude(place.column) < Pack(kReach));
    // Directions are counted counter-clockwise from the keypoint's.
    const Pack ahead = Pack(keypoint.turns) - gradient.turns;
    const Pack turns = Math::select(ahead < Pack(0.0f), ahead + Pack(1.0f), ahead);
    const Pack weight = Math::select(
        inside, gradient.length * Pack(row_weight) * Pack::load(column_weight), Pack(0.0f));
    const Pack row = place.row + Pack(kReach), column = place.column + Pack(kReach);
    const Pack whole_row = Math::whole(row), whole_column = Math::whole(column);
    const Pack pair = Math::whole(whole_column * Pack(0.5f));
    const Pack list = whole_column - (pair + pair);
    const Pack cell = whole_row * Pack(float{kRowNumbers}) + pair * Pack(float{kPair}) +
                      list * Pack(float{kListNumbers});
    const Pack below = weight * (row - whole_row);
    convert<std::int32_t>(cell).store(to.cell + count);
    (turns * Pack(float{kDirections})).store(to.direction + count);
    (weight - below).store(to.above + count);
    below.store(to.below + count);
    (column - whole_column).store(to.beyond + count);
    return count + std::min(kRun, most);
  }

  static void clear_samples(Samples& samples, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      samples.cell[i] = 0;
      samples.direction[i] = samples.above[i] = samples.below[i] = samples.beyond[i] = 0;
    }
  }

  /// Shares each sample among the two nearest rows and columns of cells and directions. A pack
  /// holds the directions of two cells of a row.
  template <class Pack>
  static void add(Samples& samples, int count, Cells& cells) {
    using Math = LaneMath<Pack>;
    static_assert(Pack::kCount == kPair);
    float bins[kPair], lefts[kPair], signs[kPair];
    for (int i = 0; i < kPair; ++i) {
      const bool left = i < kDirections;
      bins[i] = static_cast<float>(i % kDirections);
      lefts[i] = left ? 1.0f : 0.0f;
      signs[i] = left ? -1.0f : 1.0f;
    }
    const Pack bin = Pack::load(bins), left = Pack::load(lefts), sign = Pack::load(signs);
    clear_samples(samples, count, count + kCopies - 1);
    for (int i = 0; i < count; i += kCopies) {
      SEXTANT_UNROLL
      for (int c = 0; c < kCopies; ++c) {
        const Pack apart = Math::magnitude(Pack(samples.direction[i + c]) - bin);
        const Pack around = Math::smaller(apart, Pack(float{kDirections}) - apart);
        const Pack direction = Math::larger(Pack(0.0f), Pack(1.0f) - around);
        const Pack share = direction * Math::multiply_add(Pack(samples.beyond[i + c]), sign, left);
        float* to = cells[c] + samples.cell[i + c];
        Math::multiply_add(share, Pack(samples.above[i + c]), Pack::load(to)).store(to);
        to += kRowNumbers;
        Math::multiply_add(share, Pack(samples.below[i + c]), Pack::load(to)).store(to);
      }
    }
  }

  /// The inner cells of both lists and all copies.
  template <class Pack>
  static void gather(const Cells& cells, float (&numbers)[kSiftLength]) {
    for (int row = 0; row < kCells; ++row) {
      for (int column = 0; column < kCells; ++column) {
        Pack sum[2];
        for (int list = 0; list < 2; ++list) {
          const int from = number_at(list, row + 1, column + 1);
          sum[list] = (Pack::load(cells[0] + from) + Pack::load(cells[1] + from)) +
                      (Pack::load(cells[2] + from) + Pack::load(cells[3] + from));
        }
        (sum[0] + sum[1]).store(numbers + (row * kCells + column) * kDirections);
      }
    }
  }
};

}  // namespace

void describe_window(const Octave& octave, const Oriented& keypoint, bool root,
                     float (&numbers)[kSiftLength]) {
  run_widest(DescribeWindow{octave.scale[keypoint.at.layer], keypoint}, numbers);
  normalize_descriptor(root, numbers);
}

}  // namespace sextant::detail::sift
