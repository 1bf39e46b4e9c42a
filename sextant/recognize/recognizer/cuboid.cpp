// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/cuboid.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sextant::detail::recognizer {

namespace {

constexpr double kAcross = 0.23;       // cosine of 77°: normals that may be the next axis
constexpr double kAlong = 0.97;        // cosine of 14°: normals that are an axis
constexpr double kOnFace = 0.03;       // of the diagonal, that a point of a face may lie off it
constexpr double kLeastOnBox = 0.86;   // of the surface
constexpr double kLeastCovered = 0.5;  // of a box's faces: angles and frames have less

struct Facet {
  Vec3d middle;
  Vec3d normal;
  double area = 0;
};

std::vector<Facet> facets_of(const TriangleMesh& mesh) {
  const std::span<const Vec3f> p = mesh.vertices.points.host();
  std::vector<Facet> facets;
  for (const Vec3i& t : mesh.triangles.host()) {
    const Vec3d a = cast<double>(p[static_cast<std::size_t>(t.x)]);
    const Vec3d b = cast<double>(p[static_cast<std::size_t>(t.y)]);
    const Vec3d c = cast<double>(p[static_cast<std::size_t>(t.z)]);
    const Vec3d across = cross(b - a, c - a);
    const double twice = norm(across);
    if (!(twice > 0)) continue;
    facets.push_back({(a + b + c) / 3.0, across / twice, 0.5 * twice});
  }
  return facets;
}

/// The mean direction, either way, of the facets along `near` of those that `allowed` is true of.
template <class Allowed>
Vec3d mean_along(const std::vector<Facet>& facets, const Vec3d& near, const Allowed& allowed) {
  Vec3d sum{};
  for (const Facet& f : facets) {
    const double cosine = dot(f.normal, near);
    if (std::abs(cosine) < kAlong || !allowed(f)) continue;
    sum += f.normal * (cosine < 0 ? -f.area : f.area);
  }
  return sum;
}

/// The direction, either way, that most of the surface has.
template <class Allowed>
Vec3d main_direction(const std::vector<Facet>& facets, const Allowed& allowed) {
  // The largest facets stand for the others: a face has at least one among them.
  std::vector<const Facet*> largest;
  for (const Facet& f : facets) {
    if (allowed(f)) largest.push_back(&f);
  }
  const std::size_t count = std::min<std::size_t>(largest.size(), 64);
  std::partial_sort(largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(count),
                    largest.end(),
                    [](const Facet* a, const Facet* b) { return a->area > b->area; });
  Vec3d best{};
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3d sum = mean_along(facets, largest[i]->normal, allowed);
    if (norm_sq(sum) > norm_sq(best)) best = sum;
  }
  const double length = norm(best);
  return length > 0 ? best / length : Vec3d{};
}

}  // namespace

std::optional<Cuboid> cuboid_of(const TriangleMesh& mesh) {
  const std::vector<Facet> facets = facets_of(mesh);
  const Vec3d first = main_direction(facets, [](const Facet&) { return true; });
  if (first == Vec3d{}) return {};
  const Vec3d across = main_direction(
      facets, [&](const Facet& f) { return std::abs(dot(f.normal, first)) < kAcross; });
  const Vec3d upright = across - first * dot(across, first);
  if (!(norm(upright) > 0.5)) return {};
  const Vec3d second = upright / norm(upright);
  const Vec3d axes[3] = {first, second, cross(first, second)};
  std::array<double, 3> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  for (const Vec3f& point : mesh.vertices.points.host()) {
    if (!is_finite(point)) continue;
    for (std::size_t a = 0; a < 3; ++a) {
      const double at = dot(axes[a], cast<double>(point));
      low[a] = std::min(low[a], at);
      high[a] = std::max(high[a], at);
    }
  }
  const double diagonal = std::hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
  // Of each end of each axis: the surface that looks either way.
  double on[3][2][2] = {}, all = 0;
  for (const Facet& f : facets) {
    all += f.area;
    for (std::size_t a = 0; a < 3; ++a) {
      const double cosine = dot(f.normal, axes[a]);
      if (std::abs(cosine) < kAlong) continue;
      const double at = dot(axes[a], f.middle);
      const std::size_t end = at - low[a] < high[a] - at ? 0 : 1;
      const double off = end == 0 ? at - low[a] : high[a] - at;
      if (off < kOnFace * diagonal) on[a][end][cosine < 0 ? 0 : 1] += f.area;
    }
  }
  double lying = 0, covering = 0, faces = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t b = (a + 1) % 3;
    faces += 2 * (high[a] - low[a]) * (high[b] - low[b]);
    for (const auto& end : on[a]) {
      lying += end[0] + end[1];
      covering += std::max(end[0], end[1]);
    }
  }
  if (!(lying >= kLeastOnBox * all && covering >= kLeastCovered * faces)) return {};
  Cuboid box;
  box.object_from_box.rotation = Mat3d::from_columns(axes[0], axes[1], axes[2]);
  Vec3d middle{};
  for (std::size_t a = 0; a < 3; ++a) {
    box.size_m[a] = high[a] - low[a];
    middle += axes[a] * (0.5 * (low[a] + high[a]));
  }
  box.object_from_box.translation = middle;
  return box;
}

bool is_like_a_cube(const Cuboid& box) {
  constexpr double kLeastLonger = 1.25;
  const auto [least, most] = std::minmax_element(box.size_m.begin(), box.size_m.end());
  return *most < kLeastLonger * *least;
}

TriangleMesh box_mesh(const std::array<double, 3>& size_m) {
  std::vector<Vec3f> corners;
  for (int corner = 0; corner < 8; ++corner) {
    const auto at = [&](int axis) {
      const double half = 0.5 * size_m[static_cast<std::size_t>(axis)];
      return static_cast<float>((corner >> axis & 1) != 0 ? half : -half);
    };
    corners.push_back({at(0), at(1), at(2)});
  }
  // Two triangles of each face, turned outwards.
  const std::vector<Vec3i> triangles{{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5},
                                     {0, 1, 5}, {0, 5, 4}, {2, 6, 7}, {2, 7, 3},
                                     {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
  const Context context = Context::cpu(1);
  TriangleMesh mesh;
  mesh.vertices.points = copy(context, corners);
  mesh.triangles = copy(context, triangles);
  return mesh;
}

}  // namespace sextant::detail::recognizer
