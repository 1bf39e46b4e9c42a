// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/recognize/photo_poses.h"
#include "tests/photo_observations.h"

namespace sextant::testing {

/// Matches of made objects, whose poses are known, with noise and with what is wrong.
class PhotoScene {
 public:
  PhotoScene(std::vector<PosedCamera> cameras, std::uint64_t seed, std::uint64_t trial = 0)
      : cameras_(std::move(cameras)), draws_(seed, trial), features_(cameras_.size(), 0) {}

  /// An object with so many points in a box of this half width.
  std::int32_t add_object(int points, double half_m = 0.06) {
    std::vector<Vec3d> own;
    for (int i = 0; i < points; ++i) own.push_back(draws_.in_box(half_m));
    return add_object(std::move(own));
  }
  std::int32_t add_object(std::vector<Vec3d> points) {
    const std::string name = "object " + std::to_string(objects_.size());
    objects_.push_back({name, {}, 0.2});
    points_.push_back(std::move(points));
    return static_cast<std::int32_t>(objects_.size()) - 1;
  }

  /// Every camera sees this share of the object's points, where it has pixels.
  void place(std::int32_t object, const Rigid3d& world_from_object, double noise_px,
             double share = 1) {
    for (std::size_t c = 0; c < cameras_.size(); ++c) {
      place_in(c, object, world_from_object, noise_px, share);
    }
  }
  void place_in(std::size_t c, std::int32_t object, const Rigid3d& world_from_object,
                double noise_px, double share = 1) {
    const PosedCamera& posed = cameras_[c];
    const std::vector<Vec3d>& points = points_[static_cast<std::size_t>(object)];
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (draws_.uniform(0, 1) >= share) continue;
      const Vec3d p = inverse(posed.world_from_camera) * (world_from_object * points[i]);
      const double du = noise_px * draws_.normal(), dv = noise_px * draws_.normal();
      const Vec2d at = project(posed.camera, p) + Vec2d{du, dv};
      const bool inside =
          at.x > 0 && at.y > 0 && at.x < posed.camera.width && at.y < posed.camera.height;
      if (p.z > 0 && inside) add(c, object, static_cast<int>(i), at, draws_.uniform(0.4, 0.8));
    }
  }

  /// Features of a photograph that look like points of an object, anywhere.
  void add_clutter(std::int32_t object, int count) {
    const auto& points = points_[static_cast<std::size_t>(object)];
    for (std::size_t c = 0; c < cameras_.size(); ++c) {
      for (int i = 0; i < count; ++i) {
        const Camera& camera = cameras_[c].camera;
        const Vec2d at{draws_.uniform(0, camera.width), draws_.uniform(0, camera.height)};
        const auto point = draws_.below(static_cast<std::uint32_t>(points.size()));
        add(c, object, static_cast<int>(point), at, draws_.uniform(0.6, 0.8));
      }
    }
  }

  /// Every match again as one of another object, whose points are the same.
  void repeat_for(std::int32_t object, std::int32_t other) {
    const std::size_t count = matches_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (matches_[i].object != object) continue;
      PhotoMatch match = matches_[i];
      match.object = other;
      matches_.push_back(match);
    }
  }

  PhotoPoses find(const PhotoPoseOptions& options = {}, const Context& context = Context::cpu(),
                  PhotoTrace* trace = nullptr) const {
    return find_photo_poses(context, matches_, cameras_, objects_, options, {}, trace);
  }

  /// Facing any way, within the view of the first camera.
  Rigid3d any_pose(double z_m = 0.7) {
    const Mat3d turn = draws_.rotation();
    const double x = draws_.uniform(-0.3, 0.3) * z_m;
    return {turn, {x, draws_.uniform(-0.15, 0.15) * z_m, z_m}};
  }

  Draws& draws() { return draws_; }
  std::vector<PhotoMatch>& matches() { return matches_; }
  std::vector<PosedCamera>& cameras() { return cameras_; }
  const std::vector<PhotoObject>& objects() const { return objects_; }
  const std::vector<Vec3d>& points_of(std::int32_t object) const {
    return points_[static_cast<std::size_t>(object)];
  }

 private:
  void add(std::size_t camera, std::int32_t object, int point, const Vec2d& at, double ratio) {
    PhotoMatch match;
    match.photo = static_cast<std::int32_t>(camera);
    match.feature = features_[camera]++;
    match.object = object;
    match.point = point;
    match.at_px = {static_cast<float>(at.x), static_cast<float>(at.y)};
    match.point_m =
        cast<float>(points_[static_cast<std::size_t>(object)][static_cast<std::size_t>(point)]);
    match.ratio = static_cast<float>(ratio);
    matches_.push_back(match);
  }

  std::vector<PosedCamera> cameras_;
  Draws draws_;
  std::vector<std::int32_t> features_;
  std::vector<PhotoObject> objects_;
  std::vector<std::vector<Vec3d>> points_;
  std::vector<PhotoMatch> matches_;
};

/// How far two poses are apart about the object's origin.
struct PoseGap {
  double shift_m = 0, turn_rad = 0;
};
inline PoseGap gap(const Rigid3d& a, const Rigid3d& b) {
  return {norm(a.translation - b.translation), rotation_angle(transpose(a.rotation) * b.rotation)};
}

/// Detections of an object at this pose.
inline int count_at(const PhotoPoses& found, std::int32_t object, const Rigid3d& truth,
                    double shift_m, double turn_rad) {
  int count = 0;
  for (const PhotoDetection& d : found.detections) {
    const PoseGap g = gap(d.world_from_object, truth);
    count += d.object_index == object && g.shift_m < shift_m && g.turn_rad < turn_rad;
  }
  return count;
}

}  // namespace sextant::testing
