// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/match/match_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "apps/sextant/picture/cloud_picture.h"
#include "apps/sextant/picture/lettering.h"
#include "sextant/render/label_colors.h"

namespace sextant::app {

namespace {

/// How far a match colours its surroundings.
constexpr float kReach_m = 0.015f;
constexpr int kMostNames = 12;

/// Grey by how much a point faces the camera, or by nothing where normals are not known.
Rgb8 grey_of(const Vec3f& normal) {
  const float facing = std::isfinite(normal.z) ? std::abs(normal.z) : 0.0f;
  const auto level = static_cast<std::uint8_t>(40 + 90 * std::clamp(facing, 0.0f, 1.0f));
  return {level, level, level};
}

/// The object that most of the matches near each point are with, -1 for none near.
std::vector<std::int32_t> objects_near(const Surface& scene,
                                       const std::vector<LibraryMatch>& matches,
                                       std::size_t objects) {
  std::vector<std::int32_t> near(static_cast<std::size_t>(scene.size()), -1);
  if (matches.empty()) return near;
  std::vector<Vec3f> places;
  for (const LibraryMatch& match : matches) places.push_back(match.scene_m);
  const auto points = scene.points.host();
  // Matches are few, points many: each match reaches the points about it through a coarse grid.
  struct Cell {
    std::int64_t x, y, z;
    bool operator<(const Cell& o) const {
      return x != o.x ? x < o.x : y != o.y ? y < o.y : z < o.z;
    }
  };
  const auto cell_of = [](const Vec3f& p) {
    return Cell{static_cast<std::int64_t>(std::floor(p.x / kReach_m)),
                static_cast<std::int64_t>(std::floor(p.y / kReach_m)),
                static_cast<std::int64_t>(std::floor(p.z / kReach_m))};
  };
  std::map<Cell, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < places.size(); ++i) cells[cell_of(places[i])].push_back(i);
  std::vector<int> votes(objects);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_finite(points[i])) continue;
    std::fill(votes.begin(), votes.end(), 0);
    const Cell own = cell_of(points[i]);
    for (int n = 0; n < 27; ++n) {
      const auto found = cells.find({own.x + n % 3 - 1, own.y + n / 3 % 3 - 1, own.z + n / 9 - 1});
      if (found == cells.end()) continue;
      for (const std::size_t m : found->second) {
        if (norm(places[m] - points[i]) > kReach_m) continue;
        ++votes[static_cast<std::size_t>(matches[m].object)];
      }
    }
    const auto most = std::max_element(votes.begin(), votes.end());
    if (*most > 0) near[i] = static_cast<std::int32_t>(most - votes.begin());
  }
  return near;
}

}  // namespace

Image<Rgb8> match_picture(const Surface& scene, const ResidentLibrary& library,
                          const std::vector<LibraryMatch>& matches) {
  const Context cpu = Context::cpu();
  const std::vector<std::int32_t> near = objects_near(scene, matches, library.objects.size());
  std::vector<Rgb8> colors(near.size());
  for (std::size_t i = 0; i < near.size(); ++i) {
    const bool hole = !is_finite(scene.points.host()[i]);
    const Vec3f normal = scene.normals.empty() ? Vec3f{0, 0, 1} : scene.normals.host()[i];
    colors[i] = hole ? Rgb8{} : near[i] < 0 ? grey_of(normal) : label_color(near[i] + 1);
  }
  Image<Rgb8> picture = scene.organised()
                            ? Image<Rgb8>(copy(cpu, colors), scene.width, scene.height)
                            : cloud_picture(scene.points, view_of(std::as_const(colors)));

  std::vector<std::int64_t> counts(library.objects.size());
  for (const LibraryMatch& match : matches) ++counts[static_cast<std::size_t>(match.object)];
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  if (order.size() > kMostNames) order.resize(kMostNames);
  int top = 8;
  // A shadow, to be read on any colour.
  const auto draw_line = [&](const std::string& text, const Rgb8& color) {
    draw_text(picture, 10, top + 2, text, {}, 2);
    draw_text(picture, 8, top, text, color, 2);
    top += 20;
  };
  draw_line("raw matches", {255, 255, 255});
  for (const std::size_t i : order) {
    std::string text = fmt::format("{} {}", counts[i], library.objects[i].name);
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    draw_line(text, label_color(static_cast<std::int32_t>(i) + 1));
  }
  return picture;
}

}  // namespace sextant::app
