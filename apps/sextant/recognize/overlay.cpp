// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/overlay.h"

#include <fmt/format.h>

#include <algorithm>

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

struct Corner {
  int u = 0, v = 0;
};

/// The upper left corner of what is drawn of an object; (width, height) for nothing.
Corner corner_of(const Image<float>& depth_m) {
  Corner corner{depth_m.width(), depth_m.height()};
  for (int v = 0; v < depth_m.height(); ++v) {
    for (int u = 0; u < depth_m.width(); ++u) {
      if (!(depth_m(u, v) > 0)) continue;
      corner = {std::min(corner.u, u), std::min(corner.v, v)};
    }
  }
  return corner;
}

}  // namespace

FoundOverlay::FoundOverlay(const std::vector<LearnedObject>& objects) {
  std::vector<TriangleMesh> drawn;
  for (const LearnedObject& object : objects) {
    drawn.push_back(drawable(object.mesh, object.diameter_m));
    const Bounds box = bounds(Context::cpu(), object.mesh.vertices.points);
    const Vec3d middle = box.empty() ? Vec3d{} : cast<double>(box.low + box.high) / 2.0;
    sizes_.push_back({middle, object.diameter_m});
  }
  std::vector<const TriangleMesh*> meshes;
  meshes.reserve(drawn.size());
  for (const TriangleMesh& mesh : drawn) meshes.push_back(&mesh);
  meshes_ = RenderScene(Context::cpu(), meshes);
}

Image<Rgb8> FoundOverlay::draw(const SeenFrame& frame, const Recognition& found) const {
  Image<Rgb8> picture =
      frame.color.empty() ? grey_of(frame.depth_m) : copy(Context::cpu(), frame.color);
  const int scale = std::max(1, picture.width() / 320);
  struct Label {
    Corner corner;
    std::string text;
    Rgb8 color;
  };
  std::vector<Label> labels;
  // The farthest first, so that nearer ones lie above.
  std::vector<std::size_t> order(found.detections.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto far_m = [&](std::size_t i) {
    return found.detections[i].camera_from_object.translation.z;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return far_m(a) > far_m(b); });
  for (const std::size_t i : order) {
    const Detection& d = found.detections[i];
    const Rgb8 color = color_of_detection(static_cast<std::int32_t>(i) + 1);
    const Image<float> object =
        depth_of_object(meshes_, d.object_index, frame.camera, d.camera_from_object);
    draw_outline(object, color, kTint, picture, frame.depth_m);
    labels.push_back(
        {corner_of(object), fmt::format("{} {:.2f}", lettered(d.object), d.score), color});
  }
  for (const Detection& d : found.detections) {
    const Size& size = sizes_[static_cast<std::size_t>(d.object_index)];
    draw_axes(frame.camera, d.camera_from_object, size.middle_m, 0.4 * size.diameter_m, scale + 1,
              picture);
  }
  for (const Label& label : labels) {
    draw_label(label.text, label.corner.u, label.corner.v - 12 * scale, label.color, scale,
               picture);
  }
  return picture;
}

}  // namespace sextant::app
