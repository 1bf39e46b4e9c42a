// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "sextant/io/mesh/polygons.h"

namespace sextant::detail::mesh {

/// The triangles of a polygon whose fan around the first corner does not stay inside, as numbers of
/// corners: one for each corner but two, all turned as the polygon is. Ears are cut off, which are
/// convex corners whose triangle holds no other corner. Empty where the fan stays inside, and for
/// polygons that cross themselves or have no area, which keep it. Corners need not lie quite in a
/// plane. Error for more than 16384 corners. Cost: n where the fan stays, else about n^2.
std::vector<Vec3i> ears_of_polygon(std::span<const Vec3d> corners, const std::string& file);

/// Triangulates anew the polygons whose fans do not stay inside them, as in the outline of an L or
/// a star: the fan would cover what lies outside. `like` have the numbers of other things at the
/// corners of the same triangles (texture coordinates, normals) and change with them; those of
/// another length are passed over. `file` is for messages.
template <class T>
void cut_concave(std::span<const Fan> fans, std::span<const Vec3<T>> points,
                 const std::string& file, std::vector<Vec3i>& triangles,
                 std::initializer_list<std::vector<Vec3i>*> like) {
  std::vector<Vec3d> corners;
  std::vector<std::int32_t> indices;
  const auto indices_of = [&](const Fan& fan, const std::vector<Vec3i>& of) {
    indices = {of[fan.first].x, of[fan.first].y};
    for (std::size_t i = 0; i < fan.triangles; ++i) indices.push_back(of[fan.first + i].z);
  };
  for (const Fan& fan : fans) {
    indices_of(fan, triangles);
    corners.clear();
    for (const std::int32_t i : indices) {
      const Vec3<T>& point = points[static_cast<std::size_t>(i)];
      corners.push_back({double(point.x), double(point.y), double(point.z)});
    }
    const std::vector<Vec3i> cut = ears_of_polygon(corners, file);
    if (cut.empty()) continue;
    const auto renumber = [&](std::vector<Vec3i>& of) {
      if (of.size() != triangles.size()) return;
      indices_of(fan, of);
      const auto at = [&](std::int32_t corner) {
        return indices[static_cast<std::size_t>(corner)];
      };
      for (std::size_t i = 0; i < fan.triangles; ++i) {
        of[fan.first + i] = {at(cut[i].x), at(cut[i].y), at(cut[i].z)};
      }
    };
    renumber(triangles);
    for (std::vector<Vec3i>* other : like) renumber(*other);
  }
}

}  // namespace sextant::detail::mesh
