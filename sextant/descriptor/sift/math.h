// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>

#include "sextant/core/simd/lane_math.h"
#include "sextant/descriptor/sift.h"

// The mathematics of one candidate, one keypoint and one sample of its window.

namespace sextant::detail::sift {

inline constexpr float kFullRange = 255.0f;  ///< of the numbers of an image
/// Keypoints keep so far from the border of their octave, in its pixels.
inline constexpr int kBorder = 5;
/// A candidate that moves farther than this from the pixel where it was found is given up.
inline constexpr int kMostWandering = 5;
inline constexpr int kMostSteps = 5;  ///< of such moves

inline constexpr int kAngleBins = 36;                 ///< of the histogram of directions
inline constexpr int kMostPeaks = kAngleBins / 2;     ///< maxima that it can have
inline constexpr float kAngleSigmas = 1.5f;           ///< width of its window, in sigmas
inline constexpr int kCells = 4;                      ///< of a descriptor, along a side
inline constexpr int kDirections = 8;                 ///< of each cell
inline constexpr float kCellSigmas = 3.0f;            ///< side of a cell, in sigmas
inline constexpr float kReach = 0.5f * (kCells + 1);  ///< a sample counts up to here, in cells
inline constexpr float kClamp = 0.2f;                 ///< most of a number, of the whole length
inline constexpr float kBytesPerLength = 512.0f;

/// Differences of neighbouring scales around a pixel: [layer][row][column].
struct ScaleBlock {
  float d[3][3][3];
};

/// Where the quadratic through a block has its extremum, from the middle.
struct ScaleExtremum {
  bool exists = false;
  float du = 0, dv = 0, ds = 0;
  float value = 0;
};

/// Lowe's equations 2 and 3.
SEXTANT_HD inline ScaleExtremum fit_extremum(const ScaleBlock& block) {
  const auto& d = block.d;
  const double gu = 0.5 * (double{d[1][1][2]} - d[1][1][0]);
  const double gv = 0.5 * (double{d[1][2][1]} - d[1][0][1]);
  const double gs = 0.5 * (double{d[2][1][1]} - d[0][1][1]);
  const double twice = 2.0 * d[1][1][1];
  const double uu = double{d[1][1][2]} + d[1][1][0] - twice;
  const double vv = double{d[1][2][1]} + d[1][0][1] - twice;
  const double ss = double{d[2][1][1]} + d[0][1][1] - twice;
  const double uv = 0.25 * (double{d[1][2][2]} - d[1][2][0] - d[1][0][2] + d[1][0][0]);
  const double us = 0.25 * (double{d[2][1][2]} - d[2][1][0] - d[0][1][2] + d[0][1][0]);
  const double vs = 0.25 * (double{d[2][2][1]} - d[2][0][1] - d[0][2][1] + d[0][0][1]);
  // Cramer's rule; the cofactors of the symmetric matrix.
  const double c_uu = vv * ss - vs * vs;
  const double c_uv = us * vs - uv * ss;
  const double c_us = uv * vs - us * vv;
  const double determinant = uu * c_uu + uv * c_uv + us * c_us;
  if (determinant == 0) return {};
  const double c_vv = uu * ss - us * us;
  const double c_vs = uv * us - uu * vs;
  const double c_ss = uu * vv - uv * uv;
  const double u = -(c_uu * gu + c_uv * gv + c_us * gs) / determinant;
  const double v = -(c_uv * gu + c_vv * gv + c_vs * gs) / determinant;
  const double s = -(c_us * gu + c_vs * gv + c_ss * gs) / determinant;
  const double value = d[1][1][1] + 0.5 * (gu * u + gv * v + gs * s);
  return {true, static_cast<float>(u), static_cast<float>(v), static_cast<float>(s),
          static_cast<float>(value)};
}

/// Whether the principal curvatures have the same sign and a ratio below `edge_ratio` (Lowe's
/// section 4.1).
SEXTANT_HD inline bool is_blob(const ScaleBlock& block, float edge_ratio) {
  const auto& d = block.d[1];
  const float uu = d[1][2] + d[1][0] - 2.0f * d[1][1];
  const float vv = d[2][1] + d[0][1] - 2.0f * d[1][1];
  const float uv = 0.25f * (d[2][2] - d[2][0] - d[0][2] + d[0][0]);
  const float trace = uu + vv;
  const float determinant = uu * vv - uv * uv;
  return determinant > 0 &&
         trace * trace * edge_ratio < (edge_ratio + 1) * (edge_ratio + 1) * determinant;
}

/// A gradient: how steep it is, and its direction from the u axis towards the v axis, in turns from
/// 0 to 1. Where there is none, both are next to 0.
template <class T>
struct Gradient {
  T length, turns;
};

/// Takes differences of pixels. The length is wrong by 5e-6 of itself, the direction by 5e-6 turns.
/// T is a number or a pack of numbers.
template <class T>
SEXTANT_HD inline Gradient<T> gradient_of(const T& right, const T& down) {
  using Math = LaneMath<T>;
  const T wide = Math::magnitude(right);
  const T high = Math::magnitude(down);
  const T length_sq = Math::larger(Math::multiply_add(right, right, down * down), T(1e-30f));
  const T inverse = Math::rough_inverse_square_root(length_sq);
  const T sine = Math::smaller(wide, high) * inverse;
  const T square = sine * sine;
  // Interpolates asin(t) / 2πt at Chebyshev's nodes of t² between 0 and 1/2.
  T turns = Math::multiply_add(square, T(0.0150614807f), T(0.00155310534f));
  turns = Math::multiply_add(turns, square, T(0.0130281762f));
  turns = Math::multiply_add(turns, square, T(0.0264545721f));
  turns = Math::multiply_add(turns, square, T(0.159155661f)) * sine;
  turns = Math::select(wide < high, T(0.25f) - turns, turns);
  turns = Math::select(right < T(0.0f), T(0.5f) - turns, turns);
  turns = Math::select(down < T(0.0f), T(1.0f) - turns, turns);
  return {length_sq * inverse, turns};
}

/// How far around a keypoint the gradients vote for its direction, in pixels.
SEXTANT_HD inline int angle_radius(float sigma) {
  return static_cast<int>(3.0f * kAngleSigmas * sigma + 0.5f);
}

/// How far its descriptor looks: to the corners of the turned square.
SEXTANT_HD inline int descriptor_radius(float sigma) {
  return static_cast<int>(kCellSigmas * sigma * 1.41421356f * kReach + 0.5f);
}

/// A bin of the ring of votes, smoothed with the binomial weights 1 4 6 4 1.
SEXTANT_HD inline float smooth_vote(const float* votes, int bin) {
  const auto at = [&](int offset) { return votes[(bin + offset + kAngleBins) % kAngleBins]; };
  return (at(-2) + at(2)) * (1.0f / 16) + (at(-1) + at(1)) * (4.0f / 16) + at(0) * (6.0f / 16);
}
SEXTANT_HD inline void smooth_votes(const float (&votes)[kAngleBins], float (&smooth)[kAngleBins]) {
  for (int i = 0; i < kAngleBins; ++i) smooth[i] = smooth_vote(votes, i);
}

/// Whether a bin is a maximum that reaches `least`; then `turns` is where it lies, between bins by
/// a parabola, from 0 to 1.
SEXTANT_HD inline bool is_peak(const float* votes, int bin, float least, float& turns) {
  const float before = votes[(bin + kAngleBins - 1) % kAngleBins];
  const float after = votes[(bin + 1) % kAngleBins];
  if (!(votes[bin] > before && votes[bin] > after && votes[bin] >= least)) return false;
  const float shift = 0.5f * (before - after) / (before - 2.0f * votes[bin] + after);
  const float at = (static_cast<float>(bin) + shift) * (1.0f / kAngleBins);
  turns = at < 0 ? at + 1.0f : at >= 1.0f ? at - 1.0f : at;
  return true;
}

/// Finds the maxima that reach `share` of the highest bin, each between bins by a parabola, in
/// turns from 0 to 1 and ascending order of bins; returns how many there are.
SEXTANT_HD inline int find_peaks(const float (&votes)[kAngleBins], float share,
                                 float (&turns)[kMostPeaks]) {
  float highest = 0;
  for (const float v : votes) highest = v > highest ? v : highest;
  const float least = share * highest;
  int count = 0;
  for (int i = 0; i < kAngleBins; ++i) count += is_peak(votes, i, least, turns[count]);
  return count;
}

/// The most that a number of a descriptor may be, of the squares of all.
SEXTANT_HD inline float most_number(float sum_sq) { return kClamp * std::sqrt(sum_sq); }
/// What clamped numbers are multiplied with; see normalize_descriptor.
SEXTANT_HD inline float descriptor_scale(bool root, float clamped_sq, float sum) {
  if (!(sum > 0)) return 0;
  return root ? 1.0f / sum : 1.0f / std::sqrt(clamped_sq);
}
SEXTANT_HD inline float scaled_number(bool root, float number, float scale) {
  return root ? std::sqrt(number * scale) : number * scale;
}

/// Makes a descriptor of the sums of its window: clamped at 0.2 of its length, then of length 1. As
/// RootSIFT its sum is made 1 and roots are taken, which is of length 1 too. All zeros stay so.
SEXTANT_HD inline void normalize_descriptor(bool root, float (&numbers)[kSiftLength]) {
  float sum_sq = 0;
  for (const float x : numbers) sum_sq += x * x;
  const float most = most_number(sum_sq);
  float clamped_sq = 0, sum = 0;
  for (float& x : numbers) {
    x = x < most ? x : most;
    clamped_sq += x * x;
    sum += x;
  }
  const float scale = descriptor_scale(root, clamped_sq, sum);
  for (float& x : numbers) x = scaled_number(root, x, scale);
}

SEXTANT_HD inline std::uint8_t descriptor_byte(float number) {
  const float scaled = kBytesPerLength * number + 0.5f;
  return static_cast<std::uint8_t>(scaled < 255.0f ? scaled : 255.0f);
}

/// A pixel in a window, in the axes of its keypoint.
template <class T>
struct WindowPlace {
  T column, row;  ///< from the keypoint, in cells
};

/// `right` and `down` count pixels from the keypoint; `cosine` and `sine` are those of its angle,
/// divided by the side of a cell.
template <class T>
SEXTANT_HD inline WindowPlace<T> place_in_window(const T& right, const T& down, const T& cosine,
                                                 const T& sine) {
  return {right * cosine + down * sine, down * cosine - right * sine};
}

}  // namespace sextant::detail::sift
