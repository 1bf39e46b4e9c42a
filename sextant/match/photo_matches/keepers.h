// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "sextant/match/descriptors/host_search.h"
#include "sextant/match/photo_matches/places.h"
#include "sextant/match/photo_matches/rule.h"

// What the search on the host keeps for a chunk of features (keepers, see host_search.h).

namespace sextant::detail::photo_matches {

using descriptors::ByteRows;
using descriptors::kQueriesPerChunk;

/// What matches, before it is written out.
struct Accepted {
  std::int64_t query;
  std::int32_t object;
  std::int32_t row;
  std::int32_t distance_sq;
  std::int32_t to_beat_sq;
};

struct MatchJob {
  ByteRows rows;
  const std::int32_t* twins;    ///< find_twins
  const std::int32_t* objects;  ///< of which object a row is
  std::int64_t object_count;
  RatioTest test;
  int k;
};

/// The two nearest points of each object.
class PairKeeper : public descriptors::Limits<ByteRows> {
 public:
  PairKeeper(const MatchJob& job, std::int64_t first_query, std::int64_t count,
             std::vector<Accepted>& accepted)
      : Limits(job.rows, first_query, count),
        job_(job),
        first_query_(first_query),
        accepted_(accepted) {}

  void begin_segment(std::int64_t) {
    reset_limits(job_.rows);
    const NearPoint nothing{ByteRows::kFarthest, std::numeric_limits<std::int32_t>::max()};
    for (int q = 0; q < queries; ++q) pairs_[q][0] = pairs_[q][1] = nothing;
  }
  void take(int q, std::int32_t row, std::int32_t key) {
    NearPoint* pair = pairs_[q];
    const NearPoint fresh{key, row};
    const std::int32_t twin = job_.twins[row];
    if (twin != kAlone && pair[0].distance < ByteRows::kFarthest &&
        job_.twins[pair[0].index] == twin) {
      if (fresh < pair[0]) pair[0] = fresh;
      return;
    }
    // A twin of the second that is nearer drives it out whichever place it takes.
    descriptors::insert(pair, 2, fresh);
    limits[q] = pair[1].distance;
  }
  void end_segment(std::int64_t object) {
    for (int q = 0; q < queries; ++q) {
      const NearPoint* pair = pairs_[q];
      if (pair[1].distance == ByteRows::kFarthest) continue;
      const auto norm_sq = static_cast<std::int32_t>(norms_sq[q]);
      const std::int32_t distance_sq = norm_sq + pair[0].distance;
      const std::int32_t to_beat_sq = norm_sq + pair[1].distance;
      if (!job_.test.passes(distance_sq, to_beat_sq)) continue;
      accepted_.push_back({first_query_ + q, static_cast<std::int32_t>(object), pair[0].index,
                           distance_sq, to_beat_sq});
    }
  }

 private:
  const MatchJob& job_;
  std::int64_t first_query_;
  std::vector<Accepted>& accepted_;
  NearPoint pairs_[kQueriesPerChunk][2];
};

/// The k nearest points of all objects. They are gathered without order; whenever a feature has 3 k
/// of them, all but the nearest k go.
class PoolKeeper : public descriptors::Limits<ByteRows> {
 public:
  PoolKeeper(const MatchJob& job, std::int64_t first_query, std::int64_t count,
             std::vector<Accepted>& accepted)
      : Limits(job.rows, first_query, count),
        job_(job),
        first_query_(first_query),
        accepted_(accepted),
        pools_(static_cast<std::size_t>(count)),
        seen_(static_cast<std::size_t>(job.object_count), -1) {
    reset_limits(job.rows);
    for (std::vector<NearPoint>& pool : pools_) pool.reserve(3 * k());
  }

  void begin_segment(std::int64_t) {}
  void take(int q, std::int32_t row, std::int32_t key) {
    std::vector<NearPoint>& pool = pools_[static_cast<std::size_t>(q)];
    pool.push_back({key, row});
    if (pool.size() < 3 * k()) return;
    keep_nearest(pool);
    // Rows to come have larger indices, so that equally near ones are farther.
    if (pool.size() == k()) limits[q] = pool.back().distance;
  }
  void end_segment(std::int64_t object) {
    if (object + 1 < job_.object_count) return;
    for (int q = 0; q < queries; ++q) write(q);
  }

 private:
  std::size_t k() const { return static_cast<std::size_t>(job_.k); }

  /// Drops all but the k nearest points, the last of which is then the farthest.
  void keep_nearest(std::vector<NearPoint>& pool) const {
    drop_twins(pool);
    if (pool.size() < k()) return;
    std::nth_element(pool.begin(), pool.begin() + job_.k - 1, pool.end());
    pool.resize(k());
  }
  /// Leaves the nearest row of each point.
  void drop_twins(std::vector<NearPoint>& pool) const {
    const auto twins = std::partition(pool.begin(), pool.end(), [this](const NearPoint& point) {
      return job_.twins[point.index] == kAlone;
    });
    if (twins == pool.end()) return;
    const auto twin_of = [this](const NearPoint& point) { return job_.twins[point.index]; };
    std::sort(twins, pool.end(), [&](const NearPoint& a, const NearPoint& b) {
      return twin_of(a) != twin_of(b) ? twin_of(a) < twin_of(b) : a < b;
    });
    pool.erase(std::unique(twins, pool.end(),
                           [&](const NearPoint& a, const NearPoint& b) {
                             return twin_of(a) == twin_of(b);
                           }),
               pool.end());
  }
  __attribute__((noinline)) void write(int q) {
    std::vector<NearPoint>& pool = pools_[static_cast<std::size_t>(q)];
    keep_nearest(pool);
    std::sort(pool.begin(), pool.end());
    const auto norm_sq = static_cast<std::int32_t>(norms_sq[q]);
    for (NearPoint& point : pool) point.distance += norm_sq;
    const auto object_of = [this](std::int32_t row) { return job_.objects[row]; };
    match_objects_of(
        pool, job_.test, seen_, object_of, [&](const NearPoint& point, std::int32_t to_beat_sq) {
          accepted_.push_back(
              {first_query_ + q, object_of(point.index), point.index, point.distance, to_beat_sq});
        });
  }

  const MatchJob& job_;
  std::int64_t first_query_;
  std::vector<Accepted>& accepted_;
  std::vector<std::vector<NearPoint>> pools_;
  std::vector<std::int32_t> seen_;  ///< for match_objects_of
};

}  // namespace sextant::detail::photo_matches
