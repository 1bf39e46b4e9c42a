// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/board_poses.h"

#include <algorithm>

#include "sextant/learn/board_poses/one_view.h"
#include "sextant/pose/bundle.h"

namespace sextant {

using namespace detail::board_poses;

namespace {

/// Focal lengths that are tried where nobody has a guess, in longer sides of the photograph: from
/// wide angles to long lenses.
constexpr double kFocalTries[] = {0.7, 1.0, 1.4, 2.2};
/// Where the principal point is thought to lie about the middle, in widths.
constexpr double kCentreShare = 0.02;
/// How often the spread of edges and the lens are found, one with the other.
constexpr int kSpreadRounds = 5;

Camera guessed_camera(const BoardPhoto& photo, double focal_px) {
  Camera camera;
  camera.width = photo.width;
  camera.height = photo.height;
  camera.fx_px = camera.fy_px = focal_px;
  camera.cx_px = 0.5 * (photo.width - 1);
  camera.cy_px = 0.5 * (photo.height - 1);
  return camera;
}

/// Adjusts the poses of all views that have one, and the camera where it is not known; gives the
/// result of the adjustment.
BundleResult adjust_views(const std::vector<Vec3d>& corners_m, bool focal, bool lens,
                          std::vector<BoardView>& views) {
  Bundle bundle;
  for (const Vec3d& corner : corners_m) bundle.points.push_back({corner, true});
  std::vector<std::size_t> used;
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!views[v].rejected.empty()) continue;
    const auto number = static_cast<std::int32_t>(bundle.views.size());
    if (!focal || bundle.cameras.empty()) bundle.cameras.push_back(views[v].camera);
    bundle.views.push_back({focal ? 0 : number, views[v].camera_from_board});
    for (const BoardCornerSighting& seen : views[v].corners) {
      bundle.observations.push_back({number, seen.corner, seen.at_px});
    }
    used.push_back(v);
  }
  if (used.empty()) return {};
  BundleOptions options;
  options.iterations = 100;
  options.focal = focal;
  options.centre = options.distortion = lens;
  options.centre_px = kCentreShare * bundle.cameras[0].width;
  BundleResult result = adjust_bundle(bundle, options);
  const std::vector<double> errors = bundle_errors_px(bundle);
  std::size_t o = 0;
  for (std::size_t k = 0; k < used.size(); ++k) {
    BoardView& view = views[used[k]];
    view.camera = bundle.cameras[static_cast<std::size_t>(bundle.views[k].camera)];
    view.camera_from_board = bundle.views[k].camera_from_world;
    double squares = 0;
    for (std::size_t i = 0; i < view.corners.size(); ++i, ++o) squares += errors[o] * errors[o];
    view.rms_px = std::sqrt(squares / static_cast<double>(view.corners.size()));
  }
  return result;
}

std::int32_t count_used(const std::vector<BoardView>& views) {
  return static_cast<std::int32_t>(std::count_if(
      views.begin(), views.end(), [](const BoardView& view) { return view.rejected.empty(); }));
}

/// The views with the focal length, of the guess and those tried, whose adjustment leaves least;
/// `guess_px` becomes the one from which it was found.
std::vector<BoardView> with_focal(const std::vector<Vec3d>& corners_m,
                                  std::span<const BoardPhoto> photos,
                                  const std::vector<BoardView>& seen, double& guess_px) {
  std::vector<double> tries;
  const double side = std::max(photos[0].width, photos[0].height);
  if (guess_px > 0) tries.push_back(guess_px);
  for (const double share : kFocalTries) tries.push_back(share * side);
  // Fewer photographs leave less: first it counts how many have a pose.
  std::vector<BoardView> best = seen;
  int most = 0;
  double least = INFINITY;
  for (const double focal_px : tries) {
    std::vector<BoardView> views = seen;
    for (std::size_t v = 0; v < views.size(); ++v) {
      if (!views[v].rejected.empty()) continue;
      find_pose(corners_m, guessed_camera(photos[v], focal_px), v, views[v]);
    }
    const double cost = adjust_views(corners_m, true, false, views).cost;
    const int used = count_used(views);
    if (used < most || !std::isfinite(cost) || (used == most && !(cost < least))) continue;
    most = used;
    least = cost;
    best = std::move(views);
    guess_px = focal_px;
  }
  return best;
}

/// Takes out of the corners what moves all of a photograph's tags' edges alike, outwards or
/// inwards: ink that spreads, and blur, which lets white outshine black. Tags lie where they did;
/// their size alone seems another one, which else bends the lens.
void take_out_spread(const std::vector<Vec3d>& corners_m, std::vector<BoardView>& views) {
  for (BoardView& view : views) {
    if (!view.rejected.empty()) continue;
    std::vector<Vec2d> outwards;
    double sum_px = 0;
    for (std::size_t first = 0; first + 4 <= view.corners.size(); first += 4) {
      Vec2d at[4], middle{};
      for (std::size_t i = 0; i < 4; ++i) {
        const BoardCornerSighting& seen = view.corners[first + i];
        at[i] = project(view.camera,
                        view.camera_from_board * corners_m[static_cast<std::size_t>(seen.corner)]);
        middle = middle + at[i] * 0.25;
      }
      for (std::size_t i = 0; i < 4; ++i) {
        const Vec2d out = at[i] - middle;
        outwards.push_back(out * (1 / std::hypot(out.x, out.y)));
        sum_px += dot(view.corners[first + i].at_px - at[i], outwards.back());
      }
    }
    const double spread_px = sum_px / static_cast<double>(outwards.size());
    if (!std::isfinite(spread_px)) continue;
    for (std::size_t i = 0; i < outwards.size(); ++i) {
      view.corners[i].at_px = view.corners[i].at_px - outwards[i] * spread_px;
    }
  }
}

/// Rejects views whose corners are far off; whether there were any.
bool reject_far_off(const BoardPosesOptions& options, std::vector<BoardView>& views) {
  bool any = false;
  for (BoardView& view : views) {
    if (!view.rejected.empty() || view.rms_px <= options.most_rms_px) continue;
    std::ostringstream text;
    text.precision(3);
    text << "shows the board's tags " << view.rms_px
         << " px from where board.json has them; it is another board, or a bent one";
    view.rejected = text.str();
    any = true;
  }
  return any;
}

/// The first photograph with tags, and that all others have its size.
void check_one_camera(std::span<const BoardPhoto> photos) {
  for (const BoardPhoto& photo : photos) {
    require(photo.width == photos[0].width && photo.height == photos[0].height, photo.name,
            ": has ", photo.width, " x ", photo.height, " px, but ", photos[0].name, " has ",
            photos[0].width, " x ", photos[0].height,
            "; photographs without camera file must be of one camera and one size");
  }
}

}  // namespace

std::vector<Vec3d> board_corners_m(const TagBoard& board) {
  std::vector<Vec3d> corners;
  for (const BoardTag& tag : board.tags) {
    for (const Vec2d& corner : tag.corners_m) corners.push_back({corner.x, corner.y, 0});
  }
  return corners;
}

BoardPoses find_board_poses(const TagBoard& board, std::span<const BoardPhoto> photos,
                            const BoardPosesOptions& options) {
  check_options(options);
  BoardPoses result;
  if (photos.empty()) return result;
  const bool known = photos[0].camera.has_value();
  for (const BoardPhoto& photo : photos) {
    require(photo.camera.has_value() == known, photo.name,
            ": of some photographs the camera is known and of others it is not");
  }
  if (!known) check_one_camera(photos);
  const std::vector<Vec3d> corners = board_corners_m(board);
  for (const BoardPhoto& photo : photos) {
    result.views.push_back(look_for_board(board, photo, options));
  }
  if (known) {
    for (std::size_t v = 0; v < photos.size(); ++v) {
      if (result.views[v].rejected.empty()) {
        find_pose(corners, *photos[v].camera, v, result.views[v]);
      }
    }
    reject_far_off(options, result.views);
    adjust_views(corners, false, false, result.views);
    take_out_spread(corners, result.views);
    adjust_views(corners, false, false, result.views);
  } else if (count_used(result.views) > 0) {
    for (const BoardPhoto& photo : photos) {
      if (photo.focal_guess_px > 0 && result.focal_guess_px <= 0) {
        result.focal_guess_px = photo.focal_guess_px;
      }
    }
    result.views = with_focal(corners, photos, result.views, result.focal_guess_px);
    // A few that are wrong have little say in the adjustment: they are left out before the lens is
    // looked at.
    reject_far_off({.most_rms_px = 5 * options.most_rms_px}, result.views);
    BundleResult lens = adjust_views(corners, true, true, result.views);
    reject_far_off(options, result.views);
    for (int round = 0; round < kSpreadRounds; ++round) {
      take_out_spread(corners, result.views);
      lens = adjust_views(corners, true, true, result.views);
    }
    if (reject_far_off(options, result.views)) {
      lens = adjust_views(corners, true, true, result.views);
    }
    if (!lens.focal_deviation_px.empty()) result.focal_deviation_px = lens.focal_deviation_px[0];
  }
  result.used = count_used(result.views);
  double squares = 0;
  std::size_t count = 0;
  for (const BoardView& view : result.views) {
    if (!view.rejected.empty()) continue;
    squares += view.rms_px * view.rms_px * static_cast<double>(view.corners.size());
    count += view.corners.size();
  }
  if (count == 0) return result;
  result.rms_px = std::sqrt(squares / static_cast<double>(count));
  if (known) return result;
  for (const BoardView& view : result.views) {
    if (!view.rejected.empty()) continue;
    require(result.focal_deviation_px <= options.most_focal_share * view.camera.fx_px,
            "photographs: leave the focal length open (", view.camera.fx_px, " px, deviation ",
            result.focal_deviation_px,
            " px); take some from lower down around the object, or pass --camera FILE");
  }
  return result;
}

}  // namespace sextant
