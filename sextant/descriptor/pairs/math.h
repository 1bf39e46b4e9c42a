// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfloat>

#include "sextant/core/random.h"
#include "sextant/descriptor/pairs.h"
#include "sextant/geometry/neighbour_walk.h"

namespace sextant::detail::pairs {

inline constexpr std::int32_t kNobody = INT32_MAX;
/// The product of two normals is less only where one of them is infinite or no unit vector at all.
inline constexpr float kLeastCosine = -2.0f;

/// What a pair must satisfy. The cosine is taken on the host, so that all devices have its bits.
struct PairLimits {
  float least_resolutions = 0.0f;
  float most_resolutions = 0.0f;
  float cos_angle = 0.0f;
};

struct PairTest {
  float least_sq = 0.0f;
  float most_sq = 0.0f;
  float cos_angle = 0.0f;

  /// A point is not its own partner, nor is one in the same place. NaN passes nothing, nor does an
  /// infinite distance, however large the limit.
  SEXTANT_HD PairTest(const PairLimits& limits, float resolution_m) : cos_angle(limits.cos_angle) {
    const float least_m = limits.least_resolutions * resolution_m;
    const float most_m = limits.most_resolutions * resolution_m;
    least_sq = max_of(least_m * least_m, FLT_MIN);
    most_sq = min_of(most_m * most_m, FLT_MAX);
  }
};

/// The nearest partners so far, by distance and then by index. Files that use it on CUDA are
/// compiled without fused multiply-add.
struct Partners {
  float distance_sq[kPartnersPerPoint];
  std::int32_t index[kPartnersPerPoint];

  SEXTANT_HD explicit Partners(const PairTest& test) {
    for (int k = 0; k < kPartnersPerPoint; ++k) {
      distance_sq[k] = test.most_sq;
      index[k] = kNobody;
    }
  }
  SEXTANT_HD static bool before(float d, std::int32_t j, float other_d, std::int32_t other_j) {
    return d < other_d || (d == other_d && j < other_j);
  }
  SEXTANT_HD void insert(float d, std::int32_t j) {
    if (!before(d, j, distance_sq[2], index[2])) return;
    distance_sq[2] = d;
    index[2] = j;
    for (int k = 2; k > 0; --k) {
      if (!before(distance_sq[k], index[k], distance_sq[k - 1], index[k - 1])) break;
      const float nearer = distance_sq[k];
      const std::int32_t nearer_index = index[k];
      distance_sq[k] = distance_sq[k - 1];
      index[k] = index[k - 1];
      distance_sq[k - 1] = nearer;
      index[k - 1] = nearer_index;
    }
  }
  /// Offers candidate j at q with normal m to point p with normal n.
  SEXTANT_HD void offer(const PairTest& test, const Vec3f& p, const Vec3f& n, const Vec3f& q,
                        const Vec3f& m, std::int32_t j) {
    const float d = squared_distance(p, q);
    if (!(d >= test.least_sq && d <= distance_sq[2])) return;
    const float cosine = dot(n, m);
    if (cosine < test.cos_angle && cosine >= kLeastCosine) insert(d, j);
  }
  SEXTANT_HD void store(std::int32_t* to) const {
    for (int k = 0; k < kPartnersPerPoint; ++k) to[k] = index[k] == kNobody ? -1 : index[k];
  }
};

/// The points that look for partners: all, or one drawn from each of `samples` equal runs.
struct Lookers {
  std::int64_t points = 0;
  std::int64_t samples = 0;  ///< equal to `points` when all look
  std::uint64_t seed = 0;

  SEXTANT_HD std::int64_t first_of_run(std::int64_t row) const {
    return (row * points + samples - 1) / samples;
  }
  SEXTANT_HD std::int64_t point_of(std::int64_t row) const {
    if (samples == points) return row;
    const std::int64_t first = first_of_run(row);
    const auto length = static_cast<std::uint32_t>(first_of_run(row + 1) - first);
    return first + Random{seed, static_cast<std::uint64_t>(row)}.below(length, 0);
  }
  /// -1 for a point that does not look.
  SEXTANT_HD std::int64_t row_of(std::int64_t point) const {
    if (samples == points) return point;
    const std::int64_t row = point * samples / points;
    return point_of(row) == point ? row : -1;
  }
};

struct PatchBounds;

/// The search in an organised cloud.
struct PairsJob {
  ImageView<const Vec3f> points;
  ImageView<const Vec3f> normals;
  const SurfaceStatistics* statistics = nullptr;
  PairLimits limits;
  int window_px = 0;
  Lookers lookers;
  std::int32_t* partners = nullptr;
  PatchBounds* patches = nullptr;  ///< room for those of the image, where CUDA searches every pixel
};

/// Offers those candidates of the window around (u, v) that are in its columns first, first + step,
/// … The lanes of a warp share the columns of a window.
SEXTANT_HD inline void search_window(const PairsJob& job, const PairTest& test, int u, int v,
                                     int first, int step, Partners& partners) {
  const Vec3f p = job.points(u, v);
  const Vec3f n = job.normals(u, v);
  const int right = min_of(u + job.window_px, job.points.width - 1);
  const int bottom = min_of(v + job.window_px, job.points.height - 1);
  for (int row = max_of(v - job.window_px, 0); row <= bottom; ++row) {
    const Vec3f* points = job.points.row(row);
    const Vec3f* normals = job.normals.row(row);
    for (int column = max_of(u - job.window_px, 0) + first; column <= right; column += step) {
      partners.offer(test, p, n, points[column], normals[column], row * job.points.width + column);
    }
  }
}

/// The list of pairs that the partners make: counts them by the row of the point that looked, and
/// writes them where the sums of the counts say.
struct PairList {
  Lookers lookers;
  std::int32_t* partners = nullptr;  ///< three for every point that looks, -1 where there are fewer
  std::int32_t* first = nullptr;     ///< a count for each row and 0, then their sums
  PointPair* pairs = nullptr;
  std::int32_t* count = nullptr;
  std::int64_t capacity = 0;

  /// Of two points that found each other the lower one lists the pair.
  SEXTANT_HD bool lists(std::int64_t point, std::int32_t partner) const {
    if (partner < 0) return false;
    if (point < partner) return true;
    const std::int64_t row = lookers.row_of(partner);
    if (row < 0) return true;
    for (int k = 0; k < kPartnersPerPoint; ++k) {
      if (partners[row * kPartnersPerPoint + k] == point) return false;
    }
    return true;
  }
  SEXTANT_HD void count_row(std::int64_t row) const {
    int listed = 0;
    if (row < lookers.samples) {
      const std::int64_t point = lookers.point_of(row);
      for (int k = 0; k < kPartnersPerPoint; ++k) {
        listed += lists(point, partners[row * kPartnersPerPoint + k]) ? 1 : 0;
      }
    }
    first[row] = listed;
  }
  SEXTANT_HD void write_row(std::int64_t row) const {
    if (row == lookers.samples) {
      *count = static_cast<std::int32_t>(min_of<std::int64_t>(first[row], capacity));
      return;
    }
    std::int64_t to = first[row];
    if (to == first[row + 1]) return;
    const auto point = static_cast<std::int32_t>(lookers.point_of(row));
    for (int k = 0; k < kPartnersPerPoint; ++k) {
      const std::int32_t partner = partners[row * kPartnersPerPoint + k];
      if (!lists(point, partner)) continue;
      if (to < capacity) pairs[to] = {min_of(point, partner), max_of(point, partner)};
      ++to;
    }
  }
};

struct CountListed {
  PairList list;
  SEXTANT_HD void operator()(std::int64_t row) const { list.count_row(row); }
};
struct WriteListed {
  PairList list;
  SEXTANT_HD void operator()(std::int64_t row) const { list.write_row(row); }
};

/// The place of a pair in a random order, made of its points and the seed alone. Each step can be
/// undone, so that different pairs have different keys. The last key of all stands for no pair; a
/// pair that has it is last, too.
SEXTANT_HD inline std::uint64_t draw_key(const PointPair& pair, std::uint64_t seed) {
  const auto mixed = [](std::uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  };
  const std::uint64_t points =
      std::uint64_t{static_cast<std::uint32_t>(pair.p)} << 32 | static_cast<std::uint32_t>(pair.q);
  return mixed(mixed(seed + 0x9e3779b97f4a7c15u) + points);
}

/// Element i: the key of pair i.
struct KeyPair {
  View<const PointPair> pairs;
  const std::int32_t* count = nullptr;
  std::uint64_t seed = 0;
  std::uint64_t* keys = nullptr;
  std::uint32_t* order = nullptr;

  SEXTANT_HD void operator()(std::int64_t i) const {
    keys[i] = i < *count ? draw_key(pairs[i], seed) : UINT64_MAX;
    order[i] = static_cast<std::uint32_t>(i);
  }
};

/// Element i: pair i of those that were sorted by their keys.
struct TakePair {
  View<const PointPair> pairs;
  const std::int32_t* count = nullptr;
  const std::uint32_t* order = nullptr;
  View<PointPair> selected;
  std::int32_t* selected_count = nullptr;

  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int64_t there = clamp<std::int64_t>(*count, 0, pairs.size);
    const std::int64_t chosen = min_of(there, selected.size);
    if (i == selected.size) *selected_count = static_cast<std::int32_t>(chosen);
    if (i < chosen) selected[i] = pairs[order[i]];
  }
};

/// The partners of every point of the image, on the CPU.
void find_partners_dense(const Context& context, const PairsJob& job);

void find_partners_cuda(const Context& context, const PairsJob& job);
void find_partners_dense_cuda(const Context& context, const PairsJob& job);

}  // namespace sextant::detail::pairs
