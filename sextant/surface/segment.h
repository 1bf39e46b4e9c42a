// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/vec.h"
#include "sextant/core/workspace.h"

namespace sextant {

/// What a region's points lie on.
enum class SurfaceKind : std::int32_t { kPlane, kSphere, kCylinder, kFreeForm };
inline constexpr Choice<SurfaceKind> kSurfaceKinds[] = {{"plane", SurfaceKind::kPlane},
                                                        {"sphere", SurfaceKind::kSphere},
                                                        {"cylinder", SurfaceKind::kCylinder},
                                                        {"free form", SurfaceKind::kFreeForm}};

/// Lengths are in pixels, at the depth they are seen at, and in multiples of the sensor's noise:
/// nothing is to be set for one distance or another.
struct SegmentOptions {
  int reach_px = 3;  ///< the normals this far on either side of a pixel are compared
  /// The largest angle between them on one surface that faces the camera. Over 6 px, 0.4 rad is
  /// a sphere of 15 px radius: what is bent more sharply is a crease.
  float crease_angle_rad = 0.4f;
  float step_px = 1.0f;  ///< offset of a neighbour from the tangent plane, on top of 4 deviations
  /// The depth's deviation is this times z²; 0 estimates it from the frame, for every depth.
  float depth_noise_per_m = 0.0f;
  int min_points = 50;  ///< smaller regions are none
  int attach_px = 7;    ///< regions grow back that far over the creases between them
  /// Neighbouring planes within this angle and within the noise of each other are one.
  float merge_angle_rad = 0.26f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("reach_px", self.reach_px, "the normals this far on either side of a pixel are compared",
          Range{1, 32});
    visit("crease_angle_rad", self.crease_angle_rad,
          "largest angle between them on one surface (23 degrees)", Range{0.01, 3});
    visit("step_px", self.step_px,
          "largest offset from the tangent plane, in pixels, beyond 4 deviations of the noise",
          Range{0.01, 1e3});
    visit("depth_noise_per_m", self.depth_noise_per_m,
          "deviation of the depth over depth squared; 0 estimates it from the frame", Range{0, 1});
    visit("min_points", self.min_points, "smaller regions are dropped", Range{4, 1e9});
    visit("attach_px", self.attach_px, "how far regions grow over the creases between them",
          Range{0, 64});
    visit("merge_angle_rad", self.merge_angle_rad,
          "neighbouring planes within this angle and the noise are joined (15 degrees)",
          Range{0, 1.5});
  }
};

/// One region. Lengths and directions are in the frame of the points.
struct SurfaceRegion {
  SurfaceKind kind = SurfaceKind::kFreeForm;
  std::int32_t first_index = 0;  ///< the lowest among its points that lie on no crease
  std::int32_t points = 0;
  float area_m2 = 0;                    ///< of the surface that is seen
  Vec3f centre_m;                       ///< mean of the points that lie on no crease
  Vec3f normal;                         ///< plane: its normal; else the mean normal, of unit length
  float offset_m = NAN;                 ///< plane: normal · p of its points
  float radius_m = NAN;                 ///< sphere, cylinder
  Vec3f axis{NAN, NAN, NAN};            ///< cylinder: unit, its largest component positive
  Vec3f model_centre_m{NAN, NAN, NAN};  ///< sphere: centre; cylinder: on the axis beside centre_m
  float rms_m = 0;  ///< distance of the points from the plane, sphere or cylinder; free form: plane
};

struct Segmentation {
  Image<std::int32_t> labels;  ///< 0 for none, else regions[label - 1]; on the context's device
  std::vector<SurfaceRegion> regions;  ///< the largest first, of equal ones the lower first_index
};

/// Cuts an organised cloud, seen from the origin (z > 0), into smooth regions and says what each
/// is.
///
/// Cells of 8 × 8 pixels are joined to patches as long as a plane, then a quadratic, fits both
/// sides within the noise, which is taken from the frame itself; patches that are not flat become
/// one region where they go on in each other. Small things, in which no cell fits, are found by
/// linking pixels on no crease: where the normals on either side differ by no more than
/// crease_angle_rad. Regions with min_points grow back over the creases, planes that are one are
/// joined, and each region gets the simplest of plane, sphere and cylinder that fits within the
/// noise, by least squares of the distances.
///
/// The label is 0 where there is no point, behind the camera, and in no region. Normals may be
/// missing.
///
/// Accuracy: on exact depth, planes within 1e-5, radii within 0.5 %. The same bits on every run and
/// for every number of threads. CPU and CUDA give the same labels, but for planes within rounding
/// (1e-9) of the limits for being parted or joined, and the same figures within 1e-5. Cost: about
/// 15 ms of one core for 640 × 480; some 170 short launches on CUDA. Waits for the device to learn
/// how many regions there are.
Segmentation segment(const Context& context, ImageView<const Vec3f> points,
                     ImageView<const Vec3f> normals, const SegmentOptions& options = {});

/// The most regions that so many points can have.
std::int64_t region_capacity(std::int64_t points, int min_points);

/// As segment, but all stays on the device and nothing waits: labels of the size of the points,
/// region_capacity(pixels, min_points) regions of which the first `count[0]` are written. Takes
/// about 40 bytes a pixel of the workspace.
void segment_into(const Context& context, ImageView<const Vec3f> points,
                  ImageView<const Vec3f> normals, const SegmentOptions& options,
                  ImageView<std::int32_t> labels, View<SurfaceRegion> regions,
                  View<std::int32_t> count, Workspace& workspace);

}  // namespace sextant
