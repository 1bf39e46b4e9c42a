// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "sextant/core/simd/points.h"
#include "sextant/surface/resolution/math.h"

// Links between neighbouring pixels on the host, a tile of the image at a time. Each link is
// measured once and serves the pixels at both its ends.

namespace sextant::detail::resolution {

inline constexpr int kLinkTileWidth = 64;
inline constexpr int kLinkTileHeight = 16;

template <class Pack>
class LinkTile {
 public:
  LinkTile(const StatisticsJob& job, int left, int top) : job_(job), left_(left), top_(top) {}

  /// Counts the links to the right and down in `counts`, kLinkBins of them.
  void count(std::uint32_t* counts) {
    load(job_.points, points_);
    float across[N];
    float down[N];
    for (int row = 1; row <= kLinkTileHeight; ++row) {
      for (int column = 1; column <= kLinkTileWidth; column += N) {
        const Vec3<Pack> p = at(points_, row, column);
        distance_between(p, at(points_, row, column + 1)).store(across);
        distance_between(p, at(points_, row + 1, column)).store(down);
        for (const float length : across) count_link(length, counts);
        for (const float length : down) count_link(length, counts);
      }
    }
  }

  /// What the tile's pixels add to the statistics.
  StatisticsSums sum(float longest_m) {
    load(job_.points, points_);
    load(job_.normals, normals_);
    Sums sums;
    Links above;
    Links below;
    Links across;
    measure(1, 0, 1, longest_m, above);
    for (int row = 1; row <= kLinkTileHeight && top_ + row <= job_.points.height; ++row) {
      // Link k of `across` ends at column k, link k of `below` at the row below.
      measure(row, 1, 0, longest_m, across);
      measure(row + 1, 0, 1, longest_m, below);
      for (int column = 1; column <= kLinkTileWidth; column += N) {
        add_pixels(across, above, below, column, sums);
      }
      above = below;
    }
    return sums.total();
  }

 private:
  using Math = LaneMath<Pack>;
  static constexpr int N = Pack::kCount;

  static constexpr int kRows = kLinkTileHeight + 2;
  static constexpr int kStride = kLinkTileWidth + 32;

  /// Coordinates of the tile and a margin of one pixel, NaN outside the image.
  struct Field {
    alignas(64) float x[kRows][kStride];
    alignas(64) float y[kRows][kStride];
    alignas(64) float z[kRows][kStride];
  };

  /// Links that count, by the column of their end; zeros for the others.
  struct Links {
    alignas(64) float distances[kStride];
    alignas(64) float distance[kStride];
    alignas(64) float angles[kStride];
    alignas(64) float angle[kStride];
  };

  /// Sums of every lane in single precision. They are about the first value that the lane meets, so
  /// that a small deviation of large values keeps its digits; a tile has few values.
  struct LaneSums {
    Pack count, reference, sum, sum_sq;

    /// `present` is 1 or 0.
    void add(const Pack& present, const Pack& value) {
      const Pack zero(0.0f);
      reference = Math::select(count > zero, reference, value);
      const Pack deviation = Math::select(present > zero, value - reference, zero);
      count = count + present;
      sum = sum + deviation;
      sum_sq = sum_sq + deviation * deviation;
    }
    void total(double& all, double& all_sum, double& all_sum_sq) const {
      for (int lane = 0; lane < N; ++lane) {
        const double n = count.lane(lane);
        const double r = reference.lane(lane);
        const double s = sum.lane(lane);
        all += n;
        all_sum += s + n * r;
        all_sum_sq += sum_sq.lane(lane) + 2 * r * s + n * r * r;
      }
    }
  };
  struct Sums {
    LaneSums distance, angle;

    StatisticsSums total() const {
      StatisticsSums sums;
      distance.total(sums.distances, sums.distance, sums.distance_sq);
      angle.total(sums.angles, sums.angle, sums.angle_sq);
      return sums;
    }
  };

  void load(const ImageView<const Vec3f>& image, Field& field) const {
    for (int row = 0; row < kRows; ++row) {
      const int v = top_ - 1 + row;
      for (int column = 0; column < kStride; column += N) {
        const int u = left_ - 1 + column;
        Vec3<Pack> p{Pack(NAN), Pack(NAN), Pack(NAN)};
        if (v >= 0 && v < image.height) {
          p = u >= 0 && u + N <= image.width ? load_points<Pack>(image.row(v) + u)
                                             : load_part(image, u, v);
        }
        p.x.store(field.x[row] + column);
        p.y.store(field.y[row] + column);
        p.z.store(field.z[row] + column);
      }
    }
  }

  static Vec3<Pack> load_part(const ImageView<const Vec3f>& image, int u, int v) {
    Vec3f part[N];
    for (int lane = 0; lane < N; ++lane) {
      const bool inside = u + lane >= 0 && u + lane < image.width;
      part[lane] = inside ? image(u + lane, v) : Vec3f{NAN, NAN, NAN};
    }
    return load_points<Pack>(part);
  }

  static Vec3<Pack> at(const Field& field, int row, int column) {
    return {Pack::load(field.x[row] + column), Pack::load(field.y[row] + column),
            Pack::load(field.z[row] + column)};
  }

  static void count_link(float length_m, std::uint32_t* counts) {
    // The lanes' square root makes minus infinity of infinity.
    const bool finite = length_m >= 0.0f && length_m <= std::numeric_limits<float>::max();
    if (finite) ++counts[link_bin(length_m)];
  }

  /// Links that come from (du, dv) pixels before and end in `row`, by the column of their end.
  void measure(int row, int du, int dv, float longest_m, Links& links) const {
    const Pack longest(longest_m);
    const Pack zero(0.0f);
    for (int column = 1; column <= kLinkTileWidth + du; column += N) {
      const Pack distance =
          distance_between(at(points_, row - dv, column - du), at(points_, row, column));
      const Pack short_enough = Math::select(distance <= longest, Pack(1.0f), zero);
      const Pack counts = Math::select(distance >= zero, short_enough, zero);
      const Pack angle =
          angle_between(at(normals_, row - dv, column - du), at(normals_, row, column));
      const Pack turns = Math::select(angle >= zero, counts, zero);
      counts.store(links.distances + column);
      Math::select(counts > zero, distance, zero).store(links.distance + column);
      turns.store(links.angles + column);
      Math::select(turns > zero, angle, zero).store(links.angle + column);
    }
  }

  static void add_pixels(const Links& across, const Links& above, const Links& below, int column,
                         Sums& sums) {
    add_means(across.distances, across.distance, above.distances, above.distance, below.distances,
              below.distance, column, sums.distance);
    add_means(across.angles, across.angle, above.angles, above.angle, below.angles, below.angle,
              column, sums.angle);
  }

  static void add_means(const float* across_counts, const float* across, const float* above_counts,
                        const float* above, const float* below_counts, const float* below,
                        int column, LaneSums& sums) {
    const Pack counts = Pack::load(across_counts + column) +
                        Pack::load(across_counts + column + 1) + Pack::load(above_counts + column) +
                        Pack::load(below_counts + column);
    const Pack total = Pack::load(across + column) + Pack::load(across + column + 1) +
                       Pack::load(above + column) + Pack::load(below + column);
    const Pack one(1.0f);
    const Pack present = Math::select(counts > Pack(0.0f), one, Pack(0.0f));
    sums.add(present, total / Math::select(counts > one, counts, one));
  }

  const StatisticsJob& job_;
  const int left_;
  const int top_;
  Field points_;
  Field normals_;
};

}  // namespace sextant::detail::resolution
