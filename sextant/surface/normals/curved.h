// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/lane_math.h"
#include "sextant/core/vec.h"
#include "sextant/surface/normals/limits.h"

// What the plane of a window lacks where the surface bends. In a whole window, quadratic terms of
// ρ = 1/Z do not change the slopes of the least-squares plane, and cubic terms do: with i and j in
// pixels from the centre, c30 i³ + c12 i j² adds k c30 + µ c12 to the slope along the row, where
// k = Σi⁴ / Σi² and µ = Σi² / (2r + 1). The least-squares cubic tells c30 and c12, each as a sum of
// ρ with fixed weights, but the noise of these sums is 2.8 times that of the plane's slope (7 × 7).
// So the change counts as far as it exceeds what the noise of this window explains. Quadratic terms
// lift the plane: in the window's middle the surface lies µ (c20 + c02) below it.

namespace sextant::detail::normals {

/// The weights of the sums over a window of this radius, for offsets of 0 to r from its centre.
/// With P3(i) = i³ - k i and P2(i) = i² - µ, which are orthogonal on the window, the change of the
/// slope along the row is the sum of (cubic(i) + mixed(i) P2(j)) ρ(i, j).
struct CurvedWeights {
  float cubic[kMaxNormalsRadius_px + 1] = {};  ///< -k P3(i) / Σ P3² / (2r + 1), odd in i
  float mixed[kMaxNormalsRadius_px + 1] = {};  ///< -µ i / (Σi² Σ P2²), odd in i
  float bowl[kMaxNormalsRadius_px + 1] = {};   ///< P2(i), even in i
  float lift = 0;   ///< -µ / Σ P2² / (2r + 1): with P2(i) + P2(j) the change of ρ in the middle
  float doubt = 0;  ///< the squared change that noise explains, over the window's roughness
  float points = 0;  ///< (2r + 1)²
  float span_px = 0;
  float spread = 0;  ///< Σ (i² + j²) of the window, over twice the squared span
};

/// A change of this many times its own deviation by noise is half believed.
inline constexpr double kCurvedDeviations = 4;

inline CurvedWeights curved_weights(int radius_px) {
  CurvedWeights weights;
  double second = 0, fourth = 0;
  for (int i = -radius_px; i <= radius_px; ++i) {
    second += i * i;
    fourth += static_cast<double>(i * i) * (i * i);
  }
  const double side = 2 * radius_px + 1;
  weights.points = static_cast<float>(side * side);
  weights.span_px = static_cast<float>(2 * radius_px);
  weights.spread = static_cast<float>(side * second / (4.0 * radius_px * radius_px));
  if (radius_px < 2) return weights;  // three points show no cubic
  const double k = fourth / second, mu = second / side;
  const auto cubic = [&](int i) { return i * (i * i - k); };
  const auto bowl = [&](int i) { return i * i - mu; };
  double cubic_sq = 0, bowl_sq = 0;
  for (int i = -radius_px; i <= radius_px; ++i) {
    cubic_sq += cubic(i) * cubic(i);
    bowl_sq += bowl(i) * bowl(i);
  }
  for (int i = 0; i <= radius_px; ++i) {
    weights.cubic[i] = static_cast<float>(-k * cubic(i) / (cubic_sq * side));
    weights.mixed[i] = static_cast<float>(-mu * i / (second * bowl_sq));
    weights.bowl[i] = static_cast<float>(bowl(i));
  }
  weights.lift = static_cast<float>(-mu / (bowl_sq * side));
  // The roughness is the sum of squares of a filter whose weights have the square sum 36.
  const double variance = k * k / (cubic_sq * side) + mu * mu / (second * bowl_sq);
  weights.doubt = static_cast<float>(2 * kCurvedDeviations * kCurvedDeviations * variance /
                                     (36 * (side - 2) * (side - 2)));
  return weights;
}

/// What the plane lacks.
template <class T>
struct Bend {
  T x{}, y{};  ///< slopes of 1/Z: along rows and columns for each pixel, or along X/Z and Y/Z
  T middle{};  ///< 1/Z in the middle of the window
};

/// The second difference along a column, and of three of these along the row: a filter that leaves
/// of a cubic surface nothing, and of independent noise 36 times its variance.
template <class T>
SEXTANT_HD T second_difference(const T& before, const T& here, const T& behind) {
  return (before - here) + (behind - here);
}

/// How far the slopes are believed: 1 - noise²/change², or not at all. `roughness` is the sum of
/// the squared filter over the inner pixels of the window.
template <class T>
SEXTANT_HD Bend<T> believed(const Bend<T>& bend, const T& roughness, const CurvedWeights& weights) {
  const T noise = roughness * T(weights.doubt);
  const T size = bend.x * bend.x + bend.y * bend.y;
  const T share = LaneMath<T>::select(size > noise, T(1.0f) - noise / size, T(0.0f));
  return {bend.x * share, bend.y * share, bend.middle * T(weights.lift)};
}

/// Differences of X/Z and Y/Z from one end of the window's middle row, or column, to the other.
template <class T>
struct WindowSpan {
  T x_along_row, y_along_row, x_along_column, y_along_column;
};

/// The bend along X/Z and Y/Z. Zero unless the window is whole and its rays form a regular grid,
/// as those of a camera do: then the span explains the spread Σ (X/Z - mean)² + Σ (Y/Z - mean)².
template <class T>
SEXTANT_HD Bend<T> in_ray_coordinates(const Bend<T>& bend, const WindowSpan<T>& span,
                                      const T& count, const T& spread,
                                      const CurvedWeights& weights) {
  using Math = LaneMath<T>;
  const T det = span.x_along_row * span.y_along_column - span.x_along_column * span.y_along_row;
  const T scale = T(weights.span_px) / det;
  const T along_x = (bend.x * span.y_along_column - bend.y * span.y_along_row) * scale;
  const T along_y = (bend.y * span.x_along_row - bend.x * span.x_along_column) * scale;
  const T regular =
      (span.x_along_row * span.x_along_row + span.y_along_row * span.y_along_row +
       span.x_along_column * span.x_along_column + span.y_along_column * span.y_along_column) *
      T(weights.spread);
  const T irregular = Math::magnitude(spread - regular);
  const T zero(0.0f);
  const T whole = Math::select(count < T(weights.points), zero, T(0.02f)) * regular;
  const auto counts = whole > irregular;
  return {Math::select(counts, along_x, zero), Math::select(counts, along_y, zero),
          Math::select(counts, bend.middle, zero)};
}

}  // namespace sextant::detail::normals
