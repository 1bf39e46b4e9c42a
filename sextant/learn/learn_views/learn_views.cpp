// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views.h"

#include <algorithm>

#include "sextant/core/for_each.h"
#include "sextant/core/options_json.h"
#include "sextant/learn/learn_views/merge_views.h"
#include "sextant/learn/learn_views/register_views.h"

namespace sextant {

using namespace detail::learn_views;

namespace {

/// A view alone shows less than the object has; neighbours in a circle show it from the sides.
constexpr double kWholeObject = 1.2;

std::string plural(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void check_views(std::span<const RgbdView> views) {
  require(views.size() >= 2, "views: ", views.size(),
          " cannot show an object from all sides; give two or more");
  std::size_t posed = 0;
  for (const RgbdView& view : views) {
    check_camera(view.camera);
    const auto fits = [&](const auto& image, const char* what) {
      require(image.empty() ||
                  (image.width() == view.camera.width && image.height() == view.camera.height),
              "view ", view.name, ": its ", what, " is ", image.width(), " x ", image.height(),
              " px, but its camera ", view.camera.width, " x ", view.camera.height);
    };
    require(!view.depth_m.empty(), "view ", view.name, ": has no depth");
    fits(view.depth_m, "depth");
    fits(view.color, "colour");
    fits(view.mask, "mask");
    posed += view.world_from_camera ? 1 : 0;
  }
  require(posed == 0 || posed == views.size(), "views: ", posed, " of ", views.size(),
          " have poses; give them for all, or for none to have the views registered");
}

std::vector<PreparedView> prepare(const Context& context, std::span<const RgbdView> views,
                                  const LearnProgress& progress) {
  std::vector<PreparedView> prepared(views.size());
  const auto count = static_cast<std::int64_t>(views.size());
  const std::int64_t batch = 2 * static_cast<std::int64_t>(context.threads());
  for (std::int64_t first = 0; first < count; first += batch) {
    report(progress, "views", first, count);
    for_each_chunk(context, std::min(batch, count - first), 1,
                   [&](std::int64_t begin, std::int64_t) {
                     const auto at = static_cast<std::size_t>(first + begin);
                     prepared[at] = prepare_view(Context::cpu(1), views[at]);
                   });
  }
  report(progress, "views", count, count);
  return prepared;
}

/// The median of what the views show of the object, of those that show some.
double median_diagonal_m(const std::vector<PreparedView>& views) {
  std::vector<float> diagonals;
  for (const PreparedView& view : views) {
    if (view.points > 0) diagonals.push_back(view.diagonal_m);
  }
  require(diagonals.size() >= 2, "views: an object was found in ", diagonals.size(), " of ",
          views.size(),
          "; it must stand free on a plane near the middle of the image, or have masks");
  std::sort(diagonals.begin(), diagonals.end());
  return kWholeObject * static_cast<double>(diagonals[diagonals.size() / 2]);
}

/// Upright in the first view that was used, with the origin in the middle of the object.
Rigid3d object_from_world(const std::vector<PreparedView>& views,
                          const Registration& registration) {
  Mat3d object_from_camera{{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}};
  Rigid3d turn;
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!registration.joined[v]) continue;
    turn = Rigid3d{object_from_camera, {}} * inverse(registration.world_from_view[v]);
    break;
  }
  Vec3d low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!registration.joined[v]) continue;
    const Rigid3d motion = turn * registration.world_from_view[v];
    for (const Vec3f& p : views[v].surface.points.host()) {
      if (!is_finite(p)) continue;
      const Vec3d x = motion * cast<double>(p);
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
  }
  turn.translation = turn.translation - (low + high) * 0.5;
  return turn;
}

/// The box of all points but the farthest thousandth along each axis, which may be strays.
Bounds box_of(const std::vector<PreparedView>& views, const Registration& registration) {
  std::vector<float> along[3];
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (!registration.joined[v]) continue;
    const Rigid3f motion = cast<float>(registration.world_from_view[v]);
    for (const Vec3f& p : views[v].surface.points.host()) {
      if (!is_finite(p)) continue;
      const Vec3f x = motion * p;
      along[0].push_back(x.x);
      along[1].push_back(x.y);
      along[2].push_back(x.z);
    }
  }
  float low[3], high[3];
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<float>& values = along[axis];
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const std::size_t strays = values.size() / 5000;
    low[axis] = values[strays];
    high[axis] = values[values.size() - 1 - strays];
  }
  return {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

constexpr const char* kRemedy =
    "; give the poses of the views, or take more views in steps of 20 degrees or less, nearer to "
    "the object, of an object with more shape";

/// A wrong pose makes a wrong object: poses from the shape alone are taken only if they are sure.
void require_sure(std::span<const RgbdView> views, const Registration& registration,
                  const std::vector<std::string>& left_out) {
  // Wrong pairs seldom close circles. With a share w of them, (1 - w)³ of the circles close: 0.85
  // where one pair in nineteen is wrong, so that those around it outvote it.
  constexpr double kLeastClosed = 0.85;
  const int all = registration.circles + registration.open;
  require(registration.circles >= kLeastClosed * all, "views: only ", registration.circles, " of ",
          all, " circles of three views close, so the views fit together in several ways", kRemedy);
  require(
      registration.alike.empty(), "views: view ",
      registration.alike.empty() ? "" : views[static_cast<std::size_t>(registration.alike[0])].name,
      " fits as well from another side, because the object looks alike from several", kRemedy);
  const auto joined = static_cast<std::size_t>(
      std::count(registration.joined.begin(), registration.joined.end(), 1));
  const std::size_t least = std::max<std::size_t>(4, (views.size() + 1) / 2);
  require(joined >= least, "views: only ", joined, " of ", views.size(),
          " can be joined without doubt, but at least ", least, " must be",
          left_out.empty() ? "" : " (" + left_out[0] + ")", kRemedy);
  // What looks the same from all sides fits best without any motion.
  // What looks the same from some sides puts views of these into one place.
  constexpr double kLeastTurn_rad = 0.6, kSamePlace_rad = 0.07;
  double turn_rad = 0;
  for (std::size_t a = 0; a < views.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (!registration.joined[a] || !registration.joined[b]) continue;
      const double angle_rad = rotation_angle(transpose(registration.world_from_view[a].rotation) *
                                              registration.world_from_view[b].rotation);
      require(angle_rad >= kSamePlace_rad, "views: ", views[b].name, " and ", views[a].name,
              " seem to be taken from one place; leave one out if they were, else the object looks "
              "alike from several sides",
              kRemedy);
      turn_rad = std::max(turn_rad, angle_rad);
    }
  }
  require(turn_rad >= kLeastTurn_rad,
          "views: they fit best when all look from the same side, within ",
          static_cast<int>(turn_rad * 57.2958), " degrees, as views of a round object do", kRemedy);
}

Registration known_poses(std::span<const RgbdView> views,
                         const std::vector<PreparedView>& prepared) {
  Registration registration;
  registration.reasons.resize(views.size());
  for (std::size_t v = 0; v < views.size(); ++v) {
    registration.world_from_view.push_back(*views[v].world_from_camera);
    registration.joined.push_back(prepared[v].points > 0 ? 1 : 0);
    if (prepared[v].points == 0) registration.reasons[v] = "no object was found in it";
  }
  return registration;
}

constexpr const char* kPoseRemedy =
    "; check that they are world_from_camera (or camera_from_object), in metres, with qw last, and "
    "that the camera and its depth_scale are those of the depth maps";

/// Poses that were given with another convention, or a camera of another resolution, make a heap of
/// pieces instead of an object: views then see through each other.
void check_given_poses(const Context& context, const std::vector<PreparedView>& views,
                       double diagonal_m, Registration& registration) {
  const auto joined = [&] {
    return std::count(registration.joined.begin(), registration.joined.end(), 1);
  };
  const auto found = joined();
  require(found >= 2, "views: an object was found in ", found, " of ", views.size(),
          "; it must stand free on a plane, or have masks");
  drop_contradictions(context, views, diagonal_m, kGivenPoses, registration);
  require(2 * joined() > found, "views: with the poses given, ", found - joined(), " of ", found,
          " see through what others measured", kPoseRemedy);
}

/// No view shows less than half of what all show together.
void check_given_size(const Bounds& box, double diagonal_m) {
  constexpr double kMostDiagonals = 2;
  require(box.diagonal_m() <= kMostDiagonals * diagonal_m,
          "views: with the poses given, the object would be ", box.diagonal_m(),
          " m large, of which each view shows about ", diagonal_m / kWholeObject, " m",
          kPoseRemedy);
}

}  // namespace

ReconstructedObject reconstruct_views(const Context& caller, std::span<const RgbdView> views,
                                      const ReconstructOptions& options,
                                      const LearnProgress& progress) {
  check_options(options);
  check_views(views);
  const Context context = caller.is_cpu() ? caller : Context::cpu();
  std::vector<PreparedView> prepared = prepare(context, views, progress);
  const double diagonal_m = median_diagonal_m(prepared);
  const bool posed = views[0].world_from_camera.has_value();

  Registration registration;
  if (posed) {
    registration = known_poses(views, prepared);
    if (options.refine) {
      refine_poses(context, prepared, diagonal_m, options, progress, registration);
    }
    check_given_poses(context, prepared, diagonal_m, registration);
  } else {
    const float radius_m =
        options.shot_radius_m > 0 ? options.shot_radius_m : static_cast<float>(0.14 * diagonal_m);
    const float radii_m[] = {radius_m, 0.6f * radius_m};
    for (std::size_t v = 0; v < prepared.size(); ++v) {
      report(progress, "descriptors", static_cast<std::int64_t>(v),
             static_cast<std::int64_t>(prepared.size()));
      if (prepared[v].points > 0) describe_view(context, radii_m, prepared[v]);
    }
    registration = register_views(context, prepared, diagonal_m, options, progress);
  }

  ReconstructedObject object;
  object.pairs = registration.pairs;
  for (std::size_t v = 0; v < views.size(); ++v) {
    if (registration.joined[v]) {
      object.used.push_back(static_cast<int>(v));
    } else {
      object.left_out.push_back("view " + views[v].name + ": " + registration.reasons[v]);
    }
  }
  if (!posed) {
    require_sure(views, registration, object.left_out);
    const Rigid3d motion = object_from_world(prepared, registration);
    for (Rigid3d& pose : registration.world_from_view) pose = motion * pose;
  }
  const Bounds box = box_of(prepared, registration);
  if (posed) check_given_size(box, diagonal_m);
  object.voxel_m = options.voxel_m > 0 ? options.voxel_m : std::max(0.001f, box.diagonal_m() / 180);
  std::vector<MergedView> merged;
  for (int v : object.used) {
    const auto at = static_cast<std::size_t>(v);
    const Rigid3d camera_from_object = inverse(registration.world_from_view[at]);
    object.views.push_back({views[at].camera, camera_from_object});
    merged.push_back({&prepared[at], &views[at].color, camera_from_object});
  }
  object.mesh = merge_views(context, merged, box, object.voxel_m, progress);
  require(object.mesh.triangles.size() > 0, "views: no surface could be merged from ",
          object.used.size(), " views; check poses, masks and the unit of the depth");
  object.remarks.push_back("merged from " +
                           plural(static_cast<std::int64_t>(object.used.size()), "view") + " of " +
                           std::to_string(views.size()) +
                           (posed ? ", with the poses given" : ", registered by their shape"));
  object.remarks.push_back("background removed by " +
                           prepared[static_cast<std::size_t>(object.used[0])].background);
  if (!posed) {
    object.remarks.push_back(
        "poses come from the shape alone; an object that looks alike from several sides may be "
        "joined wrongly, so look at the mesh");
  }
  for (const std::string& reason : object.left_out) object.remarks.push_back("left out " + reason);
  return object;
}

LearnedObject learn_views(const Context& context, const std::string& name,
                          std::span<const RgbdView> views, const ReconstructOptions& reconstruct,
                          const LearnMeshOptions& options, const LearnProgress& progress) {
  ReconstructedObject object = reconstruct_views(context, views, reconstruct, progress);
  LearnedObject learned =
      learn_mesh(context, name, object.mesh, options, progress, object.views[0].camera);
  learned.source.kind = "views";
  learned.source.remarks.insert(learned.source.remarks.begin(), object.remarks.begin(),
                                object.remarks.end());
  return learned;
}

}  // namespace sextant
