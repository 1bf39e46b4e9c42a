// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/even_shot.h"

#include <algorithm>
#include <cmath>

#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/shot.h"

namespace sextant {

EvenShot even_shot(const Context& context, View<const Vec3f> points, View<const Vec3f> normals,
                   const EvenShotOptions& options) {
  check_options(options);
  ShotOptions shot_options;
  shot_options.radius_m = options.radius_m;
  EvenShot described;
  described.length = shot_length(shot_options);
  const Context cpu = Context::cpu(context.threads());
  const PointSamples even =
      sample_points(cpu, points, normals, {.leaf_m = even_shot_resolution_m(options.radius_m)});
  if (even.points.empty()) return described;
  const Buffer<Vec3f> own_points = copy(context, even.points);
  const Buffer<Vec3f> own_normals = copy(context, even.normals);
  const Buffer<std::int32_t> keypoints =
      uniform_keypoints(context, own_points, {.leaf_m = options.leaf_m});
  const ShotDescriptors shot =
      compute_shot(context, ShotSurface{own_points, own_normals}, keypoints.view(), shot_options);

  const auto chosen = to_host(context, keypoints);
  const auto status = to_host(context, shot.status);
  const auto all_frames = to_host(context, shot.frames);
  const auto all_values = to_host(context, shot.values);
  const auto length = static_cast<std::size_t>(shot.length);
  std::vector<Vec3f> kept, frames;
  std::vector<float> values;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    if (status[k] != ShotStatus::kDescribed) continue;
    kept.push_back(even.points.data()[chosen[k]]);
    frames.insert(frames.end(), &all_frames[3 * k], &all_frames[3 * k] + 3);
    values.insert(values.end(), &all_values[k * length], &all_values[k * length] + length);
  }
  described.points = copy(context, kept);
  described.frames = copy(context, frames);
  described.values = copy(context, values);
  return described;
}

double even_shot_points_needed(const TriangleMesh& mesh, float radius_m) {
  double area_m2 = 0;
  const std::span<const Vec3f> at = mesh.vertices.points.host();
  for (const Vec3i& t : mesh.triangles.host()) {
    const Vec3f &a = at[static_cast<std::size_t>(t.x)], &b = at[static_cast<std::size_t>(t.y)],
                &c = at[static_cast<std::size_t>(t.z)];
    const double area = 0.5 * norm(cross(cast<double>(b - a), cast<double>(c - a)));
    if (std::isfinite(area)) area_m2 += area;
  }
  constexpr double kEach = 3, kLeast = 2e4;
  const auto resolution_m = static_cast<double>(even_shot_resolution_m(radius_m));
  return std::max(kLeast, kEach * area_m2 / (resolution_m * resolution_m));
}

PointSamples even_shot_points(const Context& context, const TriangleMesh& mesh, float radius_m,
                              int most_points) {
  ModelSamplesOptions options;
  options.dense_points = static_cast<int>(
      std::min(even_shot_points_needed(mesh, radius_m), static_cast<double>(most_points)));
  const Context cpu = context.is_cpu() ? context : Context::cpu();
  return dense_model_points(cpu, mesh, options);
}

}  // namespace sextant
