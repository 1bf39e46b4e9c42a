// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/picture/keypoint_picture.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "apps/sextant/picture/outline.h"

namespace sextant::app {

namespace {

constexpr Rgb8 kCircle{255, 210, 0};
constexpr Rgb8 kDirection{255, 40, 40};
constexpr double kCircleSigmas = 2;
constexpr double kLeastRadius_px = 1.5;

}  // namespace

void draw_keypoints(std::span<const SiftKeypoint> keypoints, Image<Rgb8>& picture) {
  std::vector<SiftKeypoint> order(keypoints.begin(), keypoints.end());
  std::stable_sort(order.begin(), order.end(), [](const SiftKeypoint& a, const SiftKeypoint& b) {
    return a.sigma_px > b.sigma_px;
  });
  for (const SiftKeypoint& keypoint : order) {
    const Vec2d middle{keypoint.u_px, keypoint.v_px};
    const double radius = std::max(kCircleSigmas * keypoint.sigma_px, kLeastRadius_px);
    const auto on_circle = [&](double angle) {
      return Vec2d{middle.x + radius * std::cos(angle), middle.y + radius * std::sin(angle)};
    };
    const int sides = std::clamp(static_cast<int>(3 * radius), 8, 90);
    for (int i = 0; i < sides; ++i) {
      const double side = 2 * std::numbers::pi / sides;
      draw_line(on_circle(i * side), on_circle((i + 1) * side), kCircle, 1, picture);
    }
    draw_line(middle, on_circle(keypoint.angle_rad), kDirection, 1, picture);
  }
}

}  // namespace sextant::app
