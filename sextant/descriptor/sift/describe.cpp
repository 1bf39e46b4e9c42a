// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "sextant/descriptor/sift/gradients.h"
#include "sextant/descriptor/sift/window.h"

namespace sextant::detail::sift {

namespace {

/// The cells, those around them and, as a row of pixels may begin and end a little outside these,
/// one more to the right and below; only the inner ones are kept.
constexpr int kRing = kCells + 3;
constexpr int kRowNumbers = kRing * kDirections;
/// Neighbouring samples often meet in the same cells; in copies they need not wait for each other.
constexpr int kCopies = 4;

/// Pixels are collected row by row until so many have come together.
constexpr int kSamples = 512;
static_assert(kSamples > kLongestRow + kRun);

/// The pixels that count, each number in a list of its own.
struct Samples {
  alignas(64) float cell[kSamples];       ///< where the first of its four cells begins
  alignas(64) float direction[kSamples];  ///< in bins, from 0 to kDirections
  alignas(64) float weight[4][kSamples];  ///< for this cell, the next, and the two below them
};

/// Which columns of a row of pixels may lie in the turned square.
class SquareColumns {
 public:
  SquareColumns(float cosine, float sine) : column_(cosine, sine), row_(-sine, cosine) {}

  struct Range {
    float first, last;  ///< from the keypoint's column
  };
  Range at(float down) const {
    const Range a = column_.at(down), b = row_.at(down);
    return {std::max(a.first, b.first), std::min(a.last, b.last)};
  }

 private:
  /// Where |right · slope + down · other| < kReach, and a little more for rounding.
  struct Stripe {
    static constexpr float kMost = kReach + 0.01f;
    static constexpr float kFar = 1e6f;
    float other, shift = 0, half = kFar;
    bool level;  ///< the slope is none: all columns of a row lie in it, or none

    Stripe(float slope, float other_slope) : other(other_slope), level(std::abs(slope) < 1e-5f) {
      if (level) return;
      shift = -other / slope;
      half = kMost / std::abs(slope);
    }
    Range at(float down) const {
      if (level && std::abs(down * other) > kMost) return {kFar, -kFar};
      return {down * shift - half, down * shift + half};
    }
  };
  Stripe column_, row_;
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
    alignas(64) float cells[kCopies][kRing * kRowNumbers] = {};
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
      for (int u = first; u < end; u += kRun) {
        count =
            collect<Pack>(v, u, end - u, static_cast<float>(u) - center_u, down, cosine, sine,
                          near_v[v - row + radius], near_u + (u - column + radius), samples, count);
      }
      if (count > kSamples - kLongestRow - kRun || v + 1 == end_row) {
        add<FloatLanes<kDirections, Set>>(samples, count, cells);
        count = 0;
      }
    }
    for (int i = 0; i < kCells; ++i) {
      for (int j = 0; j < kCells * kDirections; ++j) {
        const int from = (i + 1) * kRowNumbers + kDirections + j;
        numbers[i * kCells * kDirections + j] =
            (cells[0][from] + cells[1][from]) + (cells[2][from] + cells[3][from]);
      }
    }
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
    const Pack cell = whole_row * Pack(static_cast<float>(kRowNumbers)) +
                      whole_column * Pack(static_cast<float>(kDirections));
    const Pack below = weight * (row - whole_row), above = weight - below;
    const Pack beyond = column - whole_column;
    const Pack above_right = above * beyond, below_right = below * beyond;
    cell.store(to.cell + count);
    (turns * Pack(static_cast<float>(kDirections))).store(to.direction + count);
    (above - above_right).store(to.weight[0] + count);
    above_right.store(to.weight[1] + count);
    (below - below_right).store(to.weight[2] + count);
    below_right.store(to.weight[3] + count);
    return count + std::min(kRun, most);
  }

  /// Shares each sample among the two nearest rows and columns of cells and directions. A pack
  /// holds the directions of a cell.
  template <class Pack>
  void add(const Samples& samples, int count, float (&cells)[kCopies][kRing * kRowNumbers]) const {
    using Math = LaneMath<Pack>;
    static_assert(Pack::kCount == kDirections);
    const Pack bin = count_up<Pack>();
    for (int i = 0; i < count; ++i) {
      const Pack apart = Math::magnitude(Pack(samples.direction[i]) - bin);
      const Pack around = Math::smaller(apart, Pack(static_cast<float>(kDirections)) - apart);
      const Pack share = Math::larger(Pack(0.0f), Pack(1.0f) - around);
      float* first = cells[i % kCopies] + static_cast<int>(samples.cell[i]);
      SEXTANT_UNROLL
      for (int c = 0; c < 4; ++c) {
        float* to = first + c / 2 * kRowNumbers + c % 2 * kDirections;
        Math::multiply_add(share, Pack(samples.weight[c][i]), Pack::load(to)).store(to);
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
