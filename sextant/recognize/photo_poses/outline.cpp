// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_poses/outline.h"

namespace sextant::detail::photo_poses {
namespace {

double turn(const Vec2d& a, const Vec2d& b, const Vec2d& c) {
  const Vec2d first = b - a, second = c - a;
  return first.x * second.y - first.y * second.x;
}

/// The outline of an object's matched points in one photograph.
std::vector<Vec2d> outline_of(const Problem& problem, const PhotoHypothesis& pose,
                              std::size_t photo) {
  const PinholeView& view = problem.views[photo];
  const Rigid3d camera_from_object = view.camera_from_world * pose.world_from_object;
  std::vector<Vec2d> places;
  for (const std::int32_t m : problem.of_object[static_cast<std::size_t>(pose.object)]) {
    const PhotoObservation& o = problem.matches[static_cast<std::size_t>(m)];
    const Vec3d p = camera_from_object * o.point_m;
    if (!(p.z >= kNearestDepth_m)) continue;
    places.push_back({view.fx_px * p.x / p.z + view.cx_px, view.fy_px * p.y / p.z + view.cy_px});
  }
  return hull_of(std::move(places));
}

using Outlines = std::vector<std::vector<Vec2d>>;  ///< one for each photograph

Outlines outlines_of(const Problem& problem, const PhotoHypothesis& pose) {
  Outlines outlines;
  for (std::size_t photo = 0; photo < problem.views.size(); ++photo) {
    outlines.push_back(outline_of(problem, pose, photo));
  }
  return outlines;
}

std::size_t count_within(const Problem& problem, const PhotoHypothesis& pose,
                         const Outlines& outlines) {
  return static_cast<std::size_t>(
      std::count_if(pose.matches.begin(), pose.matches.end(), [&](std::int32_t m) {
        const PhotoObservation& o = problem.matches[static_cast<std::size_t>(m)];
        return is_inside(outlines[static_cast<std::size_t>(o.camera)], o.at_px);
      }));
}

}  // namespace

std::vector<Vec2d> hull_of(std::vector<Vec2d> places_px) {
  std::sort(places_px.begin(), places_px.end(),
            [](const Vec2d& a, const Vec2d& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  places_px.erase(std::unique(places_px.begin(), places_px.end()), places_px.end());
  if (places_px.size() < 3) return places_px;
  // The chain below from left to right, then the one above back.
  std::vector<Vec2d> hull;
  for (int chain = 0; chain < 2; ++chain) {
    const std::size_t least = hull.size() + 2;
    for (const Vec2d& p : places_px) {
      while (hull.size() >= least && turn(hull[hull.size() - 2], hull.back(), p) <= 0) {
        hull.pop_back();
      }
      hull.push_back(p);
    }
    hull.pop_back();  // the next chain begins with it
    std::reverse(places_px.begin(), places_px.end());
  }
  return hull;
}

bool is_inside(const std::vector<Vec2d>& hull_px, const Vec2d& at_px) {
  if (hull_px.size() < 3) return false;
  for (std::size_t i = 0; i < hull_px.size(); ++i) {
    if (turn(hull_px[i], hull_px[(i + 1) % hull_px.size()], at_px) < 0) return false;
  }
  return true;
}

std::vector<std::int32_t> covering_poses(const Problem& problem,
                                         const std::vector<PhotoHypothesis>& poses) {
  std::vector<std::size_t> order(poses.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return poses[a].object != poses[b].object ? poses[a].object < poses[b].object
                                              : poses[a].matches.size() > poses[b].matches.size();
  });
  std::vector<std::int32_t> covering(poses.size(), -1);
  std::vector<std::pair<std::size_t, Outlines>> standing;  // of the same object
  for (const std::size_t p : order) {
    const PhotoHypothesis& pose = poses[p];
    if (!standing.empty() && poses[standing.front().first].object != pose.object) standing.clear();
    for (const auto& [other, outlines] : standing) {
      if (2 * count_within(problem, pose, outlines) < pose.matches.size()) continue;
      covering[p] = static_cast<std::int32_t>(other);
      break;
    }
    if (covering[p] < 0) standing.emplace_back(p, outlines_of(problem, pose));
  }
  return covering;
}

}  // namespace sextant::detail::photo_poses
