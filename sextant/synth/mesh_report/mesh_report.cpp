// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/mesh_report.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace sextant {

namespace {

/// For every vertex the first one in the same place.
std::vector<std::int32_t> representatives(std::span<const Vec3f> points) {
  std::vector<std::int32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int32_t i) {
    const Vec3f& p = points[static_cast<std::size_t>(i)];
    return std::tuple(p.x, p.y, p.z);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  std::vector<std::int32_t> first(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool same = i > 0 && key(order[i]) == key(order[i - 1]);
    first[static_cast<std::size_t>(order[i])] =
        same ? first[static_cast<std::size_t>(order[i - 1])] : order[i];
  }
  return first;
}

struct Edge {
  std::int32_t low, high;
  bool forward;  ///< walked from low to high by its triangle
  auto ends() const { return std::pair(low, high); }
};

void count_edges(std::vector<Edge>& edges, MeshReport& report) {
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.ends() < b.ends(); });
  for (std::size_t i = 0; i < edges.size();) {
    std::size_t end = i;
    int forward = 0;
    for (; end < edges.size() && edges[end].ends() == edges[i].ends(); ++end) {
      forward += edges[end].forward;
    }
    const std::size_t users = end - i;
    ++report.edges;
    report.open_edges += users == 1;
    report.crowded_edges += users > 2;
    report.opposed_edges += users == 2 && forward != 1;
    i = end;
  }
}

/// Joins the pieces that edges connect and counts what is left.
std::int64_t count_components(const std::vector<Edge>& edges, std::size_t vertices) {
  std::vector<std::int32_t> parent(vertices);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      std::int32_t& up = parent[static_cast<std::size_t>(i)];
      up = parent[static_cast<std::size_t>(up)];
      i = up;
    }
    return i;
  };
  std::vector<char> used(vertices, 0);
  for (const Edge& edge : edges) {
    used[static_cast<std::size_t>(edge.low)] = used[static_cast<std::size_t>(edge.high)] = 1;
    parent[static_cast<std::size_t>(root(edge.high))] = root(edge.low);
  }
  std::int64_t components = 0;
  for (std::size_t i = 0; i < vertices; ++i) {
    components += used[i] && parent[i] == static_cast<std::int32_t>(i);
  }
  return components;
}

}  // namespace

MeshReport inspect_mesh(const TriangleMesh& mesh) {
  check_mesh(mesh);
  const auto points = mesh.vertices.points.host();
  const std::vector<std::int32_t> place = representatives(points);
  MeshReport report;
  std::vector<Edge> edges;
  std::vector<char> used(points.size(), 0);
  Vec3d moment{};
  for (const Vec3i& t : mesh.triangles.host()) {
    const std::int32_t corner[] = {place[static_cast<std::size_t>(t.x)],
                                   place[static_cast<std::size_t>(t.y)],
                                   place[static_cast<std::size_t>(t.z)]};
    ++report.triangles;
    report.flat_triangles +=
        corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0];
    for (int e = 0; e < 3; ++e) {
      const std::int32_t from = corner[e], to = corner[(e + 1) % 3];
      edges.push_back({std::min(from, to), std::max(from, to), from < to});
      used[static_cast<std::size_t>(from)] = 1;
    }
    const Vec3d a = cast<double>(points[static_cast<std::size_t>(t.x)]);
    const Vec3d b = cast<double>(points[static_cast<std::size_t>(t.y)]);
    const Vec3d c = cast<double>(points[static_cast<std::size_t>(t.z)]);
    const double volume = dot(a, cross(b, c)) / 6;
    report.volume_m3 += volume;
    report.area_m2 += norm(cross(b - a, c - a)) / 2;
    moment += (a + b + c) * (volume / 4);
  }
  report.vertices = std::count(used.begin(), used.end(), char{1});
  count_edges(edges, report);
  report.components = count_components(edges, points.size());
  if (report.volume_m3 != 0) report.centroid_m = moment / report.volume_m3;
  return report;
}

}  // namespace sextant
