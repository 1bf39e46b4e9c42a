// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/prism.h"

namespace sextant::detail::catalogue {

namespace {

struct Builder {
  std::vector<Vec3f> points, normals;
  std::vector<Vec2f> texture_coordinates;
  std::vector<Vec3i> triangles;

  std::int32_t add(const Vec2d& p, double z, const Vec3d& normal, double u, double v) {
    points.push_back(cast<float>(Vec3d{p.x, p.y, z}));
    normals.push_back(cast<float>(normal));
    texture_coordinates.push_back({static_cast<float>(u), static_cast<float>(v)});
    return static_cast<std::int32_t>(points.size()) - 1;
  }
};

Vec3d outward(const Vec2d& a, const Vec2d& b) { return normalized(Vec3d{b.y - a.y, a.x - b.x, 0}); }

void add_walls(const std::vector<Vec2d>& outline, double height_m, bool round, double wall_share,
               Builder& to) {
  const std::size_t n = outline.size();
  std::vector<double> along(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2d side = outline[(i + 1) % n] - outline[i];
    along[i + 1] = along[i] + std::sqrt(dot(side, side));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Vec2d &a = outline[i], &b = outline[(i + 1) % n];
    const Vec3d flat = outward(a, b);
    const Vec3d before = outward(outline[(i + n - 1) % n], a);
    const Vec3d after = outward(b, outline[(i + 2) % n]);
    const Vec3d normal_a = round ? normalized(before + flat) : flat;
    const Vec3d normal_b = round ? normalized(flat + after) : flat;
    const double ua = along[i] / along[n], ub = along[i + 1] / along[n];
    const std::int32_t first = to.add(a, 0, normal_a, ua, 0);
    to.add(b, 0, normal_b, ub, 0);
    to.add(b, height_m, normal_b, ub, wall_share);
    to.add(a, height_m, normal_a, ua, wall_share);
    to.triangles.push_back({first, first + 1, first + 2});
    to.triangles.push_back({first, first + 2, first + 3});
  }
}

/// A fan around the middle of the outline's box, which a convex outline holds.
void add_face(const std::vector<Vec2d>& outline, double z, bool top, double wall_share,
              Builder& to) {
  Vec2d low = outline[0], high = outline[0];
  for (const Vec2d& p : outline) {
    low = {min_of(low.x, p.x), min_of(low.y, p.y)};
    high = {max_of(high.x, p.x), max_of(high.y, p.y)};
  }
  const auto add = [&](const Vec2d& p) {
    const double x = (p.x - low.x) / (high.x - low.x);
    const double y = (p.y - low.y) / (high.y - low.y);
    const double u = top ? 0.5 * x : 1 - 0.5 * x;
    return to.add(p, z, {0, 0, top ? 1.0 : -1.0}, u, wall_share + (1 - wall_share) * y);
  };
  const std::int32_t middle = add((low + high) * 0.5);
  for (const Vec2d& p : outline) add(p);
  const auto n = static_cast<std::int32_t>(outline.size());
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t a = middle + 1 + i, b = middle + 1 + (i + 1) % n;
    to.triangles.push_back(top ? Vec3i{middle, a, b} : Vec3i{middle, b, a});
  }
}

}  // namespace

TriangleMesh make_prism(const std::vector<Vec2d>& outline, double height_m, bool round,
                        const PrismAtlas& atlas, Image<Rgb8> texture) {
  require(outline.size() >= 3, "outline: ", outline.size(), " corners; a prism has at least 3");
  require(height_m > 0, "height_m: ", height_m, " is not positive");
  Builder built;
  add_walls(outline, height_m, round, atlas.wall_share, built);
  add_face(outline, height_m, true, atlas.wall_share, built);
  add_face(outline, 0, false, atlas.wall_share, built);
  const Context host = Context::cpu(1);
  TriangleMesh mesh;
  mesh.vertices.points = copy(host, built.points);
  mesh.vertices.normals = copy(host, built.normals);
  mesh.texture_coordinates = copy(host, built.texture_coordinates);
  mesh.triangles = copy(host, built.triangles);
  Material material;
  material.name = "print";
  material.texture = std::move(texture);
  mesh.materials.push_back(std::move(material));
  return mesh;
}

}  // namespace sextant::detail::catalogue
