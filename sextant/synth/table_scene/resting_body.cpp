// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/table_scene/resting_body.h"

#include <algorithm>

namespace sextant::detail::table_scene {

namespace {

constexpr double kContactM = 5e-4;

}  // namespace

RestingBody set_down(const TriangleMesh& mesh, const Mat3d& rotation) {
  std::vector<Vec3d> turned;
  double low = INFINITY, high = -INFINITY;
  for (const Vec3f& p : mesh.vertices.points.host()) {
    turned.push_back(rotation * cast<double>(p));
    low = std::min(low, turned.back().z);
    high = std::max(high, turned.back().z);
  }
  require(!turned.empty(), "mesh: has no vertices");
  RestingBody body;
  body.ground_from_object = {rotation, {0, 0, -low}};
  body.height_m = high - low;
  std::vector<Vec2d> all, lowest, highest;
  for (const Vec3d& p : turned) {
    all.push_back({p.x, p.y});
    if (p.z <= low + kContactM) lowest.push_back({p.x, p.y});
    if (p.z >= high - kContactM) highest.push_back({p.x, p.y});
  }
  body.footprint = convex_hull(std::move(all));
  body.contact = convex_hull(std::move(lowest));
  body.top = convex_hull(std::move(highest));
  return body;
}

PlacedBody placed(const RestingBody& body, double yaw_rad, const Vec2d& at_m, double low_m) {
  return {low_m,
          low_m + body.height_m,
          moved(body.footprint, yaw_rad, at_m),
          moved(body.contact, yaw_rad, at_m),
          moved(body.top, yaw_rad, at_m),
          body.flat_top()};
}

Rigid3d world_from_object(const RestingBody& body, double yaw_rad, const Vec2d& at_m,
                          double low_m) {
  const Rigid3d world_from_ground{exp_rotation(Vec3d{0, 0, yaw_rad}), {at_m.x, at_m.y, low_m}};
  return renormalized(world_from_ground * body.ground_from_object);
}

bool clear_of(const PlacedBody& a, const PlacedBody& b, double gap_m) {
  constexpr double kTouchingM = 1e-9;  // standing on each other is no penetration
  if (a.low_m >= b.high_m - kTouchingM || b.low_m >= a.high_m - kTouchingM) return true;
  return apart(a.footprint, b.footprint, gap_m);
}

}  // namespace sextant::detail::table_scene
