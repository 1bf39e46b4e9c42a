// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/simd/points.h"
#include "sextant/surface/normals/curved_sums.h"
#include "sextant/surface/normals/job.h"
#include "sextant/surface/normals/math.h"

// Organised normals on the host, a tile of the image at a time, row by row. Where no depth gate
// closes, the moments of a window are sums of sums of its columns: 2 (2r + 1) additions instead of
// (2r + 1)². Groups of pixels that see an edge take the direct way, point by point.

namespace sextant::detail::normals {

/// Tiles are small so that offsets from the tile's origin lose few digits, and as high as the
/// number of threads allows, because rows of the margin are loaded twice; the height is even.
inline constexpr int kNormalsTileWidth = 64;
inline constexpr int kNormalsTileHeight = 32;

/// With kRadius_px = 0 the window's size is known at run time only.
template <class Pack, NormalsMethod kMethod, int kRadius_px>
class NormalsTile {
 public:
  NormalsTile(const NormalsJob& job, int left, int top)
      : job_(job),
        left_(left),
        top_(top),
        width_(min_of(kNormalsTileWidth, job.points.width - left)),
        height_(min_of(kNormalsTileHeight, job.points.height - top)),
        depth_gate_(job.depth_gate_m),
        relative_depth_gate_(job.relative_depth_gate),
        curved_(job.curved, job.radius_px) {}

  void run() {
    if (!choose_origin()) return fill_with_nan();
    for (int row = 0; row < 2 * radius(); ++row) load(row);
    for (int row = 0; row < height_; row += 2) {
      load(row + 2 * radius());
      load(row + 2 * radius() + 1);
      sum_down(row);
      for (int lower = 0; lower < min_of(2, height_ - row); ++lower) {
        sum_along(lower);
        if constexpr (kCurved) {
          const auto inverse_depths = [&](int k) { return row_at(row + lower + k).terms[3]; };
          curved_.sum_down(row + lower, inverse_depths, columns_[lower][3], columns());
        }
        for (int column = 0; column < width_; column += N) finish(row + lower, column);
      }
    }
  }

 private:
  using Math = LaneMath<Pack>;
  using Mask = typename Pack::Mask;
  static constexpr int N = Pack::kCount;

  static constexpr bool kPca = kMethod == NormalsMethod::kPca;
  static constexpr bool kCurved = kMethod == NormalsMethod::kCurved;
  /// The moments in the order of Moments. The last, of squared third coordinates, is needed by PCA
  /// only.
  static constexpr int kMoments = kPca ? 10 : 9;
  /// Rows that two rows of windows cover, a power of two.
  static constexpr int kRows = kRadius_px == 3 ? 8 : 32;
  static_assert(2 * kMaxNormalsRadius_px + 2 <= 32);
  static constexpr int kStride = kNormalsTileWidth +
                                 (kRadius_px == 3 ? 16 : 2 * kMaxNormalsRadius_px + 12) +
                                 (kCurved ? 16 : 0);
  static_assert(kStride % N == 0);

  /// What the points of a row add to each moment, and their depths, NaN where there is none.
  struct Row {
    alignas(64) float terms[kMoments][kStride];
    alignas(64) float depth[kStride];
  };

  int radius() const { return kRadius_px > 0 ? kRadius_px : job_.radius_px; }
  /// With the margin; loads and sums go on to the end of the last pack.
  int columns() const { return kNormalsTileWidth + 2 * radius(); }
  /// Rows are counted from the margin above the tile.
  Row& row_at(int row) { return rows_[row % kRows]; }
  const Row& row_at(int row) const { return rows_[row % kRows]; }

  /// A valid point near the tile's middle, so that offsets from it are small; rows and columns are
  /// tried from the middle outwards. False when the tile has none.
  bool choose_origin() {
    for (int step = 0; step < kNormalsTileHeight; ++step) {
      const int v = top_ + outwards(step, kNormalsTileHeight);
      for (int shift = 0; shift < kNormalsTileWidth; ++shift) {
        const int u = left_ + outwards(shift, kNormalsTileWidth);
        if (!job_.points.contains(u, v)) continue;
        const Vec3f p = job_.points(u, v);
        if (!is_finite(p) || (!kPca && !(p.z > 0))) continue;
        const Vec3f q = kPca ? p : ray_coordinates(p);
        origin_ = {Pack(q.x), Pack(q.y), Pack(q.z)};
        return true;
      }
    }
    return false;
  }

  /// 0, 1, 2, 3 … to the middle, one before it, one behind it, two before it …
  static int outwards(int step, int size) {
    return size / 2 + (step % 2 == 0 ? step / 2 : -(step + 1) / 2);
  }

  void fill_with_nan() {
    for (int v = top_; v < top_ + height_; ++v) {
      for (int u = left_; u < left_ + width_; ++u) job_.normals(u, v) = {NAN, NAN, NAN};
    }
  }

  void load(int row) {
    Row& to = row_at(row);
    for (int column = 0; column < columns(); column += N) {
      const Vec3<Pack> p = load_group(top_ - radius() + row, left_ - radius() + column);
      // x - x is zero for finite numbers and NaN for the others.
      Pack depth = p.z + ((p.x - p.x) + (p.y - p.y) + (p.z - p.z));
      if constexpr (!kPca) depth = Math::select(depth > Pack(0.0f), depth, Pack(NAN));
      depth.store(to.depth + column);
      const Vec3<Pack> q = kPca ? p : ray_coordinates(p);
      const Pack zero(0.0f);
      const Mask valid = depth <= depth;
      const Vec3<Pack> offset{Math::select(valid, q.x - origin_.x, zero),
                              Math::select(valid, q.y - origin_.y, zero),
                              Math::select(valid, q.z - origin_.z, zero)};
      indicator(valid).store(to.terms[0] + column);
      offset.x.store(to.terms[1] + column);
      offset.y.store(to.terms[2] + column);
      offset.z.store(to.terms[3] + column);
      (offset.x * offset.x).store(to.terms[4] + column);
      (offset.x * offset.y).store(to.terms[5] + column);
      (offset.x * offset.z).store(to.terms[6] + column);
      (offset.y * offset.y).store(to.terms[7] + column);
      (offset.y * offset.z).store(to.terms[8] + column);
      if constexpr (kPca) (offset.z * offset.z).store(to.terms[9] + column);
    }
    if constexpr (kCurved) {
      if (row < 2) return;
      curved_.filter(row - 1, row_at(row - 2).terms[3], row_at(row - 1).terms[3], to.terms[3],
                     columns());
    }
  }

  Vec3<Pack> load_group(int v, int u) const {
    const int width = job_.points.width;
    const bool outside = v < 0 || v >= job_.points.height || u + N <= 0 || u >= width;
    if (outside) return {Pack(NAN), Pack(NAN), Pack(NAN)};
    if (u >= 0 && u + N <= width) return load_points<Pack>(job_.points.row(v) + u);
    Vec3f part[N];
    for (int lane = 0; lane < N; ++lane) {
      const bool inside = u + lane >= 0 && u + lane < width;
      part[lane] = inside ? job_.points(u + lane, v) : Vec3f{NAN, NAN, NAN};
    }
    return load_points<Pack>(part);
  }

  /// Moments and depth range of columns of 2 r + 1 points, for two rows of normals at once: their
  /// windows share all rows but one each.
  void sum_down(int row) {
    const int last = 2 * radius() + 1;
    for (int s = 0; s < kMoments; ++s) {
      const float* terms[kRows];
      for (int k = 0; k <= last; ++k) terms[k] = row_at(row + k).terms[s];
      for (int column = 0; column < columns(); column += N) {
        Pack shared = Pack::load(terms[1] + column);
        for (int k = 2; k < last; ++k) shared = shared + Pack::load(terms[k] + column);
        (shared + Pack::load(terms[0] + column)).store(columns_[0][s] + column);
        (shared + Pack::load(terms[last] + column)).store(columns_[1][s] + column);
      }
    }
    const float* depths[kRows];
    for (int k = 0; k <= last; ++k) depths[k] = row_at(row + k).depth;
    for (int column = 0; column < columns(); column += N) {
      Pack nearest(INFINITY);
      Pack farthest(-INFINITY);
      for (int k = 1; k < last; ++k) widen(Pack::load(depths[k] + column), nearest, farthest);
      for (int lower = 0; lower < 2; ++lower) {
        Pack near = nearest;
        Pack far = farthest;
        widen(Pack::load(depths[lower == 0 ? 0 : last] + column), near, far);
        near.store(nearest_[lower] + column);
        far.store(farthest_[lower] + column);
      }
    }
  }

  /// Takes depths into a range; NaN leaves it as it is.
  static void widen(const Pack& depth, Pack& nearest, Pack& farthest) {
    nearest = Math::select(depth < nearest, depth, nearest);
    farthest = Math::select(depth > farthest, depth, farthest);
  }

  /// Sums along the row complete the windows.
  void sum_along(int lower) {
    const auto add = [](const Pack& a, const Pack& b) { return a + b; };
    const auto nearer = [](const Pack& a, const Pack& b) { return Math::select(b < a, b, a); };
    const auto farther = [](const Pack& a, const Pack& b) { return Math::select(b > a, b, a); };
    for (int s = 0; s < kMoments; ++s) join_along(columns_[lower][s], windows_[s], add);
    join_along(nearest_[lower], window_nearest_, nearer);
    join_along(farthest_[lower], window_farthest_, farther);
  }

  /// to[i] = from[i] ∘ … ∘ from[i + 2 r]. For seven elements in pairs: loads that straddle cache
  /// lines are dear with 16 lanes, so those shift what they have loaded. The order of operations is
  /// the same for every width.
  template <class Join>
  void join_along(const float* from, float* to, const Join& join) const {
    if constexpr (kRadius_px == 3 && N == 16 && Pack::kParts == 1) {
      Pack here = Pack::load(from);
      Pack next = Pack::load(from + N);
      Pack pairs = join(here, shifted<1>(here, next));
      for (int column = 0; column < kNormalsTileWidth; column += N) {
        // The last pack's own last pair is not needed.
        const Pack after = column + 3 * N <= kStride ? Pack::load(from + column + 2 * N) : next;
        const Pack next_pairs = join(next, shifted<1>(next, after));
        const Pack fours = join(pairs, shifted<2>(pairs, next_pairs));
        join(join(fours, shifted<4>(pairs, next_pairs)), shifted<6>(here, next)).store(to + column);
        here = next;
        next = after;
        pairs = next_pairs;
      }
      return;
    }
    for (int column = 0; column < kNormalsTileWidth; column += N) {
      const auto at = [&](int k) { return Pack::load(from + column + k); };
      if constexpr (kRadius_px == 3) {
        const Pack fours = join(join(at(0), at(1)), join(at(2), at(3)));
        join(join(fours, join(at(4), at(5))), at(6)).store(to + column);
      } else {
        Pack all = at(0);
        for (int k = 1; k <= 2 * radius(); ++k) all = join(all, at(k));
        all.store(to + column);
      }
    }
  }

  void finish(int row, int column) {
    const Row& centres = row_at(row + radius());
    const Pack depth = Pack::load(centres.depth + column + radius());
    const Pack relative = depth * relative_depth_gate_;
    const Pack gate = Math::select(depth_gate_ < relative, relative, depth_gate_);
    const Pack before = depth - Pack::load(window_nearest_ + column);
    const Pack behind = Pack::load(window_farthest_ + column) - depth;
    const Pack reach = Math::select(before > behind, before, behind);
    const auto window = [&](int s) { return Pack::load(windows_[s] + column); };
    Moments<Pack> m{window(0),
                    {window(1), window(2), window(3)},
                    {window(4), window(5), window(6), window(7), window(8),
                     kPca ? window(kMoments - 1) : Pack()}};
    const Vec3<Pack> centre{Pack::load(centres.terms[1] + column + radius()),
                            Pack::load(centres.terms[2] + column + radius()),
                            Pack::load(centres.terms[3] + column + radius())};
    Sym3<Pack> scatter = scatter_about_mean(m);
    Vec3<Pack> mean = m.sum * inverse_count(m);
    const Pack direct = indicator(reach > gate) + digits_lost(m, mean, scatter);
    if ((direct > Pack(0.0f)).any()) {
      const Moments<Pack> exact = direct_moments(row, column, centre, depth, gate);
      const Vec3<Pack> exact_mean = centre + exact.sum * inverse_count(exact);
      // Only where it is needed, so that a pixel's normal does not depend on its neighbours' need.
      const Mask needed = direct > Pack(0.0f);
      m.count = Math::select(needed, exact.count, m.count);
      mean = chosen(needed, exact_mean, mean);
      scatter = chosen(needed, scatter_about_mean(exact), scatter);
    }
    Bend<Pack> bend;
    if constexpr (kCurved) bend = bend_at(row, column, m.count, scatter.xx + scatter.yy);
    write(row, column, depth, m.count, scatter, origin_ + mean, origin_ + centre, bend);
  }

  /// What a plane lacks in the windows that start here.
  Bend<Pack> bend_at(int row, int column, const Pack& count, const Pack& spread) const {
    const int last = 2 * radius();
    const Row& middle = row_at(row + radius());
    const auto along_row = [&](int term) {
      return Pack::load(middle.terms[term] + column + last) -
             Pack::load(middle.terms[term] + column);
    };
    const auto along_column = [&](int term) {
      return Pack::load(row_at(row + last).terms[term] + column + radius()) -
             Pack::load(row_at(row).terms[term] + column + radius());
    };
    const WindowSpan<Pack> span{along_row(1), along_row(2), along_column(1), along_column(2)};
    return in_ray_coordinates(curved_.bend_at(column), span, count, spread, job_.curved);
  }

  /// 1 where the window is so far from the tile's origin that the moments about it have lost digits
  /// (behind a depth edge inside the tile).
  Pack digits_lost(const Moments<Pack>& m, const Vec3<Pack>& mean,
                   const Sym3<Pack>& scatter) const {
    if constexpr (kPca) {
      return indicator(m.count * norm_sq(mean) > trace(scatter) * Pack(256.0f));
    } else {
      // Rounding turns the normal by 1e-4 of the relative difference in depth.
      const Pack limit = (origin_.z + mean.z) * Pack(0.1f);
      return indicator(mean.z * mean.z > limit * limit);
    }
  }

  /// Point by point, about the centre of the window.
  Moments<Pack> direct_moments(int row, int column, const Vec3<Pack>& centre, const Pack& depth,
                               const Pack& gate) const {
    Moments<Pack> m;
    for (int v = row; v <= row + 2 * radius(); ++v) {
      const Row& points = row_at(v);
      for (int u = column; u <= column + 2 * radius(); ++u) {
        const Pack behind = Pack::load(points.depth + u) - depth;
        const Pack apart = Math::select(behind < -behind, -behind, behind);
        const Pack zero(0.0f);
        const Mask taken = apart <= gate;
        const Vec3<Pack> offset{
            Math::select(taken, Pack::load(points.terms[1] + u) - centre.x, zero),
            Math::select(taken, Pack::load(points.terms[2] + u) - centre.y, zero),
            Math::select(taken, Pack::load(points.terms[3] + u) - centre.z, zero)};
        m.count = m.count + indicator(taken);
        m.sum += offset;
        m.squares = m.squares + outer(offset);
      }
    }
    return m;
  }

  /// The normals of a group; mean and centre in the coordinates that were fitted.
  void write(int row, int column, const Pack& depth, const Pack& count, const Sym3<Pack>& scatter,
             const Vec3<Pack>& mean, const Vec3<Pack>& centre, const Bend<Pack>& bend) {
    const Pack wanted = indicator(count >= Pack(kLeastNormalsPoints)) * indicator(depth <= depth);
    Vec3<Pack> normal;
    Pack sure;
    if constexpr (kPca) {
      const SmallestEigenvector<Pack> smallest = smallest_eigenvector(scatter);
      normal = oriented_towards(Vec3<Pack>{}, centre, smallest.vector);
      sure = wanted * indicator(smallest.gap > Pack(kLeastGap));
    } else {
      const RayPlane<Pack> plane =
          kCurved ? ray_plane(scatter, mean, bend) : ray_plane(scatter, mean);
      normal =
          oriented_towards(Vec3<Pack>{}, Vec3<Pack>{centre.x, centre.y, Pack(1.0f)}, plane.normal);
      sure = wanted * indicator(plane.certainty > Pack(0.0f));
    }
    normal = chosen(sure > Pack(0.0f), normal, Vec3<Pack>{Pack(NAN), Pack(NAN), Pack(NAN)});
    const int u = left_ + column;
    const int v = top_ + row;
    if (u + N <= job_.normals.width) {
      store_points(normal, job_.normals.row(v) + u);
      if constexpr (kPca) take_care(wanted - sure, scatter, centre, job_.normals.row(v) + u);
      return;
    }
    Vec3f part[N];
    store_points(normal, part);
    if constexpr (kPca) take_care(wanted - sure, scatter, centre, part);
    for (int lane = 0; u + lane < job_.normals.width; ++lane) {
      job_.normals(u + lane, v) = part[lane];
    }
  }

  static Pack indicator(const Mask& condition) {
    return Math::select(condition, Pack(1.0f), Pack(0.0f));
  }

  /// Lanes that the closed form leaves, one by one.
  static void take_care(const Pack& unsure, const Sym3<Pack>& scatter, const Vec3<Pack>& centre,
                        Vec3f* to) {
    if (!(unsure > Pack(0.0f)).any()) return;
    for (int lane = 0; lane < N; ++lane) {
      if (unsure.lane(lane) == 0.0f) continue;
      const Vec3f normal = careful_plane_normal({scatter.xx.lane(lane), scatter.xy.lane(lane),
                                                 scatter.xz.lane(lane), scatter.yy.lane(lane),
                                                 scatter.yz.lane(lane), scatter.zz.lane(lane)});
      const Vec3f point{centre.x.lane(lane), centre.y.lane(lane), centre.z.lane(lane)};
      to[lane] = oriented_towards(Vec3f{}, point, normal);
    }
  }

  const NormalsJob& job_;
  const int left_;
  const int top_;
  const int width_;
  const int height_;
  /// They fill every lane, because filling lanes anew for each group is slow.
  const Pack depth_gate_;
  const Pack relative_depth_gate_;
  Vec3<Pack> origin_;
  Row rows_[kRows];
  /// Moments and depth ranges: first those of columns of points, for two rows of windows, and then
  /// those of windows.
  alignas(64) float columns_[2][kMoments][kStride];
  alignas(64) float nearest_[2][kStride];
  alignas(64) float farthest_[2][kStride];
  alignas(64) float windows_[kMoments][kNormalsTileWidth];
  alignas(64) float window_nearest_[kNormalsTileWidth];
  alignas(64) float window_farthest_[kNormalsTileWidth];
  std::conditional_t<kCurved, CurvedSums<Pack, kRadius_px, kRows, kStride>, NoCurvedSums> curved_;
};

}  // namespace sextant::detail::normals
