// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"
#include "sextant/surface/segment.h"

namespace sextant {

struct CloudSegmentOptions {
  /// Points this near may be linked; 0 takes what makes some 20 neighbours in different places.
  float radius_m = 0.0f;
  float link_angle_rad = 0.17453293f;  ///< largest angle between the normals of linked points (10°)
  float link_offset = 0.3f;  ///< largest offset from the tangent planes, as a share of the radius
  /// A point whose normal differs from its neighbours' by more, as a root mean square, lies on a
  /// crease: 0.2 rad is a sphere of 3.5 radii. With saliencies, plate and ball points do instead.
  float normal_spread_rad = 0.2f;
  float fit_tolerance = 0.15f;    ///< deviation from plane, sphere or cylinder, share of the radius
  int min_points = 50;            ///< smaller regions are none
  int attach_rounds = 2;          ///< regions grow that many radii over the creases between them
  float merge_angle_rad = 0.26f;  ///< as in SegmentOptions

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("radius_m", self.radius_m, "points this near may be linked; 0 takes it from the density",
          Range{0, 1e6});
    visit("link_angle_rad", self.link_angle_rad,
          "largest angle between the normals of linked points (10 degrees)", Range{0.001, 3.15});
    visit("link_offset", self.link_offset,
          "largest offset from the tangent planes, as a share of the radius", Range{0.001, 1});
    visit("normal_spread_rad", self.normal_spread_rad,
          "largest deviation of a normal from its neighbours' (11 degrees)", Range{0.001, 3.15});
    visit("fit_tolerance", self.fit_tolerance,
          "deviation from plane, sphere or cylinder, as a share of the radius", Range{0, 10});
    visit("min_points", self.min_points, "smaller regions are dropped", Range{4, 1e9});
    visit("attach_rounds", self.attach_rounds, "radii that regions grow over creases",
          Range{0, 16});
    visit("merge_angle_rad", self.merge_angle_rad,
          "neighbouring planes within this angle and the tolerance are joined (15 degrees)",
          Range{0, 1.5});
  }
};

/// What tensor voting says of each point; all empty, or one value a point.
struct PointSaliency {
  View<const float> stick, plate, ball;
};

struct CloudSegmentation {
  Buffer<std::int32_t> labels;         ///< as in Segmentation, one a point
  std::vector<SurfaceRegion> regions;  ///< as in Segmentation
  float radius_m = 0;                  ///< that was used
};

/// Cuts points in any order into smooth regions and says what each is, as `segment` does for
/// images. Two points are linked when they lie within the radius, on no crease, their normals
/// differ by at most link_angle_rad and each lies within link_offset of the other's tangent plane.
/// With saliencies, only points whose stick saliency is the largest of the three are linked, and
/// edges (plates) grow back. The sign of a normal does not matter. The area is the sum of each
/// point's share of the disc of its neighbours: right inside a surface, too large along its rim.
///
/// Copies of points, and points far off all others, change nothing about the rest.
///
/// Accuracy, sameness and CUDA as `segment`; the radius from the density is the same everywhere.
/// Cost: mostly the search for neighbours; see docs/benchmarks.md. Waits for the device to learn
/// the radius, when it is 0, and how many regions there are.
CloudSegmentation segment_cloud(const Context& context, View<const Vec3f> points,
                                View<const Vec3f> normals, const PointSaliency& saliency = {},
                                const CloudSegmentOptions& options = {});

/// All on the device, without waiting; radius_m must be given, and the grid be built from the
/// points, best with cells of the radius. The sizes of labels, regions and count are as in
/// segment_into, and so is what it takes of the workspace.
void segment_cloud_into(const Context& context, const NeighbourGrid& grid, View<const Vec3f> points,
                        View<const Vec3f> normals, const PointSaliency& saliency,
                        const CloudSegmentOptions& options, View<std::int32_t> labels,
                        View<SurfaceRegion> regions, View<std::int32_t> count,
                        Workspace& workspace);

}  // namespace sextant
