// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "sextant/surface/normals/math.h"
#include "sextant/surface/resolution.h"

namespace sextant::detail::resolution {

/// The histogram of link lengths has 32 bins an octave, from 2⁻²⁰ m to 2¹² m: the bin is the top of
/// a float's bits, and no bin is wider than 3 %.
inline constexpr int kLinkBins = 1024;
inline constexpr int kMantissaBits = 18;  // dropped of 23
inline constexpr std::uint32_t kFirstBin = (127 - 20) << 5;

SEXTANT_HD inline int link_bin(float length_m) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(length_m);
#else
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(length_m);
#endif
  const std::uint32_t top = bits >> kMantissaBits;
  if (top < kFirstBin) return 0;
  return static_cast<int>(min_of(top - kFirstBin, std::uint32_t{kLinkBins - 1}));
}

/// The middle of a bin.
SEXTANT_HD inline float link_length_of_bin(int bin) {
  const std::uint32_t bits = ((kFirstBin + static_cast<std::uint32_t>(bin)) << kMantissaBits) |
                             (1u << (kMantissaBits - 1));
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

/// Links longer than this many medians lead over a depth step.
inline constexpr float kLongestLinkInMedians = 4.0f;

template <class T>
SEXTANT_HD T distance_between(const Vec3<T>& p, const Vec3<T>& q) {
  return LaneMath<T>::square_root(norm_sq(q - p));
}

/// x + x³ (…) for the arc sine in [0, 1/2], interpolated at Chebyshev nodes: wrong by 1e-8 at most.
template <class T>
SEXTANT_HD T arcsine_of_half(const T& x) {
  const T t = x * x;
  T series = t * T(0.038085024f) + T(0.026554542f);
  series = series * t + T(0.04500138f);
  series = series * t + T(0.07498855f);
  series = series * t + T(0.16666672f);
  return x + x * t * series;
}

/// The angle between unit vectors from the length of their difference: exact to 2e-7 for small
/// angles too, where the arc cosine of the product has no digits left.
template <class T>
SEXTANT_HD T angle_between(const Vec3<T>& n, const Vec3<T>& m) {
  using Math = LaneMath<T>;
  const T chord = Math::square_root(norm_sq(m - n)) * T(0.5f);
  const T half = Math::select(chord < T(1.0f), chord, T(1.0f));
  // asin x = π/2 - 2 asin √((1 - x) / 2) brings the upper half into reach.
  const auto large = half > T(0.5f);
  const T reduced = Math::select(large, Math::square_root((T(1.0f) - half) * T(0.5f)), half);
  const T arc = arcsine_of_half(reduced);
  const T angle = Math::select(large, T(1.57079633f) - arc - arc, arc);
  return angle + angle + (chord - chord);
}

/// Sums over pixels, before they are made into statistics.
struct StatisticsSums {
  double distances = 0, distance = 0, distance_sq = 0;
  double angles = 0, angle = 0, angle_sq = 0;
};

/// What the links of one pixel add up to.
template <class T>
struct PixelLinks {
  T distances{}, distance{}, angles{}, angle{};
};

/// Links longer than the limit, and those that end in a hole (NaN), do not count.
SEXTANT_HD inline void add_link(PixelLinks<float>& links, const Vec3f& p, const Vec3f& q,
                                const Vec3f& n, const Vec3f& m, float longest_m) {
  const float distance = distance_between(p, q);
  if (!(distance <= longest_m)) return;
  links.distances += 1.0f;
  links.distance += distance;
  const float angle = angle_between(n, m);
  if (!(angle >= 0.0f)) return;
  links.angles += 1.0f;
  links.angle += angle;
}

SEXTANT_HD inline void add_pixel(StatisticsSums& sums, const PixelLinks<float>& links) {
  if (links.distances > 0.0f) {
    const double distance = links.distance / links.distances;
    sums.distances += 1.0;
    sums.distance += distance;
    sums.distance_sq += distance * distance;
  }
  if (links.angles > 0.0f) {
    const double angle = links.angle / links.angles;
    sums.angles += 1.0;
    sums.angle += angle;
    sums.angle_sq += angle * angle;
  }
}

SEXTANT_HD inline StatisticsSums operator+(const StatisticsSums& a, const StatisticsSums& b) {
  return {a.distances + b.distances, a.distance + b.distance, a.distance_sq + b.distance_sq,
          a.angles + b.angles,       a.angle + b.angle,       a.angle_sq + b.angle_sq};
}

SEXTANT_HD inline SurfaceStatistics finished_statistics(const StatisticsSums& sums,
                                                        float median_link_m) {
  SurfaceStatistics result;
  result.median_link_m = median_link_m;
  result.distances = static_cast<std::int32_t>(sums.distances);
  result.angles = static_cast<std::int32_t>(sums.angles);
  const double distance = sums.distance / sums.distances;
  const double distance_variance = sums.distance_sq / sums.distances - distance * distance;
  const double distance_deviation = std::sqrt(max_of(distance_variance, 0.0));
  const double angle = sums.angle / sums.angles;
  const double angle_deviation =
      std::sqrt(max_of(sums.angle_sq / sums.angles - angle * angle, 0.0));
  if (sums.distances > 0) {
    result.resolution_m = static_cast<float>(distance);
    result.distance_deviation_m = static_cast<float>(distance_deviation);
    result.max_edge_m = static_cast<float>(distance + distance_deviation);
  }
  if (sums.angles > 0) {
    result.mean_angle_rad = static_cast<float>(angle);
    result.angle_deviation_rad = static_cast<float>(angle_deviation);
    result.max_angle_rad = static_cast<float>(angle + angle_deviation);
  }
  return result;
}

struct StatisticsJob {
  ImageView<const Vec3f> points;
  ImageView<const Vec3f> normals;
  StatisticsMode mode = StatisticsMode::kRobust;
  std::uint32_t* histogram = nullptr;  ///< kLinkBins, and on CUDA a counter of finished blocks
  StatisticsSums* partial = nullptr;   ///< one for each tile, on CUDA for each block
  int blocks = 0;                      ///< CUDA only
  SurfaceStatistics* result = nullptr;
};

/// Enough to keep a multiprocessor busy, and few enough for adding up what the blocks found.
inline constexpr int kStatisticsBlocksPerMultiprocessor = 2;

void surface_statistics_cuda(const Context& context, const StatisticsJob& job);

}  // namespace sextant::detail::resolution
