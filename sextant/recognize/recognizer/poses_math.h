// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/recognize/recognizer/frame.h"
#include "sextant/recognize/recognizer/model_view.h"

// Comparison of one pose with another and with the frame, for host and device.

namespace sextant::detail::recognizer {

/// The pixel that a point before the camera is seen in; outside of every frame where the number is
/// too large for one.
SEXTANT_HD inline Vec2<int> nearest_pixel(const Cameraf& camera, const Vec3f& point) {
  constexpr float kFar = 1e6f;
  const Vec2f pixel = project(camera, point);
  if (!(std::abs(pixel.x) < kFar) || !(std::abs(pixel.y) < kFar)) return {-1, -1};
  return {static_cast<int>(std::lround(pixel.x)), static_cast<int>(std::lround(pixel.y))};
}

/// The trace of a⁻¹ b from which on two rotations differ by no more than the angle, whose cosine is
/// (trace - 1) / 2.
inline float least_trace(float angle_rad) { return 1 + 2 * std::cos(angle_rad); }

/// Whether two poses of an object are the same, modulo its symmetries: by the distance of its
/// centre, and by the least angle over the motions that carry it onto itself.
SEXTANT_HD inline bool same_pose(const ModelView& model, const Rigid3f& a, const Rigid3f& b,
                                 float distance_m, float trace_limit) {
  const Vec3f centre = b * model.centre;
  for (std::int32_t i = 0; i < model.motions; ++i) {
    const Rigid3f& motion = model.symmetries[i];
    const Vec3f moved = a * (motion * model.centre);
    if (norm_sq(moved - centre) > distance_m * distance_m) continue;
    const Mat3f r = a.rotation * motion.rotation;
    const float trace = dot(r.row[0], b.rotation.row[0]) + dot(r.row[1], b.rotation.row[1]) +
                        dot(r.row[2], b.rotation.row[2]);
    if (trace >= trace_limit) return true;
  }
  return false;
}

/// How many samples of an object are on the side of the camera, and of these how many the frame
/// shows, and how many it sees through.
struct AgreementCounts {
  std::int32_t facing = 0, shown = 0, seen_through = 0;

  /// The share that is shown, less half of what is seen through: between -0.5 and 1.
  SEXTANT_HD float agreement() const {
    if (facing == 0) return -0.5f;
    return (static_cast<float>(shown) - 0.5f * static_cast<float>(seen_through)) /
           static_cast<float>(facing);
  }
};

/// Counts every `step`-th sample from `first` on.
SEXTANT_HD inline AgreementCounts count_agreeing(const FrameView& frame, const ModelView& model,
                                                 const Rigid3f& pose, int first, int step) {
  constexpr float kFacing = 0.15f;  // cosine to the ray below which a sample shows its edge
  constexpr float kNormals = 0.7f;  // cosine of 45°
  const float reach = max_of(0.05f * model.diameter_m, 0.003f);
  AgreementCounts counts;
  for (std::int32_t i = first; i < model.samples; i += step) {
    const Vec3f x = pose * model.points[i];
    const Vec3f n = pose.rotation * model.normals[i];
    if (!(x.z > 0) || -dot(n, x) < kFacing * norm(x)) continue;
    ++counts.facing;
    const Vec2<int> p = nearest_pixel(frame.camera, x);
    if (!frame.contains(p.x, p.y)) continue;
    const float z = frame.depth_m(p.x, p.y);
    if (!std::isfinite(z)) continue;
    const float gate = max_of(reach, 4 * frame.noise.sigma_m(z));
    if (z > x.z + gate) {
      ++counts.seen_through;
    } else if (z > x.z - gate) {
      if (dot(frame.normals(p.x, p.y), n) > kNormals) ++counts.shown;
    }
  }
  return counts;
}

/// How well a pose agrees with the frame, by every `step`-th sample.
SEXTANT_HD inline float visible_agreement(const FrameView& frame, const ModelView& model,
                                          const Rigid3f& pose, int step) {
  return count_agreeing(frame, model, pose, 0, step).agreement();
}

}  // namespace sextant::detail::recognizer
