// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbours.h"

namespace sextant {

struct LocalFrameOptions {
  float radius_m = 0.0f;  ///< the surface within it makes the frame; 0 takes radius_resolutions
  float radius_resolutions = 15.0f;  ///< the radius in multiples of the surface's resolution

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("radius_m", self.radius_m,
          "the surface within this distance makes the frame; 0: radius_resolutions", Range{0, 1e6});
    visit("radius_resolutions", self.radius_resolutions,
          "the radius in multiples of the resolution, where radius_m is 0", Range{1, 1e6});
  }
};

/// The options with the length that a radius of 0 stands for on a surface of this resolution.
LocalFrameOptions resolved(const LocalFrameOptions& options, float resolution_m);

/// Computes repeatable frames of points on a surface (Tombari et al., ECCV 2010), equal to those of
/// pcl::SHOTLocalReferenceFrameEstimation: elements 3 i, 3 i + 1 and 3 i + 2 are the x, y and z
/// axis of keypoint i, a right-handed orthonormal frame.
///
/// x and z are the eigenvectors of the largest and the smallest eigenvalue of
/// Σ (r - |v|) v vᵀ / Σ (r - |v|) over v = q - p, for the surface points q with |v| < r but for
/// those equal to p. Each axis points to the side with more of them; when both sides hold as many,
/// to the side of the majority of the five whose distances are in the middle (equal distances in
/// the order of indices). A frame is NaN where p is not finite or has fewer than five such points.
///
/// Sums and eigenvectors are in double precision. CPU and CUDA agree within 1e-6 rad where
/// (λ1 - λ2) and (λ2 - λ3) exceed 1e-3 λ1, and up to rounding of points on an axis' own plane.
/// Cost: with 1100 neighbours about 7 µs a keypoint and core. A radius of 0 is taken from
/// cloud_resolution_m(surface), which waits for the device; nothing else does.
Buffer<Vec3f> compute_local_frames(const Context& context, View<const Vec3f> surface,
                                   View<const Vec3f> keypoints,
                                   const LocalFrameOptions& options = {});
/// Computes the frames of every point of the surface.
Buffer<Vec3f> compute_local_frames(const Context& context, View<const Vec3f> surface,
                                   const LocalFrameOptions& options = {});

/// Takes the grid of the surface and room for 3 vectors a keypoint; radius_m must be given. Does
/// not wait for the device. The workspace takes 16 bytes a keypoint for their order, and on CUDA
/// about 160 more.
void compute_local_frames_into(const Context& context, const NeighbourGrid& grid,
                               View<const Vec3f> keypoints, const LocalFrameOptions& options,
                               View<Vec3f> frames, Workspace& workspace);
/// Computes the frames of every point of the surface.
void compute_local_frames_into(const Context& context, const NeighbourGrid& grid,
                               const LocalFrameOptions& options, View<Vec3f> frames,
                               Workspace& workspace);

}  // namespace sextant
