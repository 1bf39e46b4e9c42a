// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen3.h"
#include "sextant/core/rigid3.h"

namespace sextant::detail::point_pairs {

inline constexpr int kTurns = 256;    ///< steps of a turn in the table
inline constexpr int kTurnBins = 32;  ///< of the count
inline constexpr int kTurnShift = 3;  ///< 256 / 32 = 2³
inline constexpr float kPi = 3.14159265358979f;

/// The angle whose cosine is x, to 7e-5: additions, multiplications and a root, the same bits on
/// every device (Abramowitz and Stegun 4.4.45).
SEXTANT_HD inline float angle_of_cosine(float x) {
  const float a = min_of(std::abs(x), 1.0f);
  const float root = std::sqrt(1.0f - a);
  const float angle = root * (1.5707288f + a * (-0.2121144f + a * (0.0742610f + a * -0.0187293f)));
  return x < 0 ? kPi - angle : angle;
}

/// The angle of (x, y) in [-π, π] to 1e-4; 0 for the zero vector.
SEXTANT_HD inline float angle_of(float x, float y) {
  const float length = std::sqrt(x * x + y * y);
  if (!(length > 0)) return 0;
  const float angle = angle_of_cosine(x / length);
  return y < 0 ? -angle : angle;
}

/// Turns the normal onto the x axis.
struct NormalFrame {
  Mat3f rotation;  ///< frame_from_space
  Vec3f origin;
};
SEXTANT_HD inline NormalFrame normal_frame(const Vec3f& point, const Vec3f& normal) {
  const Vec3f side = any_perpendicular(normal);
  return {{{normal, side, cross(normal, side)}}, point};
}

/// The turn about the normal that brings a point at d from the origin into the half plane z = 0,
/// y > 0 of the frame, in 256ths of a whole turn.
SEXTANT_HD inline int turn_of(const NormalFrame& frame, const Vec3f& d) {
  const float y = dot(frame.rotation.row[1], d);
  const float z = dot(frame.rotation.row[2], d);
  const float steps = angle_of(y, -z) * (kTurns / (2 * kPi));
  return static_cast<int>(std::floor(steps + 0.5f)) & (kTurns - 1);
}

/// scene_from_model for a model point and a scene point that lie on each other, with their normals,
/// after the model has turned by `turn_rad` about it: T_s⁻¹ R_x(turn) T_m.
SEXTANT_HD inline Rigid3f pose_of(const NormalFrame& scene, const NormalFrame& model,
                                  float turn_rad) {
  const float c = std::cos(turn_rad), s = std::sin(turn_rad);
  const Mat3f turn{{{1, 0, 0}, {0, c, -s}, {0, s, c}}};
  const Mat3f rotation = transpose(scene.rotation) * (turn * model.rotation);
  return {rotation, scene.origin - rotation * model.origin};
}

/// The feature of a pair in units of bins.
struct PairFeature {
  float bins[4];  ///< distance, ∠(n1, d), ∠(n2, d), ∠(n1, n2)
};

struct Quantizer {
  float inverse_step = 1;  ///< bins a metre
  float angle_scale = 1;   ///< bins a radian
  int distance_bins = 1;
  int angle_bins = 1;

  SEXTANT_HD std::int64_t cells() const {
    return std::int64_t{distance_bins} * angle_bins * angle_bins * angle_bins;
  }
  SEXTANT_HD PairFeature feature(const Vec3f& d, float length, const Vec3f& n1,
                                 const Vec3f& n2) const {
    const float inverse = length > 0 ? 1 / length : 0.0f;
    return {{length * inverse_step, angle_of_cosine(dot(n1, d) * inverse) * angle_scale,
             angle_of_cosine(dot(n2, d) * inverse) * angle_scale,
             angle_of_cosine(dot(n1, n2)) * angle_scale}};
  }
  SEXTANT_HD int bins_of(int dimension) const {
    return dimension == 0 ? distance_bins : angle_bins;
  }
  /// Bin of a dimension; angles of exactly π belong to the last.
  SEXTANT_HD int bin(int dimension, float value) const {
    return clamp(static_cast<int>(value), 0, bins_of(dimension) - 1);
  }
  SEXTANT_HD std::int64_t cell(const int (&b)[4]) const {
    return ((std::int64_t{b[0]} * angle_bins + b[1]) * angle_bins + b[2]) * angle_bins + b[3];
  }

  /// Calls f(cell) for the feature's own cell and for those whose edge is nearer than `spread`.
  template <class Function>
  SEXTANT_HD void for_each_cell(const PairFeature& feature, float spread, Function&& f) const {
    int near[4], other[4];
    for (int i = 0; i < 4; ++i) {
      near[i] = bin(i, feature.bins[i]);
      const float rest = feature.bins[i] - static_cast<float>(near[i]);
      other[i] = rest < spread ? near[i] - 1 : rest > 1 - spread ? near[i] + 1 : -1;
      if (other[i] >= bins_of(i)) other[i] = -1;
    }
    for (int choice = 0; choice < 16; ++choice) {
      int at[4];
      bool there = true;
      for (int i = 0; i < 4; ++i) {
        at[i] = choice >> i & 1 ? other[i] : near[i];
        there = there && at[i] >= 0;
      }
      if (there) f(cell(at));
    }
  }
};

SEXTANT_HD inline Quantizer quantizer(float diameter_m, float distance_step, int angle_bins) {
  return {1 / (diameter_m * distance_step), static_cast<float>(angle_bins) / kPi,
          static_cast<int>(1.0f / distance_step) + 2, angle_bins};
}

}  // namespace sextant::detail::point_pairs
