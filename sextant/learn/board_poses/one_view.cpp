// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/board_poses/one_view.h"

#include <algorithm>

#include "sextant/core/random.h"
#include "sextant/pose/p3p.h"
#include "sextant/pose/reprojection.h"

namespace sextant::detail::board_poses {

namespace {

constexpr int kTriples = 60;

/// The median of the squared distances of observations.
double median_sq_px(const PinholeView& view, const Rigid3d& camera_from_board,
                    std::span<const PhotoObservation> observations, std::vector<double>& room) {
  room.clear();
  for (const PhotoObservation& o : observations) {
    room.push_back(squared_error_px(view, camera_from_board, o.point_m, o.at_px));
  }
  const auto middle = room.begin() + static_cast<std::ptrdiff_t>(room.size() / 2);
  std::nth_element(room.begin(), middle, room.end());
  return *middle;
}

}  // namespace

BoardView look_for_board(const TagBoard& board, const BoardPhoto& photo,
                         const BoardPosesOptions& options) {
  BoardView view;
  std::vector<std::int32_t> seen;
  for (const TagSighting& tag : photo.tags) {
    const auto at = std::lower_bound(
        board.tags.begin(), board.tags.end(), tag.id,
        [](const BoardTag& of_board, std::int32_t id) { return of_board.id < id; });
    if (at == board.tags.end() || at->id != tag.id) continue;
    if (!seen.empty() && seen.back() == tag.id) {
      view.rejected = "shows tag " + std::to_string(tag.id) +
                      " twice; there are two boards, or a mirror image of one";
      return view;
    }
    seen.push_back(tag.id);
    for (std::int32_t i = 0; i < 4; ++i) {
      view.corners.push_back({4 * static_cast<std::int32_t>(at - board.tags.begin()) + i,
                              tag.corners_px[static_cast<std::size_t>(i)]});
    }
  }
  view.tags = static_cast<std::int32_t>(seen.size());
  if (view.tags > 0 && photo.edge_px > options.most_edge_px) {
    std::ostringstream text;
    text.precision(3);
    text << "is blurred: the edges of its tags are " << photo.edge_px << " px wide, and "
         << options.most_edge_px << " are the most";
    view.rejected = text.str();
    return view;
  }
  if (view.tags >= options.least_tags) return view;
  if (photo.tags.empty()) {
    view.rejected =
        "shows no tag of the board; it is blurred, too small, or the board is not in it";
  } else if (seen.empty()) {
    view.rejected = "shows tag " + std::to_string(photo.tags[0].id) +
                    ", which the board does not have; it is another board";
  } else {
    view.rejected = "shows " + std::to_string(view.tags) + " of the board's " +
                    std::to_string(board.tags.size()) + " tags, and " +
                    std::to_string(options.least_tags) + " are needed";
  }
  return view;
}

void find_pose(const std::vector<Vec3d>& corners_m, const Camera& camera, std::uint64_t number,
               BoardView& view) {
  const PinholeView pinhole{camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px, {}};
  std::vector<PhotoObservation> observations;
  std::vector<Vec3d> rays;
  for (const BoardCornerSighting& seen : view.corners) {
    const Vec3d ray = unproject(camera, seen.at_px);
    if (!is_finite(ray)) continue;
    const Vec2d ideal{camera.fx_px * ray.x + camera.cx_px, camera.fy_px * ray.y + camera.cy_px};
    observations.push_back({corners_m[static_cast<std::size_t>(seen.corner)], ideal, 0});
    rays.push_back(ray);
  }
  view.camera = camera;
  const Random random{0, number};
  std::vector<double> room;
  Rigid3d best;
  double least = INFINITY;
  const auto count = static_cast<std::uint32_t>(observations.size());
  for (int triple = 0; count >= 4 && triple < kTriples; ++triple) {
    std::size_t pick[3];
    for (int k = 0; k < 3; ++k) {
      pick[k] = random.below(count, static_cast<std::uint64_t>(3 * triple + k));
    }
    const Vec3d points[3] = {observations[pick[0]].point_m, observations[pick[1]].point_m,
                             observations[pick[2]].point_m};
    const Vec3d along[3] = {rays[pick[0]], rays[pick[1]], rays[pick[2]]};
    const P3pSolutions solutions = solve_p3p(points, along);
    for (int s = 0; s < solutions.count; ++s) {
      const double median =
          median_sq_px(pinhole, solutions.camera_from_object[s], observations, room);
      if (!(median < least)) continue;
      least = median;
      best = solutions.camera_from_object[s];
    }
  }
  if (!std::isfinite(least)) {
    view.rejected = "shows tags from which no pose follows";
    return;
  }
  const PhotoFit fit = fit_reprojection(std::span(&pinhole, 1), observations, best);
  view.camera_from_board = fit.world_from_object;
  view.rms_px = std::sqrt(fit.squares / count);
}

}  // namespace sextant::detail::board_poses
