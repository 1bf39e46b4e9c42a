// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/vec.h"

namespace sextant {

/// What is minimised over the window's points.
enum class NormalsMethod : std::int32_t {
  kRay,     ///< errors of 1/z: right for depth maps, whose noise lies along the rays
  kPca,     ///< distances to the plane (smallest eigenvector of the covariance), as in the paper
  kCurved,  ///< as kRay, with the window's cubic term where the depth is clean enough to show one
};
inline constexpr Choice<NormalsMethod> kNormalsMethods[] = {
    {"ray", NormalsMethod::kRay}, {"pca", NormalsMethod::kPca}, {"curved", NormalsMethod::kCurved}};

struct NormalsOptions {
  NormalsMethod method = NormalsMethod::kRay;
  int radius_px = 3;                  ///< the window has 2 radius_px + 1 pixels a side
  float depth_gate_m = 0.02f;         ///< window points farther in depth from the centre are left
  float relative_depth_gate = 0.02f;  ///< out, unless within this share of the centre's depth

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit(
        "method", self.method,
        "least squares of inverse depth, of distance to the plane, or with a cubic of clean depth",
        kNormalsMethods);
    visit("radius_px", self.radius_px, "half the window: 3 for 7 x 7 pixels", Range{1, 10});
    visit("depth_gate_m", self.depth_gate_m,
          "window points farther in depth from the centre are left out", Range{0, 1e6});
    visit("relative_depth_gate", self.relative_depth_gate,
          "the same as a share of the centre's depth; the larger gate counts", Range{0, 1});
  }
};

/// Unit normals of an organised cloud, towards the sensor at the origin.
///
/// The normal of a pixel is that of the plane that fits the valid points of the window around it
/// best. It is NaN where the point is not finite (with kRay and kCurved also where z is not
/// positive), where fewer than 5 points are left in the window, and where they determine no plane:
/// all equal, on a line, or with kPca the same spread in every direction.
///
/// kCurved adds what the plane lacks on a bent surface, as far as the noise of the window lets it
/// be seen; windows with holes or edges keep the plane. It is for depth whose noise is independent
/// from pixel to pixel, or that has next to none.
///
/// Accuracy: on a sphere of 0.1 m radius at 1 m (525 px focal length, 7 × 7) the mean error of kRay
/// is 0.22° without noise, from the curvature alone, and 2.0° and 6.0° with 1 and 3 mm of depth
/// noise; of kPca 0.27°, 2.5° and 14°; of kCurved 0.01°, 2.0° and 6.0° (surface_bench). Rounding
/// adds less than 0.006° at 1 m. The CPU gives the same bits for every number of threads and every
/// instruction set; CUDA agrees within 0.01° for 99.9 % of the pixels. Cost: 7 × 7 at 640 × 480
/// takes 2 ms of one core with AVX-512, 3.5 ms with AVX2; one launch on CUDA. kCurved takes a
/// third longer, kPca half as long again (surface_bench).
Image<Vec3f> estimate_normals(const Context& context, ImageView<const Vec3f> points,
                              const NormalsOptions& options = {});

/// Into an image of the same size; allocates nothing, does not wait. Not in place.
void estimate_normals_into(const Context& context, ImageView<const Vec3f> points,
                           const NormalsOptions& options, ImageView<Vec3f> normals);

}  // namespace sextant
