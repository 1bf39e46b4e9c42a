// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sextant/core/random.h"
#include "sextant/pose/photo_observation.h"

namespace sextant::testing {

/// Numbers drawn one after the other, for tests that make scenes.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t item) : random_{seed, item} {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_.uniform(next_++));
  }
  double normal() { return random_.normal(next_++); }
  std::uint32_t below(std::uint32_t count) { return random_.below(count, next_++); }
  Mat3d rotation() {
    return to_matrix(normalized(Quaternion<double>{normal(), normal(), normal(), normal()}));
  }
  Vec3d in_box(double half) {
    const double x = uniform(-half, half), y = uniform(-half, half);
    return {x, y, uniform(-half, half)};
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

inline Camera kitchen_camera() {
  Camera camera;
  camera.width = 1280;
  camera.height = 720;
  camera.fx_px = camera.fy_px = 1000;
  camera.cx_px = 640;
  camera.cy_px = 360;
  return camera;
}

/// Cameras side by side, 10 cm apart and turned towards the same place; the first is the world.
inline std::vector<PosedCamera> camera_row(int count) {
  std::vector<PosedCamera> cameras;
  for (int i = 0; i < count; ++i) {
    const Rigid3d world_from_camera{exp_rotation(Vec3d{0, -0.12 * i, 0}), {0.1 * i, 0, 0}};
    cameras.push_back({kitchen_camera(), world_from_camera});
  }
  return cameras;
}

inline std::vector<PinholeView> views_of(const std::vector<PosedCamera>& cameras) {
  std::vector<PinholeView> views;
  for (const PosedCamera& camera : cameras) views.push_back(pinhole_view(camera));
  return views;
}

/// Points within 6 cm as the cameras see them, with noise. `planar` puts them on the plane z = 0.
inline std::vector<PhotoObservation> observe(const std::vector<PosedCamera>& cameras,
                                             const Rigid3d& world_from_object, int points,
                                             double noise_px, Draws& draws, bool planar = false) {
  std::vector<PhotoObservation> observations;
  for (int i = 0; i < points; ++i) {
    Vec3d p = draws.in_box(0.06);
    if (planar) p.z = 0;
    for (std::size_t c = 0; c < cameras.size(); ++c) {
      const Vec3d in_camera = inverse(cameras[c].world_from_camera) * (world_from_object * p);
      const Vec2d at = project(cameras[c].camera, in_camera);
      const double du = noise_px * draws.normal();
      observations.push_back(
          {p, at + Vec2d{du, noise_px * draws.normal()}, static_cast<std::int32_t>(c)});
    }
  }
  return observations;
}

}  // namespace sextant::testing
