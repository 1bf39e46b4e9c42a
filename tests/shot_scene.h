// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/shot.h"
#include "tests/neighbour_clouds.h"

// What the tests of SHOT describe.

namespace sextant::testing {

/// A surface, and keypoints with frames and colours of their own.
struct ShotScene {
  std::vector<Vec3f> points, normals;
  std::vector<Rgb8> colors;
  std::vector<Vec3f> keypoints, frames;
  std::vector<Rgb8> keypoint_colors;
};

inline Vec3f unit_vector(const Random& random, std::uint64_t draw) {
  return normalized(
      cast<float>(Vec3d{random.normal(draw), random.normal(draw + 1), random.normal(draw + 2)}));
}

/// Points anywhere, normals any way: every bin of every volume is met.
inline ShotScene random_shot_scene(std::uint64_t seed, int count, int keypoints) {
  ShotScene scene;
  for (int i = 0; i < count; ++i) {
    const Random random{seed, static_cast<std::uint64_t>(i)};
    scene.points.push_back(uniform_point(seed, i));
    scene.normals.push_back(unit_vector(random, 10));
    if (i % 19 == 4) scene.normals.back() = {NAN, 1, 0};
    scene.colors.push_back({static_cast<std::uint8_t>(random.below(256, 20)),
                            static_cast<std::uint8_t>(random.below(256, 21)),
                            static_cast<std::uint8_t>(random.below(256, 22))});
  }
  for (int i = 0; i < keypoints; ++i) {
    const Random random{seed + 1, static_cast<std::uint64_t>(i)};
    // Half of them are points of the surface.
    scene.keypoints.push_back(i % 2 ? uniform_point(seed + 1, i)
                                    : scene.points[static_cast<std::size_t>(i)]);
    const Vec3f z = unit_vector(random, 0);
    const Vec3f x = normalized(cross(z, unit_vector(random, 5)));
    for (const Vec3f& axis : {x, cross(z, x), z}) scene.frames.push_back(axis);
    scene.keypoint_colors.push_back(scene.colors[static_cast<std::size_t>(i)]);
  }
  return scene;
}

inline ShotDescriptors shot_of(const Context& context, const ShotScene& scene,
                               const ShotOptions& options, bool with_frames) {
  const auto points = copy(context, scene.points);
  const auto normals = copy(context, scene.normals);
  const auto colors = copy(context, scene.colors);
  const auto keypoints = copy(context, scene.keypoints);
  const auto keypoint_colors = copy(context, scene.keypoint_colors);
  const auto frames = copy(context, scene.frames);
  return compute_shot(
      context, {points, normals, colors},
      {keypoints, keypoint_colors, with_frames ? frames.view() : View<const Vec3f>{}}, options);
}

}  // namespace sextant::testing
