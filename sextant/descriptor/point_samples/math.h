// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/point_samples/numbered.h"

// Points get a number by scale and voxel, are sorted by it, and those of each voxel are put into
// groups. Samples are first written where the voxel begins in that order, then moved together.

namespace sextant::detail::point_samples {

inline constexpr std::uint64_t kNoVoxel = ~std::uint64_t{0};  ///< of points that are left out

SEXTANT_HD inline bool usable(const Vec3f& point, const Vec3f& normal) {
  return is_finite(point) && is_finite(normal);
}

SEXTANT_HD inline Vec3f voxel_of(const Vec3f& p, float inverse_leaf) {
  return {std::floor(p.x * inverse_leaf), std::floor(p.y * inverse_leaf),
          std::floor(p.z * inverse_leaf)};
}

/// The voxels that hold points, both ends included.
struct VoxelBox {
  Vec3f low{INFINITY, INFINITY, INFINITY};
  Vec3f high{-INFINITY, -INFINITY, -INFINITY};
};
struct BoxOfPoint {
  const Vec3f* points;
  const Vec3f* normals;
  float inverse_leaf;
  SEXTANT_HD VoxelBox operator()(std::int64_t i) const {
    if (!usable(points[i], normals[i])) return {};
    const Vec3f voxel = voxel_of(points[i], inverse_leaf);
    return {voxel, voxel};
  }
};
struct JoinBoxes {
  SEXTANT_HD VoxelBox operator()(const VoxelBox& a, const VoxelBox& b) const {
    return {{min_of(a.low.x, b.low.x), min_of(a.low.y, b.low.y), min_of(a.low.z, b.low.z)},
            {max_of(a.high.x, b.high.x), max_of(a.high.y, b.high.y), max_of(a.high.z, b.high.z)}};
  }
};

/// How a voxel becomes a number: x, y and z from `low` on in as many bits each, below the scale.
struct VoxelNumbers {
  Vec3f low;
  int bits = 21;

  SEXTANT_HD std::uint64_t number(std::uint64_t scale, const Vec3f& voxel) const {
    const float most = static_cast<float>(std::int64_t{1} << bits);
    const Vec3f at = voxel - low;
    if (!(at.x >= 0 && at.y >= 0 && at.z >= 0 && at.x < most && at.y < most && at.z < most)) {
      return kNoVoxel;
    }
    return scale << 3 * bits | static_cast<std::uint64_t>(at.z) << 2 * bits |
           static_cast<std::uint64_t>(at.y) << bits | static_cast<std::uint64_t>(at.x);
  }
};

/// Those of scenes with many scales: no voxel of 4095 scales is kNoVoxel.
SEXTANT_HD inline VoxelNumbers scene_voxels() {
  constexpr float kLow = -static_cast<float>(1 << (kSceneBits - 1));
  return {{kLow, kLow, kLow}, kSceneBits};
}

/// Element s n + i is point i of n at scale s.
struct NumberPoint {
  const Vec3f* points;
  const Vec3f* normals;
  std::int64_t size;
  const SampleScale* scales;
  VoxelNumbers numbers;
  std::uint64_t* voxels;
  std::uint32_t* order;

  SEXTANT_HD void operator()(std::int64_t element) const {
    const std::int64_t s = element / size, i = element % size;
    const SampleScale scale = scales[s];
    const bool there = usable(points[i], normals[i]) && points[i].z <= scale.farthest_m;
    voxels[element] = there ? numbers.number(static_cast<std::uint64_t>(s),
                                             voxel_of(points[i], 1.0f / scale.leaf_m))
                            : kNoVoxel;
    order[element] = static_cast<std::uint32_t>(i);
  }
};

/// The points in the order of their voxels and what is found of them.
struct SortedPoints {
  const Vec3f* points;
  const Vec3f* normals;
  const std::uint64_t* voxels;
  const std::uint32_t* order;
  std::int64_t size;
  float least_cosine;      ///< of normals of one group
  std::int32_t* group_of;  ///< of each sorted point, in its voxel
  Vec3f* sample_points;    ///< group g of a voxel has place g from its first point on
  Vec3f* sample_normals;
  std::int32_t* sums;  ///< size + 1: whether the place has a sample, then how many lie before it
};

/// Finds the groups of the voxel that begins at a place; other places do nothing. A group is begun
/// by the first point that no earlier one has, and takes all others of these within the angle.
struct FindGroups {
  SortedPoints sorted;

  SEXTANT_HD void operator()(std::int64_t begin) const {
    const std::uint64_t* voxels = sorted.voxels;
    if (begin == sorted.size || voxels[begin] == kNoVoxel) {
      sorted.sums[begin] = 0;
      return;
    }
    if (begin > 0 && voxels[begin - 1] == voxels[begin]) return;
    std::int64_t end = begin;
    for (; end < sorted.size && voxels[end] == voxels[begin]; ++end) {
      sorted.group_of[end] = -1;
      sorted.sums[end] = 0;
    }
    std::int32_t groups = 0;
    for (std::int64_t first = begin; first < end; ++first) {
      if (sorted.group_of[first] >= 0) continue;
      take_group(first, end, begin + groups, groups);
      ++groups;
    }
  }

  SEXTANT_HD void take_group(std::int64_t first, std::int64_t end, std::int64_t place,
                             std::int32_t group) const {
    const Vec3f first_normal = sorted.normals[sorted.order[first]];
    Vec3f normal_sum{};
    Vec3d point_sum{};
    double members = 0;
    for (std::int64_t k = first; k < end; ++k) {
      const std::uint32_t i = sorted.order[k];
      if (sorted.group_of[k] >= 0) continue;
      if (k > first && dot(first_normal, sorted.normals[i]) < sorted.least_cosine) continue;
      sorted.group_of[k] = group;
      normal_sum += sorted.normals[i];
      point_sum += cast<double>(sorted.points[i]);
      ++members;
    }
    const Vec3f mean = cast<float>(point_sum / members);
    std::uint32_t nearest = sorted.order[first];
    float nearest_sq = INFINITY;
    for (std::int64_t k = first; k < end; ++k) {
      if (sorted.group_of[k] != group) continue;
      const float distance_sq = norm_sq(sorted.points[sorted.order[k]] - mean);
      if (!(distance_sq < nearest_sq)) continue;
      nearest_sq = distance_sq;
      nearest = sorted.order[k];
    }
    sorted.sample_points[place] = sorted.points[nearest];
    sorted.sample_normals[place] = norm_sq(normal_sum) > 0 ? normalized(normal_sum) : first_normal;
    sorted.sums[place] = 1;
  }
};

/// Moves the samples together; those that do not fit are left out.
struct MoveSample {
  SortedPoints sorted;
  Vec3f* points;
  Vec3f* normals;
  std::int64_t capacity;

  SEXTANT_HD void operator()(std::int64_t place) const {
    const std::int32_t to = sorted.sums[place];
    if (sorted.sums[place + 1] == to || to >= capacity) return;
    points[to] = sorted.sample_points[place];
    normals[to] = sorted.sample_normals[place];
  }
};

/// Finds where the samples of a scale begin.
struct FirstOfScale {
  SortedPoints sorted;
  int bits;
  std::int64_t capacity;
  std::int32_t* first;

  SEXTANT_HD void operator()(std::int64_t scale) const {
    const std::uint64_t number = static_cast<std::uint64_t>(scale) << 3 * bits;
    std::int64_t low = 0, high = sorted.size;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (sorted.voxels[middle] < number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    first[scale] = static_cast<std::int32_t>(min_of<std::int64_t>(sorted.sums[low], capacity));
  }
};

}  // namespace sextant::detail::point_samples
