// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen3.h"
#include "sextant/descriptor/local_frame.h"

namespace sextant::detail::local_frame {

/// Points beside the keypoint that a frame needs.
inline constexpr std::int32_t kLeastFramePoints = 5;
/// Points in the middle of the order of distances that decide a tied axis.
inline constexpr std::int32_t kTiePoints = 5;

/// Sums over the points near a keypoint, relative to it, those equal to it left out.
struct FrameSums {
  Sym3d squares;  ///< Σ (r - |v|) v vᵀ
  double weight = 0;
  std::int32_t kept = 0;
};

/// The axes before their signs are known.
struct PrincipalAxes {
  Vec3d x, z;
  bool valid = false;
};

SEXTANT_HD inline PrincipalAxes principal_axes(const FrameSums& sums) {
  if (sums.kept < kLeastFramePoints) return {};
  const Eigen3<double> e = eigen(sums.squares * (1.0 / sums.weight));
  const bool valid =
      std::isfinite(e.values[0]) && std::isfinite(e.values[1]) && std::isfinite(e.values[2]);
  return {e.vectors.row[2], e.vectors.row[0], valid};
}

/// v·a, added in the order of PCL's four lanes and rounded after every operation, so that every
/// device and every kernel finds the same.
SEXTANT_HD inline double along(const Vec3f& v, const Vec3d& axis) {
  const Vec3d at = cast<double>(v);
#if defined(__CUDA_ARCH__)
  return __dadd_rn(__dadd_rn(__dmul_rn(at.x, axis.x), __dmul_rn(at.z, axis.z)),
                   __dmul_rn(at.y, axis.y));
#else
  return (at.x * axis.x + at.z * axis.z) + at.y * axis.y;
#endif
}

/// Points on the positive side less those on the negative one, where `positive` of `kept` have
/// v·a >= 0. Zero stands for a tie.
SEXTANT_HD inline std::int32_t majority(std::int32_t positive, std::int32_t kept) {
  return 2 * positive - kept;
}

struct LocalFrame {
  Vec3f x{NAN, NAN, NAN}, y{NAN, NAN, NAN}, z{NAN, NAN, NAN};
};

/// a × b, rounded after every operation.
SEXTANT_HD inline Vec3f rounded_cross(const Vec3f& a, const Vec3f& b) {
#if defined(__CUDA_ARCH__)
  return {__fsub_rn(__fmul_rn(a.y, b.z), __fmul_rn(a.z, b.y)),
          __fsub_rn(__fmul_rn(a.z, b.x), __fmul_rn(a.x, b.z)),
          __fsub_rn(__fmul_rn(a.x, b.y), __fmul_rn(a.y, b.x))};
#else
  return cross(a, b);
#endif
}

/// The frame of signed axes; y is computed in float from the rounded others, as in PCL.
SEXTANT_HD inline LocalFrame frame_of(const Vec3d& x, const Vec3d& z) {
  LocalFrame frame;
  frame.x = cast<float>(x);
  frame.z = cast<float>(z);
  frame.y = rounded_cross(frame.z, frame.x);
  return frame;
}

SEXTANT_HD inline void store_frame(const LocalFrame& frame, Vec3f* to) {
  to[0] = frame.x;
  to[1] = frame.y;
  to[2] = frame.z;
}

/// Where frames are wanted: queries stand in cell order, results in the caller's order.
struct LocalFrameJob {
  NeighbourGridView grid;
  const GridPoint* queries;
  std::int64_t count;
  float radius_m;
  Vec3f* frames;
};

void compute_local_frames_cuda(const Context& context, const LocalFrameJob& job,
                               Workspace& workspace);

}  // namespace sextant::detail::local_frame
