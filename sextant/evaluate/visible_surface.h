// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/options.h"
#include "sextant/render/rasterize.h"

namespace sextant {

// Poses judged by what a camera sees of them: the visible share of an instance and the visible
// surface discrepancy, VSD, as BOP defines them since 2019. Distances are those from the camera's
// centre along the ray. A drawn surface is visible where the measured one is missing or lies less
// than `delta_m` in front of it.

struct VisibleSurfaceOptions {
  double delta_m = 0.015;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("delta_m", self.delta_m, "how far behind the measured surface a visible one may lie",
          Range{0, 10});
  }
};

/// A pose of one of the scene's meshes.
struct DrawnPose {
  std::int32_t mesh = 0;
  Rigid3d camera_from_object;
};

/// Pixels from (left, top) up to, not including, (right, bottom).
struct PixelBox {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;

  SEXTANT_HD bool empty() const { return right <= left || bottom <= top; }
};

/// The pixels of an image that a box of the object's frame may cover, a pixel more on each side;
/// the whole image where the box reaches behind the camera.
PixelBox pixel_box(const Camera& camera, const Bounds& bounds, const Rigid3d& camera_from_object);

/// An estimate and a truth that are compared, as views of a rendering.
struct SurfacePair {
  std::int32_t estimate = 0;
  std::int32_t truth = 0;
  double diameter_m = 0;
  PixelBox box;  ///< outside of which both views are empty
};

/// The misalignment tolerances of BOP 2019: 0.05, 0.10, ... 0.50 of the diameter.
inline constexpr int kVsdTolerances = 10;
SEXTANT_HD constexpr double vsd_tolerance(int i) { return 0.05 * (i + 1); }

struct SurfaceCounts {
  std::int32_t union_px = 0;                    ///< visible in one of the two
  std::int32_t common_px = 0;                   ///< visible in both
  std::int32_t within_px[kVsdTolerances] = {};  ///< of these, nearer than the tolerance

  /// The VSD for a tolerance: the share of the union where the surfaces do not agree; 1 where
  /// nothing is visible.
  double vsd(int tolerance) const {
    return union_px > 0 ? static_cast<double>(union_px - within_px[tolerance]) / union_px : 1.0;
  }
};

/// Counts for each pair. The rendering has depth and the size of the measured map, which is in
/// metres with NaN or 0 where nothing was measured; all on the context's device. Allocates nothing
/// and does not wait. CPU and CUDA give the same counts: double precision without contraction.
void compare_surfaces_into(const Context& context, ImageView<const float> measured_m,
                           const Camera& camera, const Rendering& drawn,
                           View<const SurfacePair> pairs, const VisibleSurfaceOptions& options,
                           View<SurfaceCounts> counts);

/// How much of a drawn pose is seen: BOP's scene_gt_info.json.
struct VisibleCounts {
  std::int32_t all_px = 0;      ///< also outside the image, up to its size beyond each side
  std::int32_t valid_px = 0;    ///< of those with a measured depth
  std::int32_t visible_px = 0;  ///< that nothing hides; a missing depth hides nothing
  PixelBox box;                 ///< of all pixels; empty where there are none
  PixelBox visible_box;

  double fraction() const { return all_px > 0 ? static_cast<double>(visible_px) / all_px : 0.0; }
};

/// Memory that is kept from frame to frame.
struct VisibleSurfaceMemory {
  Rendering rendering;
  Workspace workspace;
};

/// Draws each pose once and counts. Waits for the device. `bounds` are those of each mesh.
std::vector<VisibleCounts> measure_visible(const Context& context, const RenderScene& scene,
                                           std::span<const Bounds> bounds, const Camera& camera,
                                           ImageView<const float> measured_m,
                                           std::span<const DrawnPose> poses,
                                           const VisibleSurfaceOptions& options,
                                           VisibleSurfaceMemory& memory);

/// Two poses of the list that are compared.
struct PosePair {
  int estimate = 0;
  int truth = 0;
  double diameter_m = 0;
};

/// Draws each pose once and compares the pairs. Waits for the device.
std::vector<SurfaceCounts> compare_surfaces(const Context& context, const RenderScene& scene,
                                            std::span<const Bounds> bounds, const Camera& camera,
                                            ImageView<const float> measured_m,
                                            std::span<const DrawnPose> poses,
                                            std::span<const PosePair> pairs,
                                            const VisibleSurfaceOptions& options,
                                            VisibleSurfaceMemory& memory);

}  // namespace sextant
