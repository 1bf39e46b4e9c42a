// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "sextant/descriptor/tensor/set_math.h"
#include "sextant/match/tensors.h"

// What both devices compute alike. Files of CUDA that include this do not fuse products and sums.

namespace sextant::detail::tensors {

inline constexpr int kMaskWords = 16;
inline constexpr int kLeastCommonBins = 3;

/// Better matches come first.
SEXTANT_HD inline bool better(const TensorMatch& a, const TensorMatch& b) {
  if (a.model < 0 || b.model < 0) return a.model >= 0 && b.model < 0;
  if (a.correlation != b.correlation) return a.correlation > b.correlation;
  return a.model != b.model ? a.model < b.model : a.flipped < b.flipped;
}

/// Puts a match into a sorted list of `size`, whose last element falls out.
SEXTANT_HD inline void insert(TensorMatch* list, int size, const TensorMatch& fresh) {
  if (!better(fresh, list[size - 1])) return;
  int place = size - 1;
  for (; place > 0 && better(fresh, list[place - 1]); --place) list[place] = list[place - 1];
  list[place] = fresh;
}

/// An area as a whole number of 2⁻²⁰ faces of a bin, which it is a multiple of. More than 128 faces
/// count as 128, so that no sum overflows; a surface would have to pass a bin that often.
SEXTANT_HD inline std::uint32_t fixed_area(float area) {
  if (!(area > 0.0f)) return 0;
  return static_cast<std::uint32_t>((area < 128.0f ? area : 128.0f) * 1048576.0f);
}

__extension__ typedef __int128 Wide;

/// The sums of a correlation, exact in integers.
struct CorrelationSums {
  std::int32_t n = 0;
  std::uint64_t p = 0, q = 0, pp = 0, qq = 0, pq = 0;

  SEXTANT_HD void add(std::uint32_t model, std::uint32_t scene) {
    ++n;
    p += model;
    q += scene;
    pp += std::uint64_t{model} * model;
    qq += std::uint64_t{scene} * scene;
    pq += std::uint64_t{model} * scene;
  }
  /// NaN where there is none.
  SEXTANT_HD float correlation() const {
    if (n < kLeastCommonBins) return NAN;
    // Up to 2⁷⁴, and 0 where all numbers are the same.
    const double spread_p = static_cast<double>(Wide{n} * pp - Wide{p} * p);
    const double spread_q = static_cast<double>(Wide{n} * qq - Wide{q} * q);
    if (!(spread_p > 0.0) || !(spread_q > 0.0)) return NAN;
    const double common = static_cast<double>(Wide{n} * pq - Wide{p} * q);
    return static_cast<float>(common / (std::sqrt(spread_p) * std::sqrt(spread_q)));
  }
};

/// The cosine of two tensors; NaN where one of them is empty.
SEXTANT_HD inline float cosine_of(std::uint64_t pq, std::uint64_t pp, std::uint64_t qq) {
  if (pp == 0 || qq == 0) return NAN;
  return static_cast<float>(static_cast<double>(pq) / (std::sqrt(static_cast<double>(pp)) *
                                                       std::sqrt(static_cast<double>(qq))));
}

/// The share of common bins; 0 where both are empty.
SEXTANT_HD inline float overlap_of(int common, int model_bins, int scene_bins) {
  const int all = model_bins + scene_bins - common;
  return all > 0 ? static_cast<float>(common) / static_cast<float>(all) : 0.0f;
}

/// The first place whose angle is at least `angle`, or, with kAfter, more than it.
template <bool kAfter>
SEXTANT_HD std::int64_t place_of(const float* angles_rad, std::int64_t size, float angle) {
  std::int64_t low = 0;
  std::int64_t high = size;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    const bool before = kAfter ? angles_rad[middle] <= angle : angles_rad[middle] < angle;
    if (before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Element i: where tensor i of the set belongs, before sorting.
struct ListAngles {
  const TensorFrame* frames;
  const std::int32_t* count;
  float* angles_rad;
  std::uint32_t* order;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const float angle = i < *count ? frames[i].angle_rad : NAN;
    angles_rad[i] = angle >= 0.0f ? angle : NAN;  // without the sign bit, so that it is last
    order[i] = static_cast<std::uint32_t>(i);
  }
};

/// Element i: what matching needs of the tensor at place i.
struct ArrangeTensor {
  const std::uint32_t* order;
  const TensorMask* masks;
  const std::int32_t* sizes;
  const std::int64_t* first;
  TensorMask* to_masks;
  std::int32_t* to_sizes;
  std::int64_t* to_first;
  SEXTANT_HD void operator()(std::int64_t i) const {
    to_masks[i] = masks[order[i]];
    to_sizes[i] = sizes[order[i]];
    to_first[i] = first[order[i]];
  }
};

/// The scene arranged for matching: all bins of each tensor and its mask, as it is and flipped. Of
/// tensors behind the count nothing is written.
struct SceneTensors {
  std::int64_t capacity;
  int bins;
  const std::int32_t* count;
  const TensorFrame* frames;
  const std::int32_t* sizes;
  std::uint32_t* areas;     ///< [tensor][flipped][bins³]
  TensorMask* masks;        ///< [tensor][flipped]
  std::uint64_t* norms_sq;  ///< [tensor]
  std::uint32_t* blocks;    ///< [tensor][flipped][word]; see TensorIndex

  SEXTANT_HD int all_bins() const { return bins * bins * bins; }
};

/// Element i becomes a whole number.
struct FixArea {
  const float* values;
  std::uint32_t* areas;
  SEXTANT_HD void operator()(std::int64_t i) const { areas[i] = fixed_area(values[i]); }
};

/// What of the library matching reads.
struct LibraryTensors {
  std::int64_t size;
  const std::uint16_t* indices;
  const std::uint32_t* areas;
  const std::uint32_t* order;
  const float* angles_rad;
  const TensorMask* masks;
  const std::int32_t* sizes;
  const std::int64_t* first;
  const std::uint64_t* norms_sq;
  const std::uint32_t* blocks;
};

struct MatchJob {
  SceneTensors scene;
  LibraryTensors library;
  TensorMatchOptions options;
  TensorMatch* matches;  ///< [scene][k]
};

void correlate_cpu(const Context& context, const MatchJob& job, Workspace& workspace);
void correlate_cuda(const Context& context, const MatchJob& job, Workspace& workspace);
void arrange_scene_cpu(const Context& context, const tensor::TensorSource& from,
                       const SceneTensors& to);
void arrange_scene_cuda(const Context& context, const tensor::TensorSource& from,
                        const SceneTensors& to);
void match_cosines_cpu(const Context& context, const MatchJob& job, Workspace& workspace);
void match_cosines_cuda(const Context& context, const MatchJob& job, Workspace& workspace);

}  // namespace sextant::detail::tensors
