// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/scene.h"

#include <algorithm>

#include "sextant/core/eigen3.h"
#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/depth/deproject.h"
#include "sextant/surface/noise/frame_noise.h"
#include "sextant/surface/normals.h"

namespace sextant::detail::recognizer {

namespace {

constexpr float kSameSurface = 0.02f;  // share of the depth within which pixels are averaged
constexpr float kPlaneSigmas = 4;      // off a plane within which a point belongs to it
constexpr float kLeastPixels = 20;     // that an object is wide
constexpr float kPlaneFloor_m = 0.006f;

constexpr float kMostNoise = 0.06f;  // of an object's diameter, that its depths may err by
// What sensors err by; a frame of nothing but clutter, or a rendered one, tells something else.
constexpr float kLeastGrain_px = 2, kMostGrain_px = 16;
constexpr float kLeastNoise_per_m = 3e-4f, kMostNoise_per_m = 5e-3f;

bool is_depth(float z) { return std::isfinite(z) && z > 0; }

float median_of(ImageView<const float> depth_m) {
  std::vector<float> values;
  for (int v = 0; v < depth_m.height; v += 4) {
    for (int u = 0; u < depth_m.width; u += 4) {
      if (is_depth(depth_m(u, v))) values.push_back(depth_m(u, v));
    }
  }
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// The mean of a block's depths that lie on the surface of its median; NaN where fewer than half of
/// the pixels were measured.
float mean_of_block(ImageView<const float> depth_m, int u0, int v0, int side) {
  float values[64];
  int count = 0;
  for (int v = v0; v < v0 + side; ++v) {
    for (int u = u0; u < u0 + side; ++u) {
      if (is_depth(depth_m(u, v))) values[count++] = depth_m(u, v);
    }
  }
  if (2 * count < side * side) return NAN;
  std::sort(values, values + count);
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

struct Plane {
  Vec3f normal;
  float offset_m = 0;
};

/// Marks the pixels of the plane that holds most points, where it holds enough of them.
void mark_dominant_plane(SceneFrame& scene, float share) {
  constexpr int kTries = 300, kJudges = 3000;
  const std::span<const Vec3f> points = scene.points.pixels().host();
  const std::span<const Vec3f> normals = scene.normals.pixels().host();
  std::vector<std::uint32_t> usable;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_finite(points[i]) && is_finite(normals[i]))
      usable.push_back(static_cast<std::uint32_t>(i));
  }
  scene.on_plane.assign(points.size(), 0);
  if (usable.size() < 100) return;
  const auto draw = [&](std::uint64_t item, std::uint64_t number) {
    return usable[Random{1, item}.below(static_cast<std::uint32_t>(usable.size()), number)];
  };
  std::vector<std::uint32_t> judges;
  judges.reserve(kJudges);
  for (int j = 0; j < kJudges; ++j) judges.push_back(draw(1, static_cast<std::uint64_t>(j)));
  const auto reach = [&](float z) {
    return std::max(kPlaneSigmas * scene.noise.sigma_m(z), kPlaneFloor_m);
  };
  const auto belongs = [&](std::size_t i, const Plane& plane) {
    return std::abs(dot(plane.normal, points[i]) - plane.offset_m) < reach(points[i].z) &&
           dot(plane.normal, normals[i]) > 0.9f;
  };
  Plane best;
  int most = 0;
  for (int t = 0; t < kTries; ++t) {
    const std::uint32_t i = draw(0, static_cast<std::uint64_t>(t));
    const Plane plane{normals[i], dot(normals[i], points[i])};
    int count = 0;
    for (const std::uint32_t j : judges) count += belongs(j, plane);
    if (count > most) {
      most = count;
      best = plane;
    }
  }
  for (int refit = 0; refit < 3; ++refit) {
    Vec3d mean{};
    double held = 0;
    for (const std::uint32_t j : judges) {
      if (!belongs(j, best)) continue;
      mean += cast<double>(points[j]);
      ++held;
    }
    if (held < 3) return;
    mean = mean / held;
    Sym3d scatter{};
    for (const std::uint32_t j : judges) {
      if (!belongs(j, best)) continue;
      scatter = scatter + outer(cast<double>(points[j]) - mean);
    }
    Vec3f normal = cast<float>(eigen_jacobi(scatter).vectors.row[0]);
    if (dot(normal, best.normal) < 0) normal = -normal;
    best = {normal, static_cast<float>(dot(cast<double>(normal), mean))};
  }
  std::size_t held = 0;
  for (const std::uint32_t i : usable) held += belongs(i, best);
  if (static_cast<float>(held) < share * static_cast<float>(usable.size())) return;
  for (std::size_t i = 0; i < points.size(); ++i) {
    // Its points count as the plane's whatever their normals: at rims these are mixtures.
    scene.on_plane[i] = is_finite(points[i]) &&
                        std::abs(dot(best.normal, points[i]) - best.offset_m) < reach(points[i].z);
  }
}

/// The noise that the options give, or else the frame's own.
DepthNoise noise_of(const Context& context, const SceneFrame& scene,
                    const RecognizeOptions& options) {
  DepthNoise result;
  result.floor_m = options.noise_floor_m;
  Workspace workspace;
  const noise::FrameNoise* found = noise::estimate_frame_noise(
      context, scene.points, {.sigma_per_m = options.noise_per_m, .grain_px = 1}, workspace);
  for (int k = 0; k < noise::kDepthBins; ++k) {
    result.per_m[k] = options.noise_per_m > 0
                          ? options.noise_per_m
                          : clamp(found->sigma_per_m[k], kLeastNoise_per_m, kMostNoise_per_m);
    result.grain_px[k] = clamp(found->density_per_m[k] / max_of(found->sigma_per_m[k], 1e-9f),
                               kLeastGrain_px, kMostGrain_px);
  }
  return result;
}

}  // namespace

SceneFrame prepare_scene(const Context& context, ImageView<const float> depth_m,
                         const Camera& camera, const RecognizeOptions& options) {
  check_camera(camera);
  require(camera.distortion.is_zero(),
          "camera: has lens distortion; undistort the depth map first (sextant depth)");
  require_same_size(context, depth_m, camera, "depth_m", "camera");
  SceneFrame scene;
  scene.given_width = depth_m.width;
  scene.median_depth_m = median_of(depth_m);
  const double native_m = scene.median_depth_m / camera.fx_px;
  scene.averaged =
      native_m > 0 ? clamp(static_cast<int>(std::lround(options.pitch_m / native_m)), 1, 8) : 1;
  const int side = scene.averaged;
  const int width = depth_m.width / side, height = depth_m.height / side;
  // A block's centre lies at (side - 1) / 2 of its first pixel.
  const double shift = 0.5 * (side - 1);
  scene.camera = cast<float>(Camera{width,
                                    height,
                                    camera.fx_px / side,
                                    camera.fy_px / side,
                                    (camera.cx_px - shift) / side,
                                    (camera.cy_px - shift) / side,
                                    {}});
  scene.depth_m = Image<float>(context, width, height);
  for_each_chunk(context, height, 8, [&](std::int64_t begin, std::int64_t end) {
    for (int v = static_cast<int>(begin); v < end; ++v) {
      for (int u = 0; u < width; ++u) {
        const float z =
            side == 1 ? depth_m(u, v) : mean_of_block(depth_m, u * side, v * side, side);
        scene.depth_m(u, v) = is_depth(z) ? z : NAN;
      }
    }
  });
  for (const float z : scene.depth_m.pixels().host()) scene.measured += is_depth(z);
  Camera working = camera;
  working.width = width;
  working.height = height;
  working.fx_px /= side;
  working.fy_px /= side;
  working.cx_px = (camera.cx_px - shift) / side;
  working.cy_px = (camera.cy_px - shift) / side;
  Cloud cloud = deproject(context, scene.depth_m, working);
  scene.points = Image<Vec3f>(std::move(cloud.points), width, height);
  scene.noise = noise_of(context, scene, options);
  const double pitch_m = native_m * side;
  NormalsOptions normals;
  normals.radius_px =
      pitch_m > 0 ? clamp(static_cast<int>(std::lround(options.normal_radius_m / pitch_m)), 2, 10)
                  : 3;
  scene.normal_radius_px = normals.radius_px;
  normals.depth_gate_m =
      std::max(2 * options.normal_radius_m, 6 * scene.noise.sigma_m(scene.median_depth_m));
  normals.relative_depth_gate = 0;
  scene.normals = estimate_normals(context, scene.points, normals);
  mark_dominant_plane(scene, options.plane_share);
  return scene;
}

bool is_proposing(const SceneFrame& scene, ImageView<const std::uint8_t> mask, int u, int v,
                  float diameter_m) {
  const auto pixel = static_cast<std::size_t>(v) * static_cast<std::size_t>(scene.camera.width) +
                     static_cast<std::size_t>(u);
  if (scene.on_plane[pixel] != 0) return false;
  const float z = scene.depth_m(u, v);
  if (!std::isfinite(z) || z > diameter_m * scene.camera.fx_px / kLeastPixels) return false;
  if (mask.data && mask(u * scene.averaged, v * scene.averaged) == 0) return false;
  return scene.noise.sigma_m(z) <= kMostNoise * diameter_m;
}

PointSamples sample_scene(const Context& context, const SceneFrame& scene,
                          ImageView<const std::uint8_t> mask, float leaf_m, float diameter_m) {
  // Several pixels a leaf are enough to find what lies in it.
  const float pitch_m = scene.median_depth_m / scene.camera.fx_px;
  const int step = clamp(static_cast<int>(leaf_m / (4 * std::max(pitch_m, 1e-9f))), 1, 8);
  std::vector<Vec3f> p, n;
  for (int v = 0; v < scene.camera.height; v += step) {
    for (int u = 0; u < scene.camera.width; u += step) {
      if (!is_proposing(scene, mask, u, v, diameter_m) || !is_finite(scene.normals(u, v))) continue;
      p.push_back(scene.points(u, v));
      n.push_back(scene.normals(u, v));
    }
  }
  return sample_points(context, view_of(p), view_of(n), {.leaf_m = leaf_m});
}

}  // namespace sextant::detail::recognizer
