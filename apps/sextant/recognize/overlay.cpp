// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/overlay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/library/drawn_mesh.h"
#include "apps/sextant/picture/lettering.h"
#include "apps/sextant/picture/outline.h"
#include "apps/sextant/recognize/found.h"

namespace sextant::app {

namespace {

constexpr float kTint = 0.4f;

/// Lettering has small letters alone.
std::string lettered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    if (c == '_') return ' ';
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

/// Writes on a dark ground, inside the picture as far as it fits.
void draw_label(const std::string& text, int left, int top, const Rgb8& color, int scale,
                Image<Rgb8>& picture) {
  const int margin = 2 * scale;
  const int width = text_width(text, scale) + 2 * margin, height = kSignHeight * scale + 2 * margin;
  left = std::clamp(left, 0, std::max(0, picture.width() - width));
  top = std::clamp(top, 0, std::max(0, picture.height() - height));
  for (int v = top; v < std::min(top + height, picture.height()); ++v) {
    for (int u = left; u < std::min(left + width, picture.width()); ++u) {
      Rgb8& pixel = picture(u, v);
      pixel = {static_cast<std::uint8_t>(pixel.x / 4), static_cast<std::uint8_t>(pixel.y / 4),
               static_cast<std::uint8_t>(pixel.z / 4)};
    }
  }
  draw_text(picture, left + margin, top + margin, text, color, scale);
}

/// The corners of the smallest convex polygon around the points, in order.
std::vector<Vec2d> convex_hull(std::vector<Vec2d> points) {
  const auto before = [](const Vec2d& a, const Vec2d& b) {
    return a.x != b.x ? a.x < b.x : a.y < b.y;
  };
  std::sort(points.begin(), points.end(), before);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Vec2d> hull;
  const auto add = [&](const Vec2d& p, std::size_t least) {
    while (hull.size() >= least) {
      const Vec2d a = hull[hull.size() - 1] - hull[hull.size() - 2], b = p - hull.back();
      if (a.x * b.y - a.y * b.x > 0) break;
      hull.pop_back();
    }
    hull.push_back(p);
  };
  for (const Vec2d& p : points) add(p, 2);
  const std::size_t lower = hull.size() + 1;
  for (auto p = points.rbegin() + 1; p != points.rend(); ++p) add(*p, lower);
  hull.pop_back();
  return hull;
}

}  // namespace

FoundOverlay::FoundOverlay(const std::vector<LearnedObject>& objects) {
  std::vector<TriangleMesh> drawn;
  for (const LearnedObject& object : objects) {
    drawn.push_back(drawable(object.mesh, object.diameter_m));
    const Bounds box = bounds(Context::cpu(), object.mesh.vertices.points);
    const Vec3d middle = box.empty() ? Vec3d{} : cast<double>(box.low + box.high) / 2.0;
    sizes_.push_back({middle, object.diameter_m});
    const std::span<const Vec3f> points = object.mesh.vertices.points.host();
    const bool cloud = object.mesh.triangles.empty();
    clouds_.push_back(cloud ? std::vector<Vec3f>(points.begin(), points.end())
                            : std::vector<Vec3f>());
  }
  std::vector<const TriangleMesh*> meshes;
  meshes.reserve(drawn.size());
  for (const TriangleMesh& mesh : drawn) meshes.push_back(&mesh);
  meshes_ = RenderScene(Context::cpu(), meshes);
}

/// Gives back the upper left corner of what was drawn; (width, height) for nothing.
FoundOverlay::Corner FoundOverlay::draw_shape(const Camera& camera, const DrawnPose& pose,
                                              Image<Rgb8>& picture,
                                              ImageView<const float> depth_m) const {
  const Image<float> object =
      depth_of_object(meshes_, pose.object_index, camera, pose.camera_from_object);
  draw_outline(object, pose.color, kTint, picture, depth_m);
  Corner corner{object.width(), object.height()};
  for (int v = 0; v < object.height(); ++v) {
    for (int u = 0; u < object.width(); ++u) {
      if (!(object(u, v) > 0)) continue;
      corner = {std::min(corner.u, u), std::min(corner.v, v)};
    }
  }
  return corner;
}

FoundOverlay::Corner FoundOverlay::draw_hull(const Camera& camera, const DrawnPose& pose,
                                             Image<Rgb8>& picture) const {
  std::vector<Vec2d> seen;
  for (const Vec3f& point : clouds_[static_cast<std::size_t>(pose.object_index)]) {
    const Vec2d at = project(camera, pose.camera_from_object * cast<double>(point));
    if (std::isfinite(at.x) && std::isfinite(at.y)) seen.push_back(at);
  }
  const std::vector<Vec2d> hull = convex_hull(std::move(seen));
  Corner corner{picture.width(), picture.height()};
  for (std::size_t i = 0; i < hull.size(); ++i) {
    draw_line(hull[i], hull[(i + 1) % hull.size()], pose.color, 3, picture);
    const auto clamped = [](double x, int most) {
      return static_cast<int>(std::clamp(x, 0.0, static_cast<double>(most)));
    };
    corner = {std::min(corner.u, clamped(hull[i].x, picture.width())),
              std::min(corner.v, clamped(hull[i].y, picture.height()))};
  }
  return corner;
}

void FoundOverlay::draw(const Camera& camera, std::span<const DrawnPose> poses,
                        Image<Rgb8>& picture, ImageView<const float> depth_m) const {
  const int scale = std::max(1, picture.width() / 320);
  // The farthest first, so that nearer ones lie above.
  std::vector<const DrawnPose*> order;
  order.reserve(poses.size());
  for (const DrawnPose& pose : poses) order.push_back(&pose);
  std::stable_sort(order.begin(), order.end(), [](const DrawnPose* a, const DrawnPose* b) {
    return a->camera_from_object.translation.z > b->camera_from_object.translation.z;
  });
  std::vector<Corner> corners;
  for (const DrawnPose* pose : order) {
    const bool cloud = !clouds_[static_cast<std::size_t>(pose->object_index)].empty();
    corners.push_back(cloud ? draw_hull(camera, *pose, picture)
                            : draw_shape(camera, *pose, picture, depth_m));
  }
  for (const DrawnPose& pose : poses) {
    const Size& size = sizes_[static_cast<std::size_t>(pose.object_index)];
    draw_axes(camera, pose.camera_from_object, size.middle_m, 0.4 * size.diameter_m, scale + 1,
              picture);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    draw_label(fmt::format("{} {:.2f}", lettered(order[i]->name), order[i]->score), corners[i].u,
               corners[i].v - 12 * scale, order[i]->color, scale, picture);
  }
}

Image<Rgb8> FoundOverlay::draw(const SeenFrame& frame, const Recognition& found) const {
  Image<Rgb8> picture =
      frame.color.empty() ? grey_of(frame.depth_m) : copy(Context::cpu(), frame.color);
  std::vector<DrawnPose> poses;
  for (const Detection& d : found.detections) {
    poses.push_back({d.object_index, d.object, d.camera_from_object, d.score,
                     color_of_detection(static_cast<std::int32_t>(poses.size()) + 1)});
  }
  draw(frame.camera, poses, picture, frame.depth_m);
  return picture;
}

}  // namespace sextant::app
