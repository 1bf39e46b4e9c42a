// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "sextant/descriptor/point_samples/math.h"
#include "sextant/recognize/recognizer/cluster.h"
#include "sextant/recognize/recognizer/scene_math.h"

// One pixel, one vote and one cluster on the way to the poses of all objects that are refined.

namespace sextant::detail::recognizer {

/// A number that is smaller the larger the value is; -0 equals 0.
SEXTANT_HD inline std::uint32_t descending(float value) {
#if defined(__CUDA_ARCH__)
  const std::uint32_t bits = __float_as_uint(value + 0.0f);
#else
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
#endif
  return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

inline constexpr std::uint32_t kLastRank = 0xffffffffu;
SEXTANT_HD inline std::uint64_t rank_key(std::int64_t model, std::uint32_t rank) {
  return static_cast<std::uint64_t>(model) << 32 | rank;
}

/// The last i with first(i) <= element, of `count`.
template <class First>
SEXTANT_HD std::int32_t owner_of(std::int64_t element, std::int32_t count, const First& first) {
  std::int32_t low = 0, high = count;
  while (high - low > 1) {
    const std::int32_t middle = (low + high) / 2;
    (first(middle) <= element ? low : high) = middle;
  }
  return low;
}

/// The pixels of which an object takes every so many in rows and columns, counted through all
/// objects.
struct PixelGrid {
  std::int64_t first = 0;
  std::int32_t step = 1;
  std::int32_t columns = 1;
  float leaf_m = 0;
  float diameter_m = 0;
};
struct GridPixels {
  ProposingPixels pixels;
  const PixelGrid* grids;
  std::int32_t count;
  std::int64_t size;
  std::int32_t* before;  ///< size + 1: whether a pixel proposes, then how many do before it

  struct Place {
    std::int32_t model;
    int u, v;
  };
  SEXTANT_HD Place place(std::int64_t element) const {
    const std::int32_t m = owner_of(element, count, [&](std::int32_t i) { return grids[i].first; });
    const auto k = static_cast<std::int32_t>(element - grids[m].first);
    const std::int32_t row = k / grids[m].columns;
    return {m, (k - row * grids[m].columns) * grids[m].step, row * grids[m].step};
  }
};
struct MarkProposing {
  GridPixels grid;
  SEXTANT_HD void operator()(std::int64_t element) const {
    if (element == grid.size) {
      grid.before[element] = 0;
      return;
    }
    const GridPixels::Place at = grid.place(element);
    grid.before[element] = grid.pixels.has(at.u, at.v, grid.grids[at.model].diameter_m) ? 1 : 0;
  }
};
struct NumberProposing {
  GridPixels grid;
  std::uint64_t* voxels;
  std::uint32_t* order;
  SEXTANT_HD void operator()(std::int64_t element) const {
    const std::int32_t to = grid.before[element];
    if (grid.before[element + 1] == to) return;
    const GridPixels::Place at = grid.place(element);
    const Vec3f p = grid.pixels.frame.points(at.u, at.v);
    voxels[to] = point_samples::scene_voxels().number(
        static_cast<std::uint64_t>(at.model),
        point_samples::voxel_of(p, 1.0f / grid.grids[at.model].leaf_m));
    order[to] = static_cast<std::uint32_t>(at.v * grid.pixels.frame.camera.width + at.u);
  }
};

/// A pose that is to be compared with the frame.
struct JudgedPose {
  std::int32_t object = -1;  ///< -1 for none
  Rigid3f pose;
};

/// Ranks votes by object, then by their agreement with the frame; what is no pose comes last.
struct JudgeVote {
  static constexpr int kStep = kCoarseStep;  ///< of the samples
  FrameView frame;
  const ModelView* models;
  std::int32_t count;
  const std::int32_t* first_vote;
  const PoseVote* votes;
  std::uint64_t* keys;
  std::uint32_t* order;

  SEXTANT_HD JudgedPose pose(std::int64_t i) const {
    if (i >= first_vote[count] || votes[i].reference < 0) return {};
    const std::int32_t m = owner_of(i, count, [&](std::int32_t k) { return first_vote[k]; });
    const Rigid3f& pose = votes[i].scene_from_model;
    if (!((pose * models[m].centre).z > 0)) return {};
    return {m, pose};
  }
  SEXTANT_HD void write(std::int64_t i, std::int32_t object, float agreement) const {
    order[i] = static_cast<std::uint32_t>(i);
    keys[i] = object < 0 ? rank_key(count, kLastRank) : rank_key(object, descending(agreement));
  }
};
/// Finds where the votes of each object begin among sorted keys.
struct FirstOfModel {
  const std::uint64_t* keys;
  std::int64_t size;
  std::int32_t* first;
  SEXTANT_HD void operator()(std::int64_t m) const {
    std::int64_t low = 0, high = size;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (keys[middle] < rank_key(m, 0)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    first[m] = static_cast<std::int32_t>(low);
  }
};
/// Ranks the places of clusters by object, then by their leader's agreement by all samples.
struct JudgeLeader {
  static constexpr int kStep = 1;
  FrameView frame;
  const ModelView* models;
  const PoseVote* votes;
  Clusters clusters;
  std::uint64_t* keys;
  std::uint32_t* order;

  SEXTANT_HD JudgedPose pose(std::int64_t place) const {
    const auto m = static_cast<std::int32_t>(place / clusters.capacity);
    if (place % clusters.capacity >= clusters.counts[m]) return {};
    return {m, votes[clusters.leaders[place]].scene_from_model};
  }
  SEXTANT_HD void write(std::int64_t place, std::int32_t object, float agreement) const {
    order[place] = static_cast<std::uint32_t>(place);
    keys[place] =
        rank_key(place / clusters.capacity, object < 0 ? kLastRank : descending(agreement));
  }
};
template <class Judged>
void judge_cuda(const Context& context, std::int64_t count, const Judged& judged);

/// Ranks sorted places anew: the first `agreeing` of an object stay, the others follow by votes.
struct RankByVotes {
  Clusters clusters;
  std::int32_t agreeing;
  std::uint64_t* keys;
  const std::uint32_t* order;

  SEXTANT_HD void operator()(std::int64_t i) const {
    constexpr std::uint32_t kMostVotes = 0x7ffffffeu;
    const std::int64_t m = i / clusters.capacity;
    const auto rank = static_cast<std::int32_t>(i % clusters.capacity);
    std::uint32_t key = kLastRank;
    if (rank < min_of(agreeing, clusters.counts[m])) {
      key = static_cast<std::uint32_t>(rank);
    } else if (rank < clusters.counts[m]) {
      const float votes = clusters.votes[order[i]];
      key = kMostVotes + 0x80000000u - static_cast<std::uint32_t>(min_of(votes, 1e9f));
    }
    keys[i] = rank_key(m, key);
  }
};
/// Writes the poses that are refined: those given beforehand, then those of the first clusters.
struct GatherStart {
  const PoseVote* votes;
  Clusters clusters;
  const std::uint32_t* order;
  std::int32_t refined;
  const Rigid3f* given;
  const std::int32_t* first_given;
  std::int32_t slots;
  Rigid3f* starts;
  std::int32_t* counts;

  SEXTANT_HD void operator()(std::int64_t slot) const {
    const std::int64_t m = slot / slots;
    const auto k = static_cast<std::int32_t>(slot % slots);
    const std::int32_t before = first_given[m + 1] - first_given[m];
    const std::int32_t voted = min_of(refined, clusters.counts[m]);
    if (k == 0) counts[m] = before + voted;
    if (k < before) {
      starts[slot] = given[first_given[m] + k];
    } else if (k - before < voted) {
      const std::uint32_t place = order[m * clusters.capacity + k - before];
      starts[slot] = votes[clusters.leaders[place]].scene_from_model;
    }
  }
};

}  // namespace sextant::detail::recognizer
