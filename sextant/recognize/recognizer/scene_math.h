// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/eigen3.h"
#include "sextant/core/for_each/shared_sum.h"
#include "sextant/core/random.h"
#include "sextant/recognize/recognizer/frame.h"
#include "sextant/surface/noise/frame_noise.h"

// One pixel, one draw and one plane of the preparation of a frame, for host and device.

namespace sextant::detail::recognizer {

inline constexpr float kSameSurface = 0.02f;  ///< share of the depth, for pixels that are averaged
inline constexpr float kPlaneSigmas = 4;      ///< off a plane within which a point belongs to it
inline constexpr float kPlaneFloor_m = 0.006f;
inline constexpr int kPlaneTries = 300, kPlaneJudges = 3000;
inline constexpr int kMostAveraged = 8;  ///< pixels along a side

inline constexpr float kLeastPixels = 20;   ///< that an object is wide
inline constexpr float kMostNoise = 0.06f;  ///< of an object's diameter, that its depths may err by

/// No sensor of objects measures a millimetre or a kilometre; squares of such numbers overflow.
SEXTANT_HD inline bool is_depth(float z) { return z > 1e-3f && z < 1e3f; }

/// The mean of a block's depths that lie on the surface of its median; NaN where fewer than half of
/// the pixels were measured.
SEXTANT_HD inline float mean_of_block(ImageView<const float> depth_m, int u0, int v0, int side) {
  float values[kMostAveraged * kMostAveraged];  // ascending
  int count = 0;
  for (int v = v0; v < v0 + side; ++v) {
    for (int u = u0; u < u0 + side; ++u) {
      const float z = depth_m(u, v);
      if (!is_depth(z)) continue;
      int at = count++;
      for (; at > 0 && values[at - 1] > z; --at) values[at] = values[at - 1];
      values[at] = z;
    }
  }
  if (2 * count < side * side) return NAN;
  const float middle = values[count / 2];
  float sum = 0;
  int near = 0;
  for (int i = 0; i < count; ++i) {
    if (std::abs(values[i] - middle) > kSameSurface * middle) continue;
    sum += values[i];
    ++near;
  }
  return sum / static_cast<float>(near);
}

/// Brings a pixel to the working pitch.
struct AveragePixel {
  ImageView<const float> given_m;
  int side;
  ImageView<float> depth_m;

  SEXTANT_HD void operator()(int u, int v) const {
    const float z = side == 1 ? given_m(u, v) : mean_of_block(given_m, u * side, v * side, side);
    depth_m(u, v) = is_depth(z) ? z : NAN;
  }
};

struct IsMeasured {
  const float* depth_m;
  SEXTANT_HD std::int32_t operator()(std::int64_t i) const { return is_depth(depth_m[i]) ? 1 : 0; }
};

/// What the host must know of a frame before it goes on.
struct FrameFacts {
  noise::FrameNoise noise;
  std::int32_t measured;
};
struct GatherFacts {
  const noise::FrameNoise* noise;
  const std::int32_t* measured;
  FrameFacts* facts;
  SEXTANT_HD void operator()(std::int64_t) const { *facts = {*noise, *measured}; }
};

struct Plane {
  Vec3f normal;
  float offset_m = 0;
};

/// The search for the plane that holds most points.
struct PlaneSearch {
  const Vec3f* points;
  const Vec3f* normals;
  std::int64_t size;
  DepthNoise noise;
  std::int32_t* before;    ///< size + 1: whether a point is usable, then how many come before it
  std::uint32_t* usable;   ///< their numbers
  std::uint32_t* judges;   ///< kPlaneJudges
  std::int32_t* counts;    ///< kPlaneTries: judges that each holds
  Plane* plane;            ///< the best so far; an offset that is not finite for none
  std::uint8_t* on_plane;  ///< size

  SEXTANT_HD bool is_usable(std::int64_t i) const {
    return is_finite(points[i]) && is_finite(normals[i]);
  }
  SEXTANT_HD std::uint32_t usable_count() const { return static_cast<std::uint32_t>(before[size]); }
  /// Frames of fewer points have no plane.
  SEXTANT_HD bool has_points() const { return usable_count() >= 100; }
  SEXTANT_HD std::uint32_t draw(std::uint64_t item, std::uint64_t number) const {
    return usable[Random{1, item}.below(usable_count(), number)];
  }
  SEXTANT_HD float reach(float z) const {
    return max_of(kPlaneSigmas * noise.sigma_m(z), kPlaneFloor_m);
  }
  SEXTANT_HD bool is_near(std::int64_t i, const Plane& p) const {
    return std::abs(dot(p.normal, points[i]) - p.offset_m) < reach(points[i].z);
  }
  SEXTANT_HD bool belongs(std::int64_t i, const Plane& p) const {
    return is_near(i, p) && dot(p.normal, normals[i]) > 0.9f;
  }
};

struct MarkUsable {
  PlaneSearch s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    s.before[i] = i < s.size && s.is_usable(i) ? 1 : 0;
  }
};
struct ListUsable {
  PlaneSearch s;
  SEXTANT_HD void operator()(std::int64_t i) const {
    if (s.before[i + 1] != s.before[i]) s.usable[s.before[i]] = static_cast<std::uint32_t>(i);
  }
};
struct DrawJudge {
  PlaneSearch s;
  SEXTANT_HD void operator()(std::int64_t j) const {
    if (j < kPlaneTries) s.counts[j] = 0;
    if (s.has_points()) s.judges[j] = s.draw(1, static_cast<std::uint64_t>(j));
  }
};
/// Counts the judges of one part that the plane of one try holds.
struct CountTry {
  static constexpr int kParts = 12;
  PlaneSearch s;
  SEXTANT_HD void operator()(std::int64_t element) const {
    if (!s.has_points()) return;
    const std::int64_t t = element / kParts, part = element % kParts;
    const std::uint32_t i = s.draw(0, static_cast<std::uint64_t>(t));
    const Plane plane{s.normals[i], dot(s.normals[i], s.points[i])};
    std::int32_t count = 0;
    for (std::int64_t j = part; j < kPlaneJudges; j += kParts) {
      count += s.belongs(s.judges[j], plane) ? 1 : 0;
    }
    add_to(s.counts + t, count);
  }
};
/// The first of those that hold most.
struct ChoosePlane {
  PlaneSearch s;
  SEXTANT_HD void operator()(std::int64_t) const {
    *s.plane = {{}, NAN};
    if (!s.has_points()) return;
    std::int32_t most = 0;
    std::int64_t best = -1;
    for (std::int64_t t = 0; t < kPlaneTries; ++t) {
      if (s.counts[t] <= most) continue;
      most = s.counts[t];
      best = t;
    }
    if (best < 0) return;
    const std::uint32_t i = s.draw(0, static_cast<std::uint64_t>(best));
    *s.plane = {s.normals[i], dot(s.normals[i], s.points[i])};
  }
};

/// The sum of the judges that a plane holds, and what they scatter about their mean.
struct JudgeSum {
  Vec3d sum{};
  double count = 0;
};
struct JudgeScatter {
  Sym3d sum{};
};
struct AddJudges {
  SEXTANT_HD JudgeSum operator()(const JudgeSum& a, const JudgeSum& b) const {
    return {a.sum + b.sum, a.count + b.count};
  }
  SEXTANT_HD JudgeScatter operator()(const JudgeScatter& a, const JudgeScatter& b) const {
    return {a.sum + b.sum};
  }
};
struct SumOfJudge {
  PlaneSearch s;
  SEXTANT_HD JudgeSum operator()(std::int64_t j) const {
    if (!s.has_points() || !s.belongs(s.judges[j], *s.plane)) return {};
    return {cast<double>(s.points[s.judges[j]]), 1};
  }
};
struct ScatterOfJudge {
  PlaneSearch s;
  const JudgeSum* held;
  SEXTANT_HD JudgeScatter operator()(std::int64_t j) const {
    if (!s.has_points() || !s.belongs(s.judges[j], *s.plane)) return {};
    return {outer(cast<double>(s.points[s.judges[j]]) - held->sum / held->count)};
  }
};
struct RefitPlane {
  PlaneSearch s;
  const JudgeSum* held;
  const JudgeScatter* scatter;
  SEXTANT_HD void operator()(std::int64_t) const {
    if (held->count < 3) {
      s.plane->offset_m = NAN;
      return;
    }
    Vec3f normal = cast<float>(eigen_jacobi(scatter->sum).vectors.row[0]);
    if (dot(normal, s.plane->normal) < 0) normal = -normal;
    *s.plane = {normal, static_cast<float>(dot(cast<double>(normal), held->sum / held->count))};
  }
};
struct IsHeld {
  PlaneSearch s;
  SEXTANT_HD std::int32_t operator()(std::int64_t i) const {
    return s.is_usable(i) && s.belongs(i, *s.plane) ? 1 : 0;
  }
};
/// Points count as the plane's whatever their normals: at rims these are mixtures.
struct MarkPlane {
  PlaneSearch s;
  const std::int32_t* held;
  float share;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const bool is_dominant =
        s.has_points() && static_cast<float>(*held) >= share * static_cast<float>(s.usable_count());
    s.on_plane[i] = is_dominant && is_finite(s.points[i]) && s.is_near(i, *s.plane) ? 1 : 0;
  }
};

/// Which pixels propose poses of an object.
struct ProposingPixels {
  FrameView frame;
  const std::uint8_t* on_plane;
  ImageView<const std::uint8_t> mask;  ///< of the given map; without data for all pixels
  int averaged;

  /// Whether the pixel's point does: it lies off the dominant plane and where the mask is not 0,
  /// and not so far off that an object of the diameter would be too few pixels wide, or its depth
  /// too uncertain, to be told from others.
  SEXTANT_HD bool has_point(int u, int v, float diameter_m) const {
    const Vec3f& p = frame.points(u, v);
    if (on_plane[std::int64_t{v} * frame.camera.width + u] || !is_finite(p)) return false;
    if (p.z > diameter_m * frame.camera.fx_px / kLeastPixels) return false;
    if (mask.data && mask(u * averaged, v * averaged) == 0) return false;
    return !(frame.noise.sigma_m(p.z) > kMostNoise * diameter_m);
  }
  SEXTANT_HD bool has(int u, int v, float diameter_m) const {
    return has_point(u, v, diameter_m) && is_finite(frame.normals(u, v));
  }
};

}  // namespace sextant::detail::recognizer
