// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lane_math.h"
#include "sextant/core/vec.h"
#include "sextant/descriptor/shot.h"

// The vote of one neighbour in a descriptor, for a number or a pack of lanes. Interpolation is
// additive, as in PCL: a neighbour's own entry gets the sum of four weights 1 - |e|, and one entry
// next to it in each of the four directions (cosine, radius, elevation, azimuth) gets |e|.

namespace sextant::detail::shot {

inline constexpr int kShotVolumes = 32;  ///< 8 azimuths × 2 radii × 2 elevations
inline constexpr int kColorBins = 31;
inline constexpr int kShotVotes = 5;                     ///< entries that a neighbour votes for
inline constexpr int kApproxShotVotes = 2;               ///< the first of them: both bins
inline constexpr int kRadiusVote = 2;                    ///< the one for the other shell
inline constexpr std::int32_t kLeastShotNeighbours = 5;  ///< the keypoint among them
inline constexpr float kLeastShotSquare = 1e-30f;  ///< nearer than 1e-15 there is no direction
inline constexpr float kLeastCoordinate = 1e-30f;

/// (x x' + z z') + y y': the order in which PCL adds with four lanes, and rounded after every
/// operation, so that neighbours at the edge of a bin fall to the same side as there.
template <class T, class U>
SEXTANT_HD inline T frame_dot(const Vec3<T>& a, const Vec3<U>& b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rn(__fadd_rn(__fmul_rn(a.x, b.x), __fmul_rn(a.z, b.z)), __fmul_rn(a.y, b.y));
#else
  return (a.x * T(b.x) + a.z * T(b.z)) + a.y * T(b.y);
#endif
}

template <class T, int kCount>
SEXTANT_HD inline T polynomial(const float (&coefficients)[kCount], const T& x) {
  T sum = T(coefficients[kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) sum = sum * x + T(coefficients[i]);
  return sum;
}

/// atan x for 0 <= x <= 1. Interpolated at Chebyshev's nodes: to 1e-8 rad before rounding.
template <class T>
SEXTANT_HD inline T arc_tangent(const T& x) {
  constexpr float kTerms[] = {0.999999982f,  -0.333330367f,  0.19991872f,
                              -0.141977978f, 0.106183706f,   -0.0745685483f,
                              0.0421376236f, -0.0157312491f, 0.0027662835f};
  return x * polynomial(kTerms, x * x);
}

/// acos a for 0 <= a <= 1, as √(1 - a) times a polynomial: to 3e-8 rad before rounding.
template <class T>
SEXTANT_HD inline T arc_cosine(const T& a) {
  constexpr float kTerms[] = {1.5707963f,    -0.214598156f,  0.0889688532f,  -0.0501143031f,
                              0.0307221224f, -0.0168410524f, 0.00649152143f, -0.00121173777f};
  const T root = LaneMath<T>::quick_square_root(T(1.0f) - a);
  return root * polynomial(kTerms, a);
}

/// The sphere around a keypoint.
struct ShotSphere {
  float inner_sq;  ///< the largest squared distance of the inner shell
  float two_over_radius;
  float wrap;  ///< volumes after which azimuth begins again
  bool exact;  ///< else only the cosine is shared between bins
};

inline ShotSphere shot_sphere(float radius_m, bool wrap28, bool exact) {
  const double half_sq = 0.25 * double{radius_m} * double{radius_m};
  float inner_sq = static_cast<float>(half_sq);
  if (double{inner_sq} > half_sq) inner_sq = std::nextafter(inner_sq, 0.0f);
  return {inner_sq, 2.0f / radius_m, wrap28 ? 28.0f : 32.0f, exact};
}

/// Volumes that a neighbour votes for, as whole numbers, and its shares of them.
template <class T>
struct ShotPlace {
  T volume, radius_volume, elevation_volume, azimuth_volume;
  T weight;  ///< Σ (1 - |e|) over radius, elevation and azimuth
  T radius_share, elevation_share, azimuth_share;
};

/// 0 to 7 counter-clockwise from the negative x axis, PCL's rule for points on the edges included;
/// `odd` receives the number's last bit. Coordinates below kLeastCoordinate are taken for zero.
template <class T>
SEXTANT_HD inline T azimuth_sector(const T& x, const T& y, const T& x_abs, const T& y_abs, T& odd) {
  using Math = LaneMath<T>;
  const T zero = T(0.0f);
  const T one = T(1.0f);
  const T tiny = T(kLeastCoordinate);
  const T y_above = Math::select(y < tiny, zero, one);
  const T x_below = Math::select(-tiny < x, zero, one);
  const T upper = Math::select(-tiny < y, Math::select(y < tiny, x_below, one), zero);
  const T right = Math::select(-tiny < x, Math::select(x < tiny, y_above, one), zero);
  const T turned = Math::magnitude(upper - right);  // quadrants two and four
  // There the sector next to the y axis comes first.
  odd = Math::select(zero < turned, Math::select(y_abs < x_abs, one, zero),
                     Math::select(x_abs < y_abs, one, zero));
  return T(4.0f) * upper + T(2.0f) * turned + odd;
}

/// Where a neighbour at `local` (in the frame) lies. `inverse` is 1 / distance, to a few units in
/// the last place.
template <class T>
SEXTANT_HD inline ShotPlace<T> shot_place(const Vec3<T>& local, const T& distance_sq,
                                          const T& inverse, const ShotSphere& sphere) {
  using Math = LaneMath<T>;
  const T zero = T(0.0f);
  const T one = T(1.0f);
  const T half = T(0.5f);
  const T tiny = T(kLeastCoordinate);
  const T x_abs = Math::magnitude(local.x);
  const T y_abs = Math::magnitude(local.y);
  ShotPlace<T> place;

  T odd;
  const T sector = azimuth_sector(local.x, local.y, x_abs, y_abs, odd);
  const T outer = Math::select(T(sphere.inner_sq) < distance_sq, one, zero);
  const T up = Math::select(local.z < tiny, zero, one);
  place.volume = T(4.0f) * sector + T(2.0f) * outer + up;
  if (!sphere.exact) {
    place.radius_volume = place.elevation_volume = place.azimuth_volume = place.volume;
    place.radius_share = place.elevation_share = place.azimuth_share = zero;
    place.weight = T(3.0f);
    return place;
  }

  // From the middle of its shell, growing towards the other shell.
  const T along_radius = distance_sq * inverse * T(sphere.two_over_radius) - half - outer;
  const T to_other_shell = along_radius * (one - T(2.0f) * outer);
  place.radius_volume = place.volume + T(2.0f) - T(4.0f) * outer;
  place.radius_share = Math::larger(to_other_shell, zero);
  place.weight = one - Math::magnitude(to_other_shell);

  // From 45° off its pole, growing towards the equator.
  const T off_pole = arc_cosine(Math::smaller(Math::magnitude(local.z) * inverse, one));
  const T to_equator = off_pole * T(0.636619772f) - half;
  place.elevation_volume = place.volume + one - T(2.0f) * up;
  place.elevation_share = Math::larger(to_equator, zero);
  place.weight = place.weight + (one - Math::magnitude(to_equator));

  // From the middle of its sector; odd sectors turn from a diagonal to an axis.
  const T long_side = Math::larger(x_abs, y_abs);
  const T short_side = Math::smaller(x_abs, y_abs);
  const T off_axis = arc_tangent(Math::quick_ratio(short_side, Math::larger(long_side, tiny)));
  const T from_axis = Math::smaller(off_axis * T(1.27323954f) - half, half);
  const T turned = Math::select(zero < odd, -from_axis, from_axis);
  const T has_azimuth = Math::select(long_side < tiny, zero, one);
  const T wrap = T(sphere.wrap);
  const T next = place.volume + T(4.0f);
  const T previous = place.volume - T(4.0f);
  place.azimuth_volume = Math::select(zero < turned, Math::select(next < wrap, next, next - wrap),
                                      Math::select(previous < zero, previous + wrap, previous));
  place.azimuth_share = has_azimuth * Math::magnitude(turned);
  place.weight = place.weight + has_azimuth * (one - Math::magnitude(turned));
  return place;
}

/// The bins of one volume that a neighbour votes for.
template <class T>
struct ShotBin {
  T bin, other;
  T weight;  ///< 1 - |e|
  T share;   ///< |e|, for the other
};

/// PCL's bins: bin s is centred on s, 0 <= s <= last, and position = value + offset. The share
/// beyond the last but one goes to bin 0 when `wraps`.
template <class T>
SEXTANT_HD inline ShotBin<T> bin_at_centres(const T& value, float offset, float last, bool wraps) {
  using Math = LaneMath<T>;
  const T zero = T(0.0f);
  const T bin = Math::whole(value + T(offset + 0.5f));
  const T off = value - (bin - T(offset));
  const T next = bin + T(1.0f);
  // The next bin of the last one has no share, but its number must be one of an entry.
  const T above = wraps ? Math::select(next < T(last), next, zero) : Math::smaller(next, T(last));
  const T below = Math::larger(bin - T(1.0f), zero);
  const T share = Math::magnitude(off);
  return {bin, Math::select(zero < off, above, below), T(1.0f) - share, share};
}

/// The paper's bins: bin s is centred on s + 1/2; at the ends the share stays in the bin.
template <class T>
SEXTANT_HD inline ShotBin<T> bin_between_edges(const T& value, float offset, float bins) {
  using Math = LaneMath<T>;
  const T zero = T(0.0f);
  const T bin = Math::smaller(Math::whole(value + T(offset)), T(bins - 1.0f));
  const T off = value - (bin - T(offset)) - T(0.5f);
  const T other = Math::select(zero < off, bin + T(1.0f), bin - T(1.0f));
  const T inside = Math::smaller(Math::larger(other, zero), T(bins - 1.0f));
  const T share =
      Math::select(Math::magnitude(inside - other) < T(0.5f), Math::magnitude(off), zero);
  return {bin, inside, T(1.0f) - share, share};
}

/// Of a neighbour whose normal has this cosine with the z axis; anything that is no number counts
/// as -1.
template <class T>
SEXTANT_HD inline ShotBin<T> shape_bin(const T& cosine, ShotBins bins) {
  using Math = LaneMath<T>;
  const T clamped = Math::smaller(Math::larger(T(-1.0f), cosine), T(1.0f));
  const T value = clamped * T(5.0f);
  return bins == ShotBins::kPaper ? bin_between_edges(value, 5.0f, 10.0f)
                                  : bin_at_centres(value, 5.0f, 10.0f, bins == ShotBins::kPcl);
}

/// L, a and b of a neighbour and of the keypoint, each scaled to 1.
template <class T>
SEXTANT_HD inline ShotBin<T> color_bin(const Vec3<T>& lab, const Vec3f& of_keypoint,
                                       ShotBins bins) {
  using Math = LaneMath<T>;
  const T light = Math::magnitude(T(of_keypoint.x) - lab.x);
  const T color =
      Math::magnitude(T(of_keypoint.y) - lab.y) + Math::magnitude(T(of_keypoint.z) - lab.z);
  const T distance = Math::smaller((light + color / T(2.0f)) / T(3.0f), T(1.0f));
  return bin_at_centres(distance * T(static_cast<float>(kColorBins - 1)), 0.0f,
                        static_cast<float>(kColorBins - 1), bins == ShotBins::kPcl);
}

/// Entries of one histogram and what they get, in units of 1 / scale: whole numbers, so that sums
/// do not depend on their order. `base` is the histogram's first entry.
template <class T>
struct ShotVotes {
  T entry[kShotVotes];
  T amount[kShotVotes];
};

template <class T>
SEXTANT_HD inline ShotVotes<T> votes_of(const ShotPlace<T>& place, const ShotBin<T>& bin,
                                        float bins, float base, const T& scale) {
  const T n = T(bins);
  const T at = bin.bin + T(base);
  return {{place.volume * n + at, place.volume * n + (bin.other + T(base)),
           place.radius_volume * n + at, place.elevation_volume * n + at,
           place.azimuth_volume * n + at},
          {(place.weight + bin.weight) * scale, bin.share * scale, place.radius_share * scale,
           place.elevation_share * scale, place.azimuth_share * scale}};
}

/// The largest power of two for which no sum of `neighbours` votes, each at most 4, leaves 31 bits;
/// at most 2²⁰, which a float rounds to nothing coarser.
SEXTANT_HD inline float vote_scale(std::int64_t neighbours) {
  std::int64_t scale = 1 << 20;
  while (scale > 1 && scale * neighbours >= (std::int64_t{1} << 29)) scale /= 2;
  return static_cast<float>(scale);
}

/// How many of the neighbours vote.
SEXTANT_HD inline std::int64_t voters_among(std::int64_t neighbours, bool exact,
                                            std::int32_t most) {
  return exact ? neighbours : min_of<std::int64_t>(neighbours, most);
}
/// The place of voter j of `voters` among `neighbours`: evenly spread over the grid's order. In
/// integers that hold (voters + 1) · neighbours.
template <class Integer>
SEXTANT_HD inline Integer place_of_voter(Integer j, Integer voters, Integer neighbours) {
  return (j * neighbours + voters - 1) / voters;
}
/// The first voter whose place is not before this one.
SEXTANT_HD inline std::int64_t first_voter_from(std::int64_t place, std::int64_t voters,
                                                std::int64_t neighbours) {
  return place == 0 ? 0 : (place - 1) * voters / neighbours + 1;
}

/// A given frame is used when it is made of unit vectors.
SEXTANT_HD inline bool is_frame(const Vec3f* frame) {
  bool good = true;
  for (int i = 0; i < 3; ++i) good = good && std::abs(norm_sq(frame[i]) - 1.0f) < 0.01f;
  return good;
}

}  // namespace sextant::detail::shot
