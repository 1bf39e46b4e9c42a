// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "sextant/core/eigen3.h"
#include "sextant/core/rigid3.h"
#include "sextant/core/simd/lane_math.h"

// The mathematics of one pair of points: additions, multiplications and comparisons alone, so that
// numbers on either device and packs of them (T) give the same bits.

namespace sextant::detail::point_pairs {

inline constexpr int kTurnBins = 32;  ///< of a whole turn; a mask of them is one word
inline constexpr float kPi = 3.14159265358979f;

/// 1 / √value by Newton's steps from an estimate that halves the exponent, right to 2 units in the
/// last place; of 0, a large number. LaneMath does the same for packs.
template <class T>
SEXTANT_HD T inverse_root(const T& value) {
  if constexpr (std::is_same_v<T, float>) {
#if defined(__CUDA_ARCH__)
    float y = __uint_as_float(0x5f375a86u - (__float_as_uint(value) >> 1));
#else
    float y = std::bit_cast<float>(0x5f375a86u - (std::bit_cast<std::uint32_t>(value) >> 1));
#endif
    const float half = value * 0.5f;
    for (int step = 0; step < 3; ++step) y = y * (1.5f - half * y * y);
    return y;
  } else {
    return LaneMath<T>::inverse_square_root(value);
  }
}

/// The angle whose cosine is x, to 7e-5 (Abramowitz and Stegun 4.4.45).
template <class T>
SEXTANT_HD T angle_of_cosine(const T& x) {
  using Math = LaneMath<T>;
  const T a = Math::smaller(T(1), Math::magnitude(x));
  const T gap = T(1) - a;
  const T root = gap * inverse_root(gap);
  const T angle =
      root * (T(1.5707288f) + a * (T(-0.2121144f) + a * (T(0.0742610f) + a * T(-0.0187293f))));
  return Math::select(x < T(0), T(kPi) - angle, angle);
}

/// The angle of (x, y) in [-π, π] to 4e-4; 0 for the zero vector.
template <class T>
SEXTANT_HD T angle_of(const T& x, const T& y) {
  using Math = LaneMath<T>;
  const T length_sq = x * x + y * y;
  const T angle = angle_of_cosine(x * inverse_root(length_sq));
  return Math::select(length_sq > T(0), Math::select(y < T(0), -angle, angle), T(0));
}

struct CosineSine {
  float cosine, sine;
};
/// For turns in [-8π, 8π], to 1e-6: the series about the nearest quarter of a turn.
SEXTANT_HD inline CosineSine cosine_sine(float turn_rad) {
  const float quarters = std::floor(turn_rad * (2 / kPi) + 0.5f);
  const float x = turn_rad - quarters * (kPi / 2);
  const float q = x * x;
  const float c = 1 + q * (-0.5f + q * (1.0f / 24 + q * (-1.0f / 720 + q * (1.0f / 40320))));
  const float s =
      x * (1 + q * (-1.0f / 6 + q * (1.0f / 120 + q * (-1.0f / 5040 + q * (1.0f / 362880)))));
  const int quadrant = static_cast<int>(quarters) & 3;
  if (quadrant == 0) return {c, s};
  if (quadrant == 1) return {-s, c};
  if (quadrant == 2) return {-c, -s};
  return {s, -c};
}

/// Turns the normal onto the x axis.
template <class T>
struct NormalFrame {
  Mat3<T> rotation;  ///< frame_from_space
  Vec3<T> origin;
};
SEXTANT_HD inline NormalFrame<float> normal_frame(const Vec3f& point, const Vec3f& normal) {
  const Vec3f side = any_perpendicular(normal);
  return {{{normal, side, cross(normal, side)}}, point};
}

/// The turn about the normal that brings a point at d from the origin into the half plane z = 0,
/// y > 0 of the frame: in bins, from 0 to less than kTurnBins.
template <class T>
SEXTANT_HD T turn_of(const NormalFrame<T>& frame, const Vec3<T>& d) {
  const T y = dot(frame.rotation.row[1], d);
  const T z = dot(frame.rotation.row[2], d);
  const T bins = angle_of(y, -z) * T(kTurnBins / (2 * kPi));
  const T turn = LaneMath<T>::select(bins < T(0), bins + T(kTurnBins), bins);
  return LaneMath<T>::select(turn < T(kTurnBins), turn, T(0));
}

/// scene_from_model for a model point and a scene point that lie on each other, with their normals,
/// after the model has turned by `turn_rad` about it: T_s⁻¹ R_x(turn) T_m.
SEXTANT_HD inline Rigid3f pose_of(const NormalFrame<float>& scene, const NormalFrame<float>& model,
                                  float turn_rad) {
  const auto [c, s] = cosine_sine(turn_rad);
  const Mat3f turn{{{1, 0, 0}, {0, c, -s}, {0, s, c}}};
  const Mat3f rotation = transpose(scene.rotation) * (turn * model.rotation);
  return {rotation, scene.origin - rotation * model.origin};
}

/// The feature of a pair in units of bins.
template <class T>
struct PairFeature {
  T bins[4];  ///< distance, ∠(n1, d), ∠(n2, d), ∠(n1, n2)
};

struct Quantizer {
  float inverse_step = 1;  ///< bins a metre
  float angle_scale = 1;   ///< bins a radian
  int distance_bins = 1;
  int angle_bins = 1;

  /// At most 102 × 40³, which a float holds exactly.
  SEXTANT_HD std::int64_t cells() const {
    return std::int64_t{distance_bins} * angle_bins * angle_bins * angle_bins;
  }
  template <class T>
  SEXTANT_HD PairFeature<T> feature(const Vec3<T>& d, const T& distance_sq, const Vec3<T>& n1,
                                    const Vec3<T>& n2) const {
    const T inverse = inverse_root(distance_sq);
    return {{distance_sq * inverse * T(inverse_step),
             angle_of_cosine(dot(n1, d) * inverse) * T(angle_scale),
             angle_of_cosine(dot(n2, d) * inverse) * T(angle_scale),
             angle_of_cosine(dot(n1, n2)) * T(angle_scale)}};
  }
  SEXTANT_HD int bins_of(int dimension) const {
    return dimension == 0 ? distance_bins : angle_bins;
  }
  /// The bin of a dimension as a whole number; angles of exactly π belong to the last.
  template <class T>
  SEXTANT_HD T bin(int dimension, const T& value) const {
    using Math = LaneMath<T>;
    const T last(static_cast<float>(bins_of(dimension) - 1));
    return Math::whole(Math::smaller(last, Math::larger(T(0), value)));
  }
  /// The cell of the feature as a whole number.
  template <class T>
  SEXTANT_HD T cell(const PairFeature<T>& feature) const {
    const T along(static_cast<float>(angle_bins));
    return ((bin(0, feature.bins[0]) * along + bin(1, feature.bins[1])) * along +
            bin(2, feature.bins[2])) *
               along +
           bin(3, feature.bins[3]);
  }

  /// Calls f(cell) for the feature's own cell and for those whose edge is nearer than `spread`.
  template <class Function>
  SEXTANT_HD void for_each_cell(const PairFeature<float>& feature, float spread,
                                Function&& f) const {
    int near[4], other[4];
    for (int i = 0; i < 4; ++i) {
      near[i] = static_cast<int>(bin(i, feature.bins[i]));
      const float rest = feature.bins[i] - static_cast<float>(near[i]);
      other[i] = rest < spread ? near[i] - 1 : rest > 1 - spread ? near[i] + 1 : -1;
      if (other[i] >= bins_of(i)) other[i] = -1;
    }
    for (int choice = 0; choice < 16; ++choice) {
      int cell = 0;
      bool there = true;
      for (int i = 0; i < 4; ++i) {
        const int at = choice >> i & 1 ? other[i] : near[i];
        there = there && at >= 0;
        cell = cell * bins_of(i) + at;
      }
      if (there) f(static_cast<std::uint32_t>(cell));
    }
  }
};

SEXTANT_HD inline Quantizer quantizer(float diameter_m, float distance_step, int angle_bins) {
  return {1 / (diameter_m * distance_step), static_cast<float>(angle_bins) / kPi,
          static_cast<int>(1.0f / distance_step) + 2, angle_bins};
}

/// The crest of votes at a turn: those of its bin together with the better of its neighbours, and
/// where between them the turn lies. No votes where the bin is no crest; of equal bins in a row the
/// last is one.
struct Crest {
  int votes = 0;
  int beside = 0;  ///< the neighbour's, negative for the one before
  SEXTANT_HD float turn_bins(int bin) const {
    return static_cast<float>(bin) + static_cast<float>(beside) / static_cast<float>(votes);
  }
};
SEXTANT_HD inline Crest crest_of(int before, int here, int after) {
  if (here == 0 || before > here || after >= here) return {};
  return after >= before ? Crest{here + after, after} : Crest{here + before, -before};
}

}  // namespace sextant::detail::point_pairs
