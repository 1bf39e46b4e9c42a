// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/vec.h"
#include "sextant/geometry/camera.h"

namespace sextant::detail::recognizer {

inline constexpr float kSharedPixels = 15;  ///< that err together

/// How far a measured depth may lie from the rendered one on the same surface.
///
/// Three deviations of the sensor, or 1.5 % of the diameter for what the model and the pose err by;
/// both grow where the surface turns away, since a shift across the ray moves the depth.
SEXTANT_HD inline float depth_tolerance_m(float sigma_m, float diameter_m, float cosine) {
  return max_of(3 * sigma_m, 0.015f * diameter_m) / max_of(cosine, 0.35f);
}

/// How far neighbouring depths of one surface may lie apart; more is an edge.
SEXTANT_HD inline float depth_jump_m(float sigma_m, float diameter_m) {
  return max_of(6 * sigma_m, 0.03f * diameter_m);
}

/// The depth at which the ray (x, y, 1) meets the plane through `point`; of planes that are nearly
/// edge-on, the point's own depth.
SEXTANT_HD inline float plane_depth_m(const Vec3f& point, const Vec3f& normal, const Vec3f& ray) {
  constexpr float kEdgeOn = 0.3f;
  const float facing = -dot(normal, point) / max_of(norm(point), 1e-9f);
  if (!(facing > kEdgeOn)) return point.z;
  const float across = dot(normal, ray);
  if (!(across < -0.1f * norm(ray))) return point.z;
  return dot(normal, point) / across;
}

/// What becomes of the measured surface at a cell of the rendered outline.
enum class OutlineState : std::uint8_t {
  kConfirmed,   ///< it ends there: what lies beyond is farther
  kContinues,   ///< it goes on beyond the outline
  kFallsShort,  ///< it ends before the outline
  kCrease,      ///< it turns into another surface without a step
  kHidden,      ///< something nearer covers the place
  kUnknown,     ///< nothing was measured
  kStates,
};

/// One step of the walk across the outline: where it stands and what was measured there.
struct OutlineStep {
  float measured_m = NAN;  ///< depth; NaN for none
  float expected_m = NAN;  ///< of the rendered surface, or of its plane outside
  bool normals_agree = false;
};

/// What a walk across the outline finds.
struct OutlineEnd {
  OutlineState state = OutlineState::kUnknown;
  bool is_edge = false;  ///< whether the measured surface was seen to end, before something farther
  float offset = 0;      ///< of that end from the outline in steps, outwards
};

/// How a walk across the outline is made and judged.
struct OutlineWalk {
  int reach = 0;          ///< steps inwards and outwards
  int slack = 0;          ///< steps more or less than the outline that are the sensor's
  int rim = 0;            ///< steps over which a sensor may smear a step in depth
  float step_m = 0;       ///< length of a step
  float tolerance_m = 0;  ///< within which a depth is the expected one
  float jump_m = 0;       ///< between neighbours that are not one surface
};

/// Whether the surface falls off behind the object so steeply after step `out` that it is a step in
/// depth which the sensor smeared: no surface is measured as steep.
template <class StepAt>
SEXTANT_HD bool is_smeared_step(const OutlineWalk& walk, int last_on, float last_m, int out,
                                StepAt&& step_at) {
  constexpr float kSteep = 2;  // a surface inclined by 63°
  for (int ahead = out; ahead <= out + walk.rim; ++ahead) {
    const OutlineStep step = step_at(ahead);
    if (!std::isfinite(step.measured_m)) continue;
    const float fall = step.measured_m - last_m;
    const float run_m = static_cast<float>(ahead - last_on) * walk.step_m;
    if (fall > walk.jump_m && fall > kSteep * run_m) return true;
  }
  return false;
}

/// Decides by the steps from `reach` inside the outline (step -reach, with the rendered depth
/// expected) to `reach` outside it. The end of the measured surface is the interval from the last
/// step on it to the first that is measured off it; holes widen it.
template <class StepAt>
SEXTANT_HD OutlineEnd outline_end(const OutlineWalk& walk, StepAt&& step_at) {
  const int reach = walk.reach, slack = walk.slack;
  // From the outline inwards to where the surface is the object's.
  int inside = -1, first_behind = -1;
  int behind = 0, before = 0;
  float last_m = NAN;
  for (int back = 0; back <= reach; ++back) {
    const OutlineStep step = step_at(-back);
    if (!std::isfinite(step.measured_m) || !std::isfinite(step.expected_m)) continue;
    const float off = step.measured_m - step.expected_m;
    if (std::abs(off) <= walk.tolerance_m) {
      inside = back;
      last_m = step.measured_m;
      break;
    }
    if (off > 0) {
      ++behind;
      first_behind = back;
    } else {
      ++before;
    }
  }
  if (inside < 0) {
    if (behind == 0 && before == 0) return {};
    return {behind >= before ? OutlineState::kFallsShort : OutlineState::kHidden};
  }
  // Between the last step on the surface and the nearest that is measured behind it.
  const bool ends_inside = behind > 0 && behind >= before;
  if (inside > slack) {
    if (behind > slack && ends_inside) {
      return {OutlineState::kFallsShort, true, -0.5f * static_cast<float>(inside + first_behind)};
    }
    if (before > slack) return {OutlineState::kHidden};
  }
  int last_on = -inside;
  for (int out = 1; out <= reach; ++out) {
    const OutlineStep step = step_at(out);
    if (!std::isfinite(step.measured_m)) continue;
    const float off = step.measured_m - step.expected_m;
    const float allowed =
        walk.tolerance_m * (1 + 0.5f * static_cast<float>(out) / static_cast<float>(reach));
    if (std::abs(off) <= allowed) {
      if (out > slack && !step.normals_agree &&
          !is_smeared_step(walk, last_on, last_m, out, step_at)) {
        return {OutlineState::kCrease};
      }
      last_on = out;
      last_m = step.measured_m;
      continue;
    }
    const bool is_step = std::abs(step.measured_m - last_m) > walk.jump_m ||
                         (off > 0 && is_smeared_step(walk, last_on, last_m, out, step_at));
    // The end lies anywhere after the last step on the surface and before the next that is
    // measured off it, which may lie inside.
    const bool is_inside = last_on <= 0 && ends_inside;
    const float low = static_cast<float>(last_on);
    const float high =
        is_inside ? -0.5f * static_cast<float>(inside + first_behind) : static_cast<float>(out - 1);
    const float offset = clamp(0.0f, low, max_of(low, high));
    if (last_on > slack) return {OutlineState::kContinues, is_step && off > 0, offset};
    if (!is_step) return {OutlineState::kCrease};
    return off > 0 ? OutlineEnd{OutlineState::kConfirmed, true, offset}
                   : OutlineEnd{OutlineState::kHidden};
  }
  return {last_on > slack ? OutlineState::kContinues : OutlineState::kUnknown};
}

}  // namespace sextant::detail::recognizer
