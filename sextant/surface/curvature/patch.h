// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "sextant/surface/curvature/settle.h"
#include "sextant/surface/noise/frame_noise.h"

// Which samples make the patch of a pixel, and what a sample is. Host and device.

namespace sextant::detail::curvature {

/// What the loops of estimate_curvature need to know, on either device.
struct CurvatureJob {
  ImageView<const Vec3f> points;
  ImageView<const Vec3f> normals;
  CurvatureOptions options;
  CurvatureViews out;
  const noise::FrameNoise* noise = nullptr;  ///< where the fit settles
};

void estimate_curvature_cuda(const Context& context, const CurvatureJob& job, Workspace& workspace);

/// Rows of samples: row i has the columns -half_width(i) … half_width(i), and sample (i, j) lies
/// offset(i) pixels below and offset(j) to the right of the middle.
struct PatchGrid {
  int radius = 0;               ///< in samples
  int limit_sq = 0;             ///< i² + j² is not more
  std::int32_t step_65536 = 0;  ///< pixels between samples, times 65536
  int stride_px = 0;            ///< the same where it is a whole number: patches in pixels

  SEXTANT_HD int offset(int i) const { return (i * step_65536 + 32768) >> 16; }
  SEXTANT_HD int reach_px() const { return offset(radius); }
  SEXTANT_HD int half_width(int i) const {
    const int width = static_cast<int>(std::sqrt(static_cast<float>(limit_sq - i * i)));
    return width < radius ? width : radius;
  }
  SEXTANT_HD int samples() const {
    int count = 0;
    for (int i = -radius; i <= radius; ++i) count += 2 * half_width(i) + 1;
    return count;
  }
};

/// Patches reach this far; beyond, samples are farther apart than asked for.
inline constexpr int kMostReach_px = 128;

/// The patch in pixels. The disc is the authors': i² + j² < radius² + 5.
SEXTANT_HD inline PatchGrid pixel_patch(const CurvatureOptions& options) {
  const bool sparse = options.shape == PatchShape::kSparseDisc;
  const int stride = min_of(max_of(options.stride_px, 1), kMostReach_px / options.radius_samples);
  PatchGrid grid;
  grid.radius = sparse ? options.radius_samples : options.radius_samples * stride;
  const int sq = grid.radius * grid.radius;
  grid.limit_sq = options.shape == PatchShape::kDenseSquare ? 2 * sq : sq + 4;
  grid.stride_px = sparse ? stride : 1;
  grid.step_65536 = grid.stride_px * 65536;
  return grid;
}

/// The radius in pixels rounded up to 4 significant bits, so that neighbouring pixels, whose depths
/// differ a little, have the same grid; the samples beyond the radius in metres are left out one by
/// one.
SEXTANT_HD inline float rounded_radius_px(float radius_px) {
#if defined(__CUDA_ARCH__)
  std::uint32_t bits = __float_as_uint(radius_px);
  bits = (bits + 0xfffffu) & ~0xfffffu;
  return __uint_as_float(bits);
#else
  std::uint32_t bits = std::bit_cast<std::uint32_t>(radius_px);
  bits = (bits + 0xfffffu) & ~0xfffffu;
  return std::bit_cast<float>(bits);
#endif
}

/// The sensor's noise at a depth: deviation of a pixel, and what averaging leaves (FrameNoise),
/// both in metres.
struct DepthNoise {
  float pixel_m = 0;
  float density_m = 0;

  static SEXTANT_HD DepthNoise at(const noise::FrameNoise& frame, float z_m) {
    const int bin = noise::depth_bin(z_m);
    const float z_sq = z_m * z_m;
    return {frame.sigma_per_m[bin] * z_sq, frame.density_per_m[bin] * z_sq};
  }
};

/// On a disc of radius h that faces the sensor, with pixels p apart, k1 and k2 deviate by this
/// times density p / h³: √96 σ / (h² √n) of n samples that err by themselves, π h² / p² of them.
inline constexpr float kDeviationOfDisc = 5.53f;
/// Where a patch does not fit, one of this share of its radius is tried.
inline constexpr float kSmallerPatch = 0.7f;
inline constexpr int kPatchSizes = 2;

/// The radius of a patch in metres in pixels, 0 where there is no point. `size` counts the patches
/// that were tried before; 0 when there is no smaller one.
SEXTANT_HD inline float patch_radius_px(const CurvatureOptions& options, const DepthNoise& noise,
                                        float z_m, float pitch_rad, int size) {
  const float pixel_m = z_m * pitch_rad;
  if (!(pitch_rad > 0.0f)) return 0.0f;
  if (!options.follows_noise()) return size == 0 ? options.radius_m / pixel_m : 0.0f;
  const float least =
      max_of(options.least_radius_m, static_cast<float>(options.radius_samples) * pixel_m);
  const float error = kDeviationOfDisc * noise.density_m * pixel_m;
  float radius_m = std::cbrt(error / options.aim_deviation_per_m);
  radius_m = max_of(min_of(radius_m, options.most_radius_m), least);
  if (size == 0) return radius_m / pixel_m;
  const float smaller = radius_m * kSmallerPatch;
  const bool useless = options.most_deviation_per_m > 0.0f &&
                       error > options.most_deviation_per_m * smaller * smaller * smaller;
  return smaller < least || useless ? 0.0f : smaller / pixel_m;
}

/// The patch of a radius in metres that is `rounded_px` pixels there.
SEXTANT_HD inline PatchGrid metric_patch(const CurvatureOptions& options, float rounded_px) {
  const float reach = rounded_px < kMostReach_px ? rounded_px : kMostReach_px;
  const bool sparse = options.shape == PatchShape::kSparseDisc;
  const float most = sparse ? static_cast<float>(options.radius_samples) : kMostReach_px;
  PatchGrid grid;
  const float samples = max_of(reach < most ? reach : most, 1.0f);
  grid.radius = static_cast<int>(samples);
  grid.limit_sq = options.shape == PatchShape::kDenseSquare ? 2 * grid.radius * grid.radius
                                                            : static_cast<int>(samples * samples);
  grid.step_65536 =
      reach > most ? static_cast<std::int32_t>(reach * 65536.0f) / grid.radius : 65536;
  return grid;
}

/// A sample: the mean of a cell of pixels, and what the middle of a patch needs beside it. Zero
/// where there is none.
template <class T>
struct Cell {
  Vec3<T> point;  ///< z is negative in the rim of a depth edge (rim.h)
  /// The angle between the rays of neighbouring pixels. Negative where the pixel's own point lies
  /// off its cell: what is known of that point, its normal first, says nothing about the surface.
  T signed_pitch;

  SEXTANT_HD T pitch_rad() const {
    const T zero(0.0f);
    return LaneMath<T>::select(signed_pitch < zero, -signed_pitch, signed_pitch);
  }
  /// The same cell as the middle of a patch.
  SEXTANT_HD Cell middle() const {
    return {{point.x, point.y, LaneMath<T>::magnitude(point.z)}, signed_pitch};
  }
  SEXTANT_HD Vec3<T> start(const Vec3<T>& normal) const {
    using Math = LaneMath<T>;
    const auto wild = signed_pitch < T(0.0f);
    const T none(NAN);
    return {Math::select(wild, none, normal.x), Math::select(wild, none, normal.y),
            Math::select(wild, none, normal.z)};
  }
};

/// Points that are holes, behind the sensor or absurdly far are zero from here on: then no sum
/// meets a NaN.
SEXTANT_HD inline Vec3f measured_point(const Vec3f& p) {
  constexpr float kFarthest = 1e9f;
  const bool good =
      p.z > 0.0f && p.z < kFarthest && std::abs(p.x) < kFarthest && std::abs(p.y) < kFarthest;
  return good ? p : Vec3f{};
}

/// Puts the smaller of two depths first.
template <class T>
SEXTANT_HD void put_in_order(T& a, T& b) {
  const auto swap = b < a;
  const T smaller = LaneMath<T>::select(swap, b, a);
  b = LaneMath<T>::select(swap, a, b);
  a = smaller;
}

/// The lower median of the positive ones of nine depths; zero when there is none.
template <class T>
SEXTANT_HD T median_depth(const T (&depths)[9]) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  T z[9];
  T count(0.0f);
  SEXTANT_UNROLL
  for (int i = 0; i < 9; ++i) {
    const auto valid = depths[i] > zero;
    z[i] = Math::select(valid, depths[i], T(2e9f));
    count = count + Math::select(valid, T(1.0f), zero);
  }
  // Floyd's network of 25 exchanges.
  constexpr std::int8_t kExchanges[25][2] = {{0, 1}, {3, 4}, {6, 7}, {1, 2}, {4, 5}, {7, 8}, {0, 1},
                                             {3, 4}, {6, 7}, {0, 3}, {3, 6}, {0, 3}, {1, 4}, {4, 7},
                                             {1, 4}, {2, 5}, {5, 8}, {2, 5}, {1, 3}, {5, 7}, {2, 6},
                                             {4, 6}, {2, 4}, {2, 3}, {5, 6}};
  SEXTANT_UNROLL
  for (int k = 0; k < 25; ++k) put_in_order(z[kExchanges[k][0]], z[kExchanges[k][1]]);
  T median = z[0];
  median = Math::select(count > T(2.5f), z[1], median);
  median = Math::select(count > T(4.5f), z[2], median);
  median = Math::select(count > T(6.5f), z[3], median);
  median = Math::select(count > T(8.5f), z[4], median);
  return Math::select(count > T(0.5f), median, zero);
}

/// The mean of the 3 × 3 points around a pixel that lie within a share `gate` of their median
/// depth. `at(du, dv)` is a measured_point.
template <class T, class At>
SEXTANT_HD Vec3<T> cell_mean(const At& at, const T& gate) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  T depths[9];
  SEXTANT_UNROLL
  for (int i = 0; i < 9; ++i) depths[i] = at(i % 3 - 1, i / 3 - 1).z;
  const T median = median_depth(depths);
  const T most = median * gate;
  T count(0.0f);
  Vec3<T> sum;
  SEXTANT_UNROLL
  for (int i = 0; i < 9; ++i) {
    const Vec3<T> p = at(i % 3 - 1, i / 3 - 1);
    // Depths are summed as offsets from the median, so that the sum loses no digits.
    const T behind = p.z - median;
    const T apart = Math::select(behind < zero, -behind, behind);
    const auto taken = apart <= most;
    count = count + Math::select(taken, T(1.0f), zero);
    sum.x = sum.x + Math::select(taken, p.x, zero);
    sum.y = sum.y + Math::select(taken, p.y, zero);
    sum.z = sum.z + Math::select(taken, behind, zero);
  }
  const T share = T(1.0f) / Math::select(count > T(1.0f), count, T(1.0f));
  return {sum.x * share, sum.y * share, median + sum.z * share};
}

/// The angle between the rays of neighbouring pixels (in tangents), from the nearest of the pixels
/// right, left, below and above that has a point; zero when none within 3 has. Depth noise does not
/// touch it.
template <class T, class At>
SEXTANT_HD T pixel_pitch(const At& at) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T one(1.0f);
  Vec3<T> other;
  T distance(1.0f);
  SEXTANT_UNROLL
  for (int k = 3; k >= 1; --k) {
    SEXTANT_UNROLL
    for (int side = 3; side >= 0; --side) {
      const int step = side % 2 == 0 ? k : -k;
      const Vec3<T> p = side < 2 ? at(step, 0) : at(0, step);
      const auto nearer = p.z > zero;
      other.x = Math::select(nearer, p.x, other.x);
      other.y = Math::select(nearer, p.y, other.y);
      other.z = Math::select(nearer, p.z, other.z);
      distance = Math::select(nearer, T(static_cast<float>(k)), distance);
    }
  }
  const Vec3<T> here = at(0, 0);
  const T other_depth = Math::select(other.z > zero, other.z, one);
  const T depth = Math::select(here.z > zero, here.z, one);
  const T dx = other.x / other_depth - here.x / depth;
  const T dy = other.y / other_depth - here.y / depth;
  const T square = dx * dx + dy * dy;
  const auto some = square > T(1e-20f);
  const T pitch = Math::square_root(Math::select(some, square, one)) / distance;
  const T found = Math::select(some, pitch, zero);
  const T where = Math::select(other.z > zero, found, zero);
  return Math::select(here.z > zero, where, zero);
}

template <class T, class At>
SEXTANT_HD Cell<T> make_cell(const CurvatureOptions& options, const At& at) {
  using Math = LaneMath<T>;
  const T pitch = pixel_pitch<T>(at);
  const Vec3<T> own = at(0, 0);
  if (!options.average_cells) return {own, pitch};
  const T gate(options.relative_cell_gate);
  const Vec3<T> mean = cell_mean<T>(at, gate);
  const T behind = own.z - mean.z;
  const T limit = mean.z * (gate + gate);
  return {mean, Math::select(behind * behind > limit * limit, -pitch, pitch)};
}

/// Everything about the middle of a patch that decides which samples count.
template <class T>
struct PatchMiddle {
  Vec3<T> point;
  T radius_m;
  T gate_sq;  ///< largest squared difference in depth
  T ball_sq;  ///< largest squared distance; only with a radius in metres
  /// A normal whose cosine with the line of sight is less may look away along the pixel's own ray,
  /// which passes the mean of the cell at √2 pixels at most.
  T least_cosine;
  T pixel_noise_m{};  ///< of DepthNoise, where the fit settles
  T density_m{};

  /// `radius_px` is that of a patch in metres.
  static SEXTANT_HD PatchMiddle of(const CurvatureOptions& options, const PatchGrid& grid,
                                   const Cell<T>& cell, float radius_px) {
    using Math = LaneMath<T>;
    const T z = cell.point.z;
    const bool metric = options.radius_m > 0.0f;
    const bool in_pixels = options.stride_px > 0;
    const float reach = in_pixels ? static_cast<float>(grid.reach_px())
                                  : min_of(radius_px, static_cast<float>(kMostReach_px));
    PatchMiddle middle;
    middle.point = cell.point;
    middle.radius_m = metric ? T(options.radius_m) : z * cell.pitch_rad() * T(reach);
    middle.ball_sq = middle.radius_m * middle.radius_m;
    middle.least_cosine = cell.pitch_rad() * T(2.0f);
    // Holes lie at the sensor, a whole z before the middle: never within the gate.
    T gate = z * T(0.9999f);
    if (options.cut_at_edges) {
      const T relative = z * T(options.relative_depth_gate);
      const T absolute(options.depth_gate_m);
      const T edge = Math::select(absolute < relative, relative, absolute);
      const T far = T(4.0f) * middle.radius_m;
      gate = Math::select(edge < gate, edge, gate);
      gate = Math::select(far < gate, far, gate);
    }
    middle.gate_sq = gate * gate;
    return middle;
  }
};

}  // namespace sextant::detail::curvature
