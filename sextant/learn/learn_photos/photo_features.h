// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/learn/learn_photos.h"
#include "sextant/pose/photo_observation.h"

namespace sextant::detail::learn_photos {

/// The features of one photograph that may show the object.
struct Features {
  std::vector<Vec2d> at_px;               ///< as taken
  std::vector<Vec2d> ideal_px;            ///< without lens distortion
  std::vector<float> sigma_px;            ///< their scales
  std::vector<std::uint8_t> descriptors;  ///< 128 bytes each

  std::int32_t count() const { return static_cast<std::int32_t>(at_px.size()); }
  const std::uint8_t* descriptor(std::int32_t i) const { return descriptors.data() + 128 * i; }
};

/// SIFT features inside the mask whose rays pass through the box, if there is one.
Features find_features(const Context& context, const ObjectPhoto& photo,
                       const std::optional<Bounds>& box, const LearnPhotosOptions& options);

/// The places without lens distortion anew, after the camera was adjusted.
void undistort_places(const Camera& camera, Features& features);

/// Whether a ray meets a box in front of where it begins.
bool meets(const Bounds& box, const Vec3d& from_m, const Vec3d& along);

bool contains(const Bounds& box, const Vec3d& at_m);

}  // namespace sextant::detail::learn_photos
