// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/segment/math.h"
#include "sextant/surface/segment/region_math.h"
#include "sextant/surface/segment/union_find.h"

// The steps of segmentation, each a function of one point or one region, for either device.

namespace sextant::detail::segment {

/// Memory of one segmentation, as the steps see it. n points, at most `most` regions. After
/// `gather`, regions stand in the order of their roots, and the points of each in theirs.
struct SegmentState {
  std::int32_t n = 0;
  std::int32_t most = 0;
  std::int32_t slots = 0;  ///< room for slices of regions

  std::uint8_t* flags = nullptr;           ///< n; PointFlag
  float* area_m2 = nullptr;                ///< n; of a cloud's points; null for images
  std::int32_t* parent = nullptr;          ///< n; -1 for points that no region begins with
  std::int32_t* source = nullptr;          ///< n; the smooth point that a label comes from, or -1
  std::int32_t* source_before = nullptr;   ///< n; of the round before (CUDA); points left (CPU)
  std::int32_t* region = nullptr;          ///< n; of each point, or -1; after `gather`
  std::int32_t* region_of_root = nullptr;  ///< n
  std::int32_t* counts = nullptr;          ///< n; scratch
  std::int32_t* ranks = nullptr;           ///< n + 1; scratch; the last is the number of regions
  std::uint32_t* keys = nullptr;           ///< n; CUDA only
  std::uint32_t* order = nullptr;          ///< n; points, region by region
  std::int32_t* region_root = nullptr;     ///< most
  std::int32_t* region_first = nullptr;    ///< most + 1; into `order`
  std::int32_t* slot_region = nullptr;     ///< slots; -1 for none
  double* partial = nullptr;               ///< slots × kMostRegionSums
  std::int32_t* leader = nullptr;          ///< most; the forest of regions that are one plane
  RegionMoments* moments = nullptr;        ///< most
  RegionFit* fits = nullptr;               ///< most
  std::uint64_t* ranking = nullptr;        ///< most; CUDA only
  std::uint32_t* ranked = nullptr;         ///< most; regions, the largest first
  std::int32_t* numbers = nullptr;         ///< most + 1; label of each region

  SEXTANT_HD std::int32_t regions() const { return ranks[n]; }
  /// Whether a region is no part of another.
  SEXTANT_HD bool leads(std::int32_t r) const { return r < regions() && leader[r] == r; }
  SEXTANT_HD std::int32_t current_root(std::int64_t i) const {
    return source[i] >= 0 ? parent[source[i]] : -1;
  }
};

/// Points of a region whose sums are taken together.
inline constexpr std::int32_t kSliceLength = 2048;

/// Slices of region r lie one after the other from here, apart from those of all other regions.
SEXTANT_HD inline std::int32_t first_slot(const SegmentState& s, std::int32_t r) {
  return r + s.region_first[r] / kSliceLength;
}
SEXTANT_HD inline std::int32_t slices_of(const SegmentState& s, std::int32_t r) {
  const std::int32_t size = s.region_first[r + 1] - s.region_first[r];
  return (size + kSliceLength - 1) / kSliceLength;
}

/// Clouds: points that have all they need are their own parents, for now.
template <class Surface>
struct FindValid {
  Surface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    s.parent[i] = surface.is_valid(i) ? static_cast<std::int32_t>(i) : -1;
  }
};

template <class Surface>
struct FlagPoint {
  Surface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (surface.patch_of(i) >= 0) {
      s.flags[i] = kSmooth;
    } else if (!is_valid(i)) {
      s.flags[i] = kNoPoint;
    } else {
      s.flags[i] = surface.is_smooth(i, s.parent, s.area_m2) ? kSmooth : kOnCrease;
    }
  }

 private:
  SEXTANT_HD bool is_valid(std::int64_t i) const {
    if constexpr (Surface::kHasPatches) {
      return surface.is_valid(i);
    } else {
      return s.parent[i] >= 0;
    }
  }
};

/// Regions begin with the pixels of patches and with smooth points. In images, a smooth pixel
/// between two on a crease counts as a gap in that crease, which must not join what lies on either
/// side; and one beside a patch, on its surface, is the patch's rim, which grows back.
template <class Surface>
struct StartPoint {
  Surface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    bool inside = s.flags[i] == kSmooth;
    if constexpr (Surface::kHasPatches) {
      if (inside && surface.patch_of(i) < 0) {
        int creases = 0;
        surface.each_neighbour(i, [&](std::int32_t j) { creases += s.flags[j] == kOnCrease; });
        inside = creases < 2 && !surface.is_rim(static_cast<int>(i));
      }
    }
    s.parent[i] = inside ? static_cast<std::int32_t>(i) : -1;
  }
};

/// Whether two neighbours belong to one region: pixels of one patch do, and smooth points of none
/// that lie on each other's surface.
template <class Surface>
SEXTANT_HD bool belong_together(const Surface& surface, const SegmentState& s, std::int32_t i,
                                std::int32_t j) {
  if (load_parent(s.parent, j) < 0 || s.flags[i] != s.flags[j]) return false;
  const std::int32_t patch = surface.patch_of(i);
  return patch == surface.patch_of(j) && (patch >= 0 || surface.linked(i, j));
}

/// Patches go on beyond a missing pixel.
SEXTANT_HD inline void link_across_gaps(const PixelSurface& surface, const SegmentState& s,
                                        std::int32_t i) {
  if (surface.patch_of(i) < 0) return;
  surface.each_beyond_a_gap(i, [&](std::int32_t j) { join(s.parent, i, j); });
}

/// Links a pixel to the one below it where they belong together, once for every two runs of a patch
/// that touch: `counts` holds the first pixel of the run in its row that a pixel is in.
SEXTANT_HD inline void link_below(const PixelSurface& surface, const SegmentState& s,
                                  std::int32_t i) {
  const std::int32_t below = i + surface.width;
  if (surface.patch_of(i) >= 0) {
    const bool touches = below < s.n && surface.patch_of(below) == surface.patch_of(i);
    if (touches && (s.counts[i] == i || s.counts[below] == below)) join(s.parent, i, below);
    link_across_gaps(surface, s, i);
  } else if (below < s.n && belong_together(surface, s, i, below)) {
    join(s.parent, i, below);
  }
}

/// For clouds; pixels are linked by runs.
template <class Surface>
struct LinkPoint {
  Surface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t index) const {
    const std::int32_t i = static_cast<std::int32_t>(index);
    if (load_parent(s.parent, i) < 0) return;
    surface.each_pair(i, [&](std::int32_t j) {
      if (belong_together(surface, s, i, j)) join(s.parent, i, j);
    });
  }
};

/// A point without a region takes that of the neighbour whose tangent plane, at the smooth point
/// that the neighbour's own label came from, it is nearest to; of equal ones the lowest. Returns
/// that smooth point, -1 when there is none.
template <class Surface>
SEXTANT_HD std::int32_t nearest_source(const Surface& surface, const std::int32_t* source,
                                       std::int64_t i) {
  std::int32_t best = -1;
  float least = surface.attach_m(static_cast<int>(i));
  surface.each_neighbour(i, [&](std::int32_t j) {
    const std::int32_t from = source[j];
    if (from < 0) return;
    const float offset =
        std::abs(dot(surface.normals[from], surface.points[i] - surface.points[from]));
    if (offset < least || (offset == least && (best < 0 || from < best))) {
      least = offset;
      best = from;
    }
  });
  return best;
}

/// What a region's moments tell of it.
template <class Surface>
SEXTANT_HD RegionFit fit_of(const Surface& surface, const RegionMoments& moments,
                            const Vec3d& origin, bool with_curved) {
  const double depth_m = origin.z + moments.sum[2] / max_of(moments.count, 1.0);
  RegionFit fit = fit_from_moments(moments, origin, surface.tolerance_m(depth_m), with_curved);
  fit.most_deviation_m = surface.most_deviation_m(depth_m, moments.count);
  // A plane that leaves little more than noise is one, whatever its normals: see is_curved_model.
  if (!(kCurvedMargin * fit.plane_rms_m > surface.least_deviation_m(depth_m))) {
    fit.curved.has_sphere = fit.curved.has_cylinder = false;
  }
  return fit;
}

/// What is summed over a region's points: its moments, then the residuals of its models.
template <class Surface>
struct MomentsOfPoint {
  using Sums = RegionMoments;
  Surface surface;
  SegmentState s;

  SEXTANT_HD bool wanted(std::int32_t) const { return true; }
  static constexpr bool kWithParts = false;
  /// What `add` needs to know of a region: where its offsets begin.
  SEXTANT_HD Vec3d region(std::int32_t r) const {
    return cast<double>(surface.points[s.region_root[r]]);
  }
  SEXTANT_HD void add(const Vec3d& origin, std::int32_t i, RegionMoments& sums) const {
    sums.points += 1.0;
    sums.area_m2 += double{surface.point_area_m2(i, s.area_m2)};
    if (s.source[i] != i) return;
    // Pixels of a patch may lack a normal.
    const Vec3f normal = surface.normals[i];
    const Vec3d q = cast<double>(surface.points[i]) - origin;
    add_to_moments(sums, q, is_finite(normal) ? cast<double>(normal) : Vec3d{});
  }
  SEXTANT_HD void finish(std::int32_t r, const RegionMoments& sums) const {
    s.moments[r] = sums;
    s.fits[r] = fit_of(surface, sums, region(r), false);
  }
};

/// Distance of a point from the plane of its region, in tolerances at its depth.
template <class Surface>
SEXTANT_HD double plane_distance(const Surface& surface, const RegionFit& fit, std::int64_t i) {
  const Vec3d q = cast<double>(surface.points[i]) - fit.origin;
  return dot(fit.plane_normal, q - fit.mean) / surface.tolerance_m(double{surface.points[i].z});
}

/// Sums for regions that are no plane, over what lies near the plane so far with a normal like its
/// own. At first, everything that is not farther than the average is near; then less and less is.
template <class Surface>
struct SidesOfPlane {
  using Sums = PlaneSides;
  Surface surface;
  SegmentState s;
  double shrink;  ///< of the average distance that is near

  static constexpr bool kWithParts = false;
  SEXTANT_HD bool wanted(std::int32_t r) const {
    return s.fits[r].plane_rms_m > s.fits[r].most_deviation_m;
  }
  SEXTANT_HD RegionFit region(std::int32_t r) const { return s.fits[r]; }
  SEXTANT_HD void add(const RegionFit& fit, std::int32_t i, PlaneSides& sums) const {
    if (s.source[i] != i) return;
    const double distance = std::abs(plane_distance(surface, fit, i));
    const double limit = max_of(kFar, shrink * fit.plane_rms_m / fit.tolerance_m);
    const Vec3d normal = cast<double>(surface.normals[i]);
    if (!(distance <= limit)) {
      sums.far += 1.0;
      sums.far_sq += distance * distance;
    } else if (std::abs(dot(normal, fit.plane_normal)) >= kCosAlike) {
      add_to_plane_moments(sums.near, cast<double>(surface.points[i]) - fit.origin, normal);
    }
  }
  SEXTANT_HD void finish(std::int32_t r, const PlaneSides& sums) const {
    fit_to_near_side(s.fits[r], sums);
  }
};

/// Regions begin anew, and what leaked into a plane begins apart from it.
template <class Surface>
struct PartPoint {
  Surface surface;
  SegmentState s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (s.parent[i] < 0) return;
    s.parent[i] = static_cast<std::int32_t>(i);
    if (s.region[i] < 0) return;
    const RegionFit& fit = s.fits[s.region[i]];
    if (fit.parts && !(std::abs(plane_distance(surface, fit, i)) <= kFar)) s.flags[i] = kApart;
  }
};

template <class Surface>
struct ResidualsOfPoint {
  using Sums = RegionResiduals;
  static constexpr bool kWithParts = true;
  Surface surface;
  SegmentState s;

  SEXTANT_HD bool wanted(std::int32_t r) const {
    const CurvedModels& models = s.fits[s.leader[r]].curved;
    return models.has_sphere || models.has_cylinder;
  }
  SEXTANT_HD CurvedModels region(std::int32_t r) const { return s.fits[s.leader[r]].curved; }
  SEXTANT_HD void add(const CurvedModels& models, std::int32_t i, RegionResiduals& sums) const {
    if (s.source[i] != i) return;
    add_to_residuals(sums, models, cast<double>(surface.points[i]) - models.origin);
  }
  SEXTANT_HD void finish(std::int32_t r, const RegionResiduals& sums) const {
    improve(s.fits[r], sums);
  }
};

}  // namespace sextant::detail::segment
