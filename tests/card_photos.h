// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sextant/core/rigid3.h"
#include "sextant/geometry/camera.h"
#include "tests/blob_image.h"

// Photographs of flat cards, whose poses are known.

namespace sextant::testing {

/// A picture that lies in the plane z = 0 about the origin, x to the right and y down.
struct Card {
  Image<std::uint8_t> picture;
  double width_m = 0;

  double pixel_m() const { return width_m / picture.width(); }
};

inline Card blob_card(int width, int height, double width_m, std::uint64_t seed) {
  return {blob_image(width, height, scattered_blobs(width, height, width * height / 150, seed)),
          width_m};
}

struct CardPose {
  const Card* card;
  Rigid3d world_from_card;
};

/// The brightness of a card at a place of its plane; NaN beside it.
inline double brightness_at(const Card& card, double x_m, double y_m) {
  const Image<std::uint8_t>& picture = card.picture;
  const double u = x_m / card.pixel_m() + 0.5 * (picture.width() - 1);
  const double v = y_m / card.pixel_m() + 0.5 * (picture.height() - 1);
  if (!(u >= 0 && v >= 0 && u < picture.width() - 1 && v < picture.height() - 1)) return NAN;
  const int i = static_cast<int>(u), j = static_cast<int>(v);
  const double a = u - i, b = v - j;
  return (1 - b) * ((1 - a) * picture(i, j) + a * picture(i + 1, j)) +
         b * ((1 - a) * picture(i, j + 1) + a * picture(i + 1, j + 1));
}

/// What a camera in the world sees of cards before a grey wall: of each pixel the mean over 3 × 3
/// rays, of cards the nearest.
inline Image<std::uint8_t> photograph(std::span<const CardPose> cards, const Camera& camera,
                                      const Rigid3d& world_from_camera = {}) {
  std::vector<Rigid3d> card_from_camera;
  for (const CardPose& pose : cards) {
    card_from_camera.push_back(inverse(pose.world_from_card) * world_from_camera);
  }
  const auto seen = [&](double u, double v) {
    const Vec3d ray = unproject(camera, Vec2d{u, v});
    double nearest = INFINITY, value = 120;
    for (std::size_t i = 0; i < cards.size(); ++i) {
      const Vec3d along = card_from_camera[i].rotation * ray;
      const Vec3d& from = card_from_camera[i].translation;
      const double depth = -from.z / along.z;
      if (!(depth > 0 && depth < nearest)) continue;
      const double here =
          brightness_at(*cards[i].card, from.x + depth * along.x, from.y + depth * along.y);
      if (!std::isfinite(here)) continue;
      nearest = depth;
      value = here;
    }
    return value;
  };
  return make_image<std::uint8_t>(camera.width, camera.height, [&](int u, int v) {
    double sum = 0;
    for (int k = 0; k < 9; ++k) sum += seen(u + (k % 3 - 1) / 3.0, v + (k / 3 - 1) / 3.0);
    return static_cast<std::uint8_t>(std::lround(sum / 9));
  });
}

/// Facing the camera at this place, turned about the axes of the camera.
inline Rigid3d facing(const Vec3d& at_m, const Vec3d& turn_rad) {
  Rigid3d pose;
  pose.rotation = exp_rotation(turn_rad);
  pose.translation = at_m;
  return pose;
}

}  // namespace sextant::testing
