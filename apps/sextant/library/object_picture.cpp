// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/library/object_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "apps/sextant/library/drawn_mesh.h"
#include "apps/sextant/picture/lettering.h"
#include "sextant/render/rasterize.h"

namespace sextant::app {

namespace {

constexpr int kTile_px = 320;   ///< of a view from one side
constexpr int kPanel_px = 640;  ///< of the object among its views
constexpr int kHeader_px = 44;
constexpr int kSmooth = 2;  ///< pictures are drawn larger and averaged
constexpr Rgb8 kPaper{250, 250, 248};
constexpr Rgb8 kInk{40, 44, 52};
constexpr Rgb8 kFrame{215, 215, 210};
constexpr Rgb8 kViewColor{70, 125, 200};
constexpr Rgb8 kRoundColor{205, 50, 45};
constexpr Rgb8 kTurnColor{235, 140, 30};

struct Ball {
  Vec3d centre_m;
  double radius_m = 0.05;
};

Ball ball_around(const LearnedObject& object) {
  const Bounds box = bounds(Context::cpu(), object.mesh.vertices.points);
  if (box.empty()) return {{}, std::max(1e-3, 0.5 * object.diameter_m)};
  return {cast<double>(box.low + box.high) * 0.5, std::max(1e-3, 0.5 * double{box.diagonal_m()})};
}

/// From where an object is shown: directions of its frame, and what is up in the picture.
struct Sides {
  Vec3d up{0, 0, 1};
  Vec3d panel{1.0, -1.4, 0.9};
  Vec3d tiles[4] = {{1, -1, 0.6}, {1, 1, 0.6}, {-1, 1, -0.5}, {0.05, -0.3, 1.2}};
};

/// What is flat is shown from its front, which looks along -z with y down.
Sides sides_of(const TriangleMesh& mesh) {
  const Bounds box = bounds(Context::cpu(), mesh.vertices.points);
  if (mesh.triangles.empty() || box.low.z < box.high.z) return {};
  return {{0, -1, 0}, {0.5, -0.5, -1}, {{0, 0, -1}, {0.8, 0, -1}, {-0.8, 0.4, -1}, {0.2, -1, -1}}};
}

/// A camera at a distance from the ball in a direction of the object's frame.
Rigid3d look_from(const Ball& ball, const Vec3d& direction, const Vec3d& upwards,
                  double distance_m) {
  const Vec3d z = -normalized(direction);
  const Vec3d up = std::abs(dot(z, upwards)) < 0.95 ? upwards : Vec3d{0, 1, 0};
  const Vec3d x = normalized(cross(z, up));
  const Mat3d rotation{{x, cross(z, x), z}};
  return {rotation, rotation * (ball.centre_m * -1.0) + Vec3d{0, 0, distance_m}};
}

Camera square_camera(int side_px, double tangent) {
  const double focal = 0.5 * side_px / tangent;
  const double centre = 0.5 * (side_px - 1);
  return {side_px, side_px, focal, focal, centre, centre, {}};
}

/// Averages blocks of kSmooth² pixels; paper where nothing is.
void paste(const Rendering& rendering, int side_px, int left, int top, Image<Rgb8>& picture) {
  const auto colors = rendering.colors_of(0);
  const auto ids = rendering.object_ids_of(0);
  for (int v = 0; v < side_px; ++v) {
    for (int u = 0; u < side_px; ++u) {
      int sum[3] = {};
      for (int b = 0; b < kSmooth; ++b) {
        for (int a = 0; a < kSmooth; ++a) {
          const int x = kSmooth * u + a, y = kSmooth * v + b;
          const Rgb8 color = ids(x, y) < 0 ? kPaper : colors(x, y);
          sum[0] += color.x;
          sum[1] += color.y;
          sum[2] += color.z;
        }
      }
      constexpr int kCount = kSmooth * kSmooth;
      picture(left + u, top + v) = {static_cast<std::uint8_t>(sum[0] / kCount),
                                    static_cast<std::uint8_t>(sum[1] / kCount),
                                    static_cast<std::uint8_t>(sum[2] / kCount)};
    }
  }
}

void draw(const Context& context, const RenderScene& scene, const Rigid3d& camera_from_object,
          double tangent, int side_px, int left, int top, Image<Rgb8>& picture) {
  std::vector<Instance> instances;
  for (int mesh = 0; mesh < scene.mesh_count(); ++mesh) {
    instances.push_back({mesh, 0, mesh, cast<float>(camera_from_object)});
  }
  const RenderOptions options{.near_m = 1e-4f,
                              .far_m = 1e6f,
                              .depth = false,
                              .colors = true,
                              .object_ids = true,
                              .ambient = 0.35f,
                              .light_right_rad = -0.5f,
                              .light_up_rad = 0.6f};
  const Rendering rendering = to_host(
      context,
      render(context, scene, square_camera(kSmooth * side_px, tangent), instances, options));
  paste(rendering, side_px, left, top, picture);
}

void draw_frame(Image<Rgb8>& picture, int left, int top, int side_px) {
  for (int i = 0; i < side_px; ++i) {
    picture(left + i, top) = kFrame;
    picture(left, top + i) = kFrame;
  }
}

/// Where a point of the object is seen in a panel.
Vec2d seen_at(const Vec3d& point_m, const Rigid3d& camera_from_object, double tangent) {
  return project(square_camera(kPanel_px, tangent), camera_from_object * point_m);
}

/// Where the cameras of views stand, drawn all at one distance from the middle of the object.
Rigid3d shown_view(const LearnedView& view, const Ball& ball, double distance_m) {
  Rigid3d object_from_camera = inverse(view.camera_from_object);
  const Vec3d away = object_from_camera.translation - ball.centre_m;
  if (norm(away) > 0) {
    object_from_camera.translation = ball.centre_m + normalized(away) * distance_m;
  }
  return object_from_camera;
}

Vec3d nearest_on_axis(const Vec3d& point_m, const Vec3d& axis, const Vec3d& to_m) {
  return point_m + axis * dot(to_m - point_m, axis);
}

/// The panel with views and symmetries.
void draw_panel(const Context& context, const LearnedObject& object, const TriangleMesh& body,
                const Ball& ball, const Sides& sides, int top, Image<Rgb8>& picture) {
  const double sphere_m = 1.8 * ball.radius_m;
  std::vector<TriangleMesh> signs;
  for (const LearnedView& view : object.views) {
    signs.push_back(camera_sign(shown_view(view, ball, sphere_m), view.camera, 0.17 * ball.radius_m,
                                kViewColor));
  }
  struct Label {
    Vec3d end_m;
    std::string text;
  };
  std::vector<Label> labels;
  const double reach_m = 1.45 * ball.radius_m, thin_m = 0.018 * ball.radius_m;
  for (const ContinuousSymmetry& symmetry : object.shape_symmetries.continuous) {
    const Vec3d middle = nearest_on_axis(symmetry.point_m, symmetry.axis, ball.centre_m);
    const Vec3d end = middle + symmetry.axis * reach_m;
    signs.push_back(rod(middle - symmetry.axis * reach_m, end, thin_m, kRoundColor));
    signs.push_back(ring(middle + symmetry.axis * (0.93 * reach_m), symmetry.axis,
                         0.22 * ball.radius_m, thin_m, kRoundColor));
    labels.push_back({end, "round"});
  }
  constexpr std::size_t kMostAxes = 12;
  std::vector<SymmetryAxis> axes = axes_of(object.shape_symmetries);
  if (axes.size() > kMostAxes) axes.resize(kMostAxes);
  for (const SymmetryAxis& a : axes) {
    const Vec3d middle = nearest_on_axis(a.point_m, a.axis, ball.centre_m);
    const Vec3d end = middle + a.axis * reach_m;
    signs.push_back(rod(middle - a.axis * reach_m, end, thin_m, kTurnColor));
    labels.push_back({end, fmt::format("1/{}", a.order)});
  }
  std::vector<const TriangleMesh*> meshes{&body};
  for (const TriangleMesh& sign : signs) meshes.push_back(&sign);
  const double tangent = 0.30, distance_m = 1.12 * sphere_m / std::sin(std::atan(tangent));
  const Rigid3d pose = look_from(ball, sides.panel, sides.up, distance_m);
  draw(context, RenderScene(context, meshes), pose, tangent, kPanel_px, 0, top, picture);
  for (const Label& label : labels) {
    const Vec2d at = seen_at(label.end_m, pose, tangent);
    if (!std::isfinite(at.x)) continue;
    draw_text(picture, static_cast<int>(at.x) + 8, top + static_cast<int>(at.y) - 8, label.text,
              kInk, 2);
  }
}

}  // namespace

std::vector<SymmetryAxis> axes_of(const Symmetries& symmetries) {
  std::vector<SymmetryAxis> axes;
  for (const Rigid3d& motion : symmetries.discrete) {
    const Vec3d turn = log_rotation(motion.rotation);
    const double angle = norm(turn);
    if (!(angle > 1e-6)) continue;
    Vec3d axis = turn / angle;
    // Of the two directions of an axis, the one that points up, or else forward.
    const double sign = axis.z + 1e-3 * axis.y + 1e-6 * axis.x;
    if (sign < 0) axis = axis * -1.0;
    // The point with (I - R) p = t that is nearest to the origin.
    const Vec3d t = motion.translation - axis * dot(axis, motion.translation);
    const double half = 0.5 * (sign < 0 ? -angle : angle);
    const Vec3d point = (t + cross(axis, t) * (std::cos(half) / std::sin(half))) * 0.5;
    const int order = std::max(2, static_cast<int>(std::lround(2 * std::numbers::pi / angle)));
    const auto same = std::find_if(axes.begin(), axes.end(), [&](const SymmetryAxis& other) {
      return std::abs(dot(other.axis, axis)) > 0.9999;
    });
    if (same == axes.end()) {
      axes.push_back({axis, point, order});
    } else {
      same->order = std::max(same->order, order);
    }
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const SymmetryAxis& a, const SymmetryAxis& b) { return a.order > b.order; });
  return axes;
}

Image<Rgb8> object_picture(const Context& context, const LearnedObject& object) {
  Image<Rgb8> picture(Context::cpu(), 2 * kTile_px + kPanel_px, kPanel_px + kHeader_px);
  std::fill_n(picture.pixels().data(), picture.pixels().size(), kPaper);
  const Ball ball = ball_around(object);
  const TriangleMesh body = drawable(object.mesh, object.diameter_m);
  const Sides sides = sides_of(object.mesh);
  draw_panel(context, object, body, ball, sides, kHeader_px, picture);

  const RenderScene scene(context, body);
  constexpr double kTangent = 0.25;
  const double distance_m = 1.08 * ball.radius_m / std::sin(std::atan(kTangent));
  for (int i = 0; i < 4; ++i) {
    const int left = kPanel_px + i % 2 * kTile_px, top = kHeader_px + i / 2 * kTile_px;
    draw(context, scene, look_from(ball, sides.tiles[i], sides.up, distance_m), kTangent, kTile_px,
         left, top, picture);
    draw_frame(picture, left, top, kTile_px);
  }
  draw_frame(picture, 0, kHeader_px, kPanel_px);
  std::string title = object.name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  draw_text(picture, 12, 11, title, kInk, 3);
  const bool is_cloud = object.mesh.triangles.empty();
  const std::string facts =
      fmt::format("{:.1f} mm  {} {}  {} views", 1000 * object.diameter_m,
                  is_cloud ? object.mesh.vertices.size() : object.mesh.triangles.size(),
                  is_cloud ? "points" : "triangles", object.views.size());
  draw_text(picture, picture.width() - 12 - text_width(facts, 2), 15, facts, kInk, 2);
  return picture;
}

}  // namespace sextant::app
