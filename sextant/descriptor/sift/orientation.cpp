// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sextant/core/for_each.h"
#include "sextant/descriptor/sift/gradients.h"
#include "sextant/descriptor/sift/window.h"

namespace sextant::detail::sift {

namespace {

/// The directions of one extremum.
struct Peaks {
  std::int32_t count;
  float turns[kMostPeaks];
};

/// Pixels are collected row by row until so many have come together.
constexpr int kVotes = 512;
static_assert(kVotes > kLongestRow + kRun);
struct Votes {
  alignas(64) std::int32_t bin[kVotes];
  alignas(64) float weight[kVotes];
};

/// Neighbouring pixels often vote for the same bin; in copies they need not wait for each other.
constexpr int kCopies = 4;
using Sums = float[kCopies][kAngleBins + 1];

/// Sums up the lengths of the gradients around an extremum by their directions.
struct VoteForAngles {
  const Octave& octave;

  template <class Set>
  void operator()(Set, const Extremum& at, float (&votes)[kAngleBins]) const {
    using Pack = FloatLanes<kRun, Set>;
    const Rows& image = octave.scale[at.layer];
    const int radius = angle_radius(at.sigma);
    alignas(64) float near_u[kLongestRow + kRun], near_v[kLongestRow + kRun];
    const float width = kAngleSigmas * at.sigma;
    fill_gaussian<Pack>(radius, at.u - static_cast<float>(at.column), width, near_u);
    fill_gaussian<Pack>(radius, at.v - static_cast<float>(at.row), width, near_v);
    Sums sums = {};
    Votes list;
    int count = 0;
    const int first = std::max(at.column - radius, 1);
    const int end = std::min(at.column + radius + 1, image.width - 1);
    const int first_row = std::max(at.row - radius, 1);
    const int end_row = std::min(at.row + radius + 1, image.height - 1);
    for (int v = first_row; v < end_row; ++v) {
      prefetch_row(image, std::min(v + kRowsAhead, end_row), first, end);
      const Pack row_weight(near_v[v - at.row + radius]);
      for (int u = first; u < end; u += kRun) {
        const Gradient<Pack> gradient = gradient_at<Pack>(image, v, u);
        const Pack bin = gradient.turns * Pack(static_cast<float>(kAngleBins)) + Pack(0.5f);
        convert<std::int32_t>(bin).store(list.bin + count);
        (gradient.length * row_weight * Pack::load(near_u + (u - at.column + radius)))
            .store(list.weight + count);
        count += std::min(kRun, end - u);
      }
      if (count > kVotes - kLongestRow - kRun || v + 1 == end_row) {
        add(list, count, sums);
        count = 0;
      }
    }
    const auto sum_of = [&](int bin) {
      return (sums[0][bin] + sums[1][bin]) + (sums[2][bin] + sums[3][bin]);
    };
    for (int i = 0; i < kAngleBins; ++i) votes[i] = sum_of(i);
    votes[0] += sum_of(kAngleBins);  // a whole turn is none
  }

 private:
  static void add(const Votes& list, int count, Sums& sums) {
    int i = 0;
    for (; i + kCopies <= count; i += kCopies) {
      SEXTANT_UNROLL
      for (int c = 0; c < kCopies; ++c) sums[c][list.bin[i + c]] += list.weight[i + c];
    }
    for (; i < count; ++i) sums[i % kCopies][list.bin[i]] += list.weight[i];
  }
};

}  // namespace

View<Oriented> find_orientations(const Context& context, const Octave& octave,
                                 const View<Extremum>& extrema, float peak_share,
                                 Workspace& workspace) {
  View<Peaks> peaks = workspace.take<Peaks>(context, extrema.size);
  for_each_chunk(context, extrema.size, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float votes[kAngleBins], smooth[kAngleBins];
      run_widest(VoteForAngles{octave}, extrema[i], votes);
      smooth_votes(votes, smooth);
      peaks[i].count = find_peaks(smooth, peak_share, peaks[i].turns);
      std::sort(peaks[i].turns, peaks[i].turns + peaks[i].count);
    }
  });
  std::int64_t total = 0;
  for (const Peaks& p : peaks) total += p.count;
  View<Oriented> keypoints = workspace.take<Oriented>(context, total);
  Oriented* to = keypoints.data;
  for (std::int64_t i = 0; i < extrema.size; ++i) {
    for (int k = 0; k < peaks[i].count; ++k) *to++ = {extrema[i], peaks[i].turns[k]};
  }
  return keypoints;
}

}  // namespace sextant::detail::sift
