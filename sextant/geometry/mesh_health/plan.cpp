// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/mesh_health/plan.h"

#include <algorithm>

#include "sextant/geometry/mesh_health/outside.h"
#include "sextant/geometry/mesh_health/weld.h"
#include "sextant/geometry/mesh_health/winding.h"

namespace sextant::detail::mesh_health {

namespace {

/// Finds triangles with the same corners, whatever their order.
class Corners {
 public:
  explicit Corners(std::size_t triangles) {
    std::size_t slots = 1024;
    while (slots < 2 * triangles) slots *= 2;
    slots_.assign(slots, -1);
  }

  /// The earlier one of `all` with these corners, or -1 and the triangle is now the one to find.
  std::int32_t find_or_add(const std::vector<Vec3i>& all, const Vec3i& t) {
    const Vec3i key = sorted(t);
    std::uint64_t hash = static_cast<std::uint64_t>(key.x) * 0x9E3779B97F4A7C15u;
    hash = (hash ^ static_cast<std::uint64_t>(key.y)) * 0xC2B2AE3D27D4EB4Fu;
    hash = (hash ^ static_cast<std::uint64_t>(key.z)) * 0x165667B19E3779F9u;
    for (std::size_t slot = (hash >> 20) % slots_.size();; slot = (slot + 1) % slots_.size()) {
      if (slots_[slot] < 0) {
        slots_[slot] = static_cast<std::int32_t>(all.size());
        return -1;
      }
      if (sorted(all[static_cast<std::size_t>(slots_[slot])]) == key) return slots_[slot];
    }
  }

 private:
  static Vec3i sorted(Vec3i t) {
    if (t.y < t.x) std::swap(t.x, t.y);
    if (t.z < t.y) std::swap(t.y, t.z);
    if (t.y < t.x) std::swap(t.x, t.y);
    return t;
  }
  std::vector<std::int32_t> slots_;
};

bool same_winding(const Vec3i& a, const Vec3i& b) {
  return a == b || a == Vec3i{b.y, b.z, b.x} || a == Vec3i{b.z, b.x, b.y};
}

/// Triangles with three different corners, each once, over the places of vertices.
struct Candidates {
  std::vector<Vec3i> triangles;
  std::vector<std::int32_t> numbers;  ///< in the mesh
};

Candidates find_candidates(std::span<const Vec3i> triangles, std::span<const std::int32_t> place,
                           MeshHealth& health) {
  Candidates found;
  Corners corners(triangles.size());
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    const Vec3i t{place[static_cast<std::size_t>(triangles[i].x)],
                  place[static_cast<std::size_t>(triangles[i].y)],
                  place[static_cast<std::size_t>(triangles[i].z)]};
    if (t.x < 0 || t.y < 0 || t.z < 0) {
      ++health.broken_triangles;
      continue;
    }
    if (t.x == t.y || t.y == t.z || t.z == t.x) {
      ++health.flat_triangles;
      continue;
    }
    const std::int32_t earlier = corners.find_or_add(found.triangles, t);
    if (earlier >= 0) {
      const bool same = same_winding(found.triangles[static_cast<std::size_t>(earlier)], t);
      ++(same ? health.repeated_triangles : health.two_sided_triangles);
      continue;
    }
    found.triangles.push_back(t);
    found.numbers.push_back(static_cast<std::int32_t>(i));
  }
  return found;
}

/// Whether the corners lie on a line, as well as floats can tell.
bool is_flat(std::span<const Vec3f> points, const Vec3i& t) {
  const Vec3d a = cast<double>(points[static_cast<std::size_t>(t.x)]);
  const Vec3d ab = cast<double>(points[static_cast<std::size_t>(t.y)]) - a;
  const Vec3d ac = cast<double>(points[static_cast<std::size_t>(t.z)]) - a;
  const double longest_sq = std::max({norm_sq(ab), norm_sq(ac), norm_sq(ac - ab)});
  return norm(cross(ab, ac)) <= 1e-7 * longest_sq;
}

void swap_corners(Vec3i& t) { std::swap(t.y, t.z); }

/// Decides for each candidate whether it is turned, and counts.
std::vector<char> turned_triangles(const Context& context, std::span<const Vec3f> points,
                                   std::vector<Vec3i> triangles, MeshHealth& health) {
  Winding winding = find_winding(context, triangles, static_cast<std::int64_t>(points.size()));
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    if (winding.turned[i]) swap_corners(triangles[i]);
  }
  const std::vector<char> inside_out = parts_inside_out(context, points, triangles, winding);
  health.turned_triangles = std::count(winding.turned.begin(), winding.turned.end(), char{1});
  health.turned_parts = std::count(inside_out.begin(), inside_out.end(), char{1});
  health.parts = static_cast<std::int64_t>(winding.parts.size());
  for (const Part& part : winding.parts) {
    health.closed_parts += part.closed && !part.one_sided;
    health.one_sided_parts += part.one_sided;
  }
  health.open_edges = winding.open_edges;
  health.crowded_edges = winding.crowded_edges;
  health.holes = winding.holes;
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    winding.turned[i] ^= inside_out[static_cast<std::size_t>(winding.part[i])];
  }
  return std::move(winding.turned);
}

}  // namespace

Plan make_plan(const Context& context, const TriangleMesh& mesh, const MeshHealthOptions& options,
               MeshHealth& health) {
  const std::span<const Vec3f> points = mesh.vertices.points.host();
  health.vertices = mesh.vertices.size();
  health.triangles = mesh.triangles.size();
  const double size_m = bounds(context, mesh.vertices.points).diagonal_m();
  Plan plan;
  plan.place = weld(points, std::isfinite(size_m) ? double{options.weld_share} * size_m : 0.0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    health.holes_among_vertices += plan.place[i] < 0;
    health.welded_vertices += plan.place[i] >= 0 && plan.place[i] != static_cast<std::int32_t>(i);
  }
  const Candidates candidates = find_candidates(mesh.triangles.host(), plan.place, health);
  const std::vector<char> turned = turned_triangles(context, points, candidates.triangles, health);
  std::vector<char> is_used(points.size(), 0);
  for (std::size_t i = 0; i < candidates.triangles.size(); ++i) {
    const Vec3i& t = candidates.triangles[i];
    // Needles close the surface, so they had their say about edges and parts.
    if (is_flat(points, t)) {
      ++health.flat_triangles;
      continue;
    }
    plan.kept_triangles.push_back(candidates.numbers[i]);
    plan.turned.push_back(turned[i]);
    for (const std::int32_t corner : {t.x, t.y, t.z}) is_used[static_cast<std::size_t>(corner)] = 1;
  }
  const bool only_points = plan.kept_triangles.empty();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool stands_for_itself = plan.place[i] == static_cast<std::int32_t>(i);
    if (stands_for_itself && (only_points || is_used[i])) {
      plan.kept_vertices.push_back(static_cast<std::int32_t>(i));
    } else {
      health.unused_vertices += stands_for_itself;
    }
  }
  return plan;
}

}  // namespace sextant::detail::mesh_health
