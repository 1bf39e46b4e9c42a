// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/steps.h"

// The steps from sums over slices of regions to regions and labels, for either device.

namespace sextant::detail::segment {

/// Which points of `order` a slot covers.
struct SliceRange {
  std::int32_t begin, end;
};
SEXTANT_HD inline SliceRange slice_range(const SegmentState& s, std::int32_t slot, std::int32_t r) {
  const std::int32_t begin = s.region_first[r] + (slot - first_slot(s, r)) * kSliceLength;
  return {begin, min_of(begin + kSliceLength, s.region_first[r + 1])};
}

/// Adds up the slices of a region and of its parts, in their order.
template <class Step>
struct FinishRegion {
  static constexpr int kSums = sizeof(typename Step::Sums) / sizeof(double);
  Step step;
  SegmentState s;

  SEXTANT_HD bool wanted(std::int32_t r) const {
    return r < s.regions() && (!Step::kWithParts || s.leads(r)) && step.wanted(r);
  }
  /// Calls add(sums of a slice) for each slice, one after the other.
  template <class Add>
  SEXTANT_HD void each_slice(std::int32_t r, const Add& add) const {
    const std::int32_t end = Step::kWithParts ? s.regions() : r + 1;
    for (std::int32_t part = r; part < end; ++part) {
      if (part != r && s.leader[part] != r) continue;
      const std::int32_t slices = slices_of(s, part);
      const double* from = s.partial + std::int64_t{first_slot(s, part)} * kMostRegionSums;
      for (std::int32_t k = 0; k < slices; ++k) add(from + std::int64_t{k} * kMostRegionSums);
    }
  }
  SEXTANT_HD void operator()(std::int64_t region) const {
    const std::int32_t r = static_cast<std::int32_t>(region);
    if (!wanted(r)) return;
    typename Step::Sums total;
    double* sums = reinterpret_cast<double*>(&total);
    each_slice(r, [&](const double* from) {
      for (int v = 0; v < kSums; ++v) sums[v] += from[v];
    });
    step.finish(r, total);
  }
};

struct LeadRegion {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t r) const { s.leader[r] = static_cast<std::int32_t>(r); }
};

/// Joins neighbouring regions that are parts of one plane.
template <class Surface>
struct MergePoint {
  Surface surface;
  SegmentState s;
  double cos_angle;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (s.region[i] < 0) return;
    surface.each_pair(i, [&](std::int32_t j) { (*this)(static_cast<std::int32_t>(i), j); });
  }
  /// For two neighbours.
  SEXTANT_HD void operator()(std::int32_t i, std::int32_t j) const {
    const std::int32_t own = s.region[i], other = s.region[j];
    if (own < 0 || other < 0 || other == own) return;
    const RegionFit& a = s.fits[own];
    const RegionFit& b = s.fits[other];
    const Vec3d apart = cast<double>(surface.points[j] - surface.points[i]);
    const double limit_m = double{surface.attach_m(i)};
    if (!(std::abs(dot(a.plane_normal, apart)) <= limit_m)) return;
    if (is_same_plane(a, b, cos_angle)) join(s.leader, own, other);
  }
};

struct FlattenLeader {
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t region) const {
    const std::int32_t r = static_cast<std::int32_t>(region);
    if (r < s.regions()) store_parent(s.leader, r, root_of(s.leader, r));
  }
};

/// What a region and its parts are together.
template <class Surface>
struct CombineRegion {
  Surface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t region) const {
    const std::int32_t r = static_cast<std::int32_t>(region);
    if (!s.leads(r)) return;
    const Vec3d origin = origin_of(r);
    RegionMoments total = s.moments[r];
    for (std::int32_t part = r + 1; part < s.regions(); ++part) {
      if (s.leader[part] == r) add_moved(total, s.moments[part], origin_of(part) - origin);
    }
    s.fits[r] = fit_of(surface, total, origin, true);
  }

 private:
  SEXTANT_HD Vec3d origin_of(std::int32_t r) const {
    return cast<double>(surface.points[s.region_root[r]]);
  }
};

/// Sorts large regions first, of equal ones the lower root, and what is part of another last.
inline constexpr std::uint64_t kNotRanked = ~std::uint64_t{0};
SEXTANT_HD inline std::uint64_t ranking_of(const SegmentState& s, std::int32_t r) {
  if (!s.leads(r)) return kNotRanked;
  const std::uint32_t size = static_cast<std::uint32_t>(s.fits[r].points);
  return std::uint64_t{~size} << 32 | static_cast<std::uint32_t>(s.region_root[r]);
}

/// `ranked` and `ranking` are in order.
struct WriteRegion {
  SegmentState s;
  View<SurfaceRegion> regions;
  View<std::int32_t> count;
  SEXTANT_HD void operator()(std::int64_t place) const {
    if (place == 0 && s.regions() == 0) count[0] = 0;
    if (place >= s.regions() || s.ranking[place] == kNotRanked) return;
    const std::int32_t number = static_cast<std::int32_t>(place) + 1;
    if (number == s.regions() || s.ranking[number] == kNotRanked) count[0] = number;
    const std::int32_t r = static_cast<std::int32_t>(s.ranked[place]);
    s.numbers[r] = number;
    regions[place] = finished_region(s.fits[r], s.region_root[r]);
  }
};

/// Labels row by row; a cloud is one row.
struct WriteLabel {
  SegmentState s;
  ImageView<std::int32_t> labels;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const std::int32_t r = s.region[i];
    const std::int32_t label = r >= 0 ? s.numbers[s.leader[r]] : 0;
    if (labels.stride == labels.width) {
      labels.data[i] = label;
    } else {
      const std::int64_t v = i / labels.width;
      labels(static_cast<int>(i - v * labels.width), static_cast<int>(v)) = label;
    }
  }
};

}  // namespace sextant::detail::segment
