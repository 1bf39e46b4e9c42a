// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_views/view_circles.h"

#include <algorithm>
#include <numeric>

namespace sextant::detail::learn_views {

namespace {

Rigid3d a_from_b(const Edge& edge, int a) {
  const Rigid3d& pose = edge.alignment.target_from_source;
  return edge.a == a ? pose : inverse(pose);
}

/// The views in groups whose poses among each other are sure.
struct Groups {
  std::vector<std::size_t> of;           ///< the group of each view
  std::vector<Rigid3d> group_from_view;  ///< the pose of each view in its group

  explicit Groups(std::size_t views) : of(views), group_from_view(views) {
    std::iota(of.begin(), of.end(), std::size_t{0});
  }
  std::size_t of_view(int view) const { return of[static_cast<std::size_t>(view)]; }
  /// What an edge says about the groups of its ends.
  Rigid3d a_group_from_b_group(const Edge& edge) const {
    return group_from_view[static_cast<std::size_t>(edge.a)] * edge.alignment.target_from_source *
           inverse(group_from_view[static_cast<std::size_t>(edge.b)]);
  }
  void join(const Edge& edge) {
    const std::size_t kept = of_view(edge.a), moved = of_view(edge.b);
    const Rigid3d kept_from_moved = a_group_from_b_group(edge);
    for (std::size_t v = 0; v < of.size(); ++v) {
      if (of[v] != moved) continue;
      of[v] = kept;
      group_from_view[v] = kept_from_moved * group_from_view[v];
    }
  }
};

/// Two groups are joined where most edges between them, and at least two that share no view, say
/// the same about them: such edges close a longer circle. Returns whether two were.
bool join_groups(const std::vector<Edge>& edges, const Scales& scales, Groups& groups) {
  for (const Edge& edge : edges) {
    const std::size_t g = groups.of_view(edge.a), h = groups.of_view(edge.b);
    if (g == h) continue;
    const Rigid3d said = groups.a_group_from_b_group(edge);
    const Vec3d at = groups.group_from_view[static_cast<std::size_t>(edge.b)] *
                     (inverse(edge.alignment.target_from_source) * edge.alignment.centre_m);
    int all = 0, same = 0;
    bool apart = false;
    for (const Edge& other : edges) {
      const std::size_t i = groups.of_view(other.a), j = groups.of_view(other.b);
      if (!((i == g && j == h) || (i == h && j == g))) continue;
      const Rigid3d says = groups.a_group_from_b_group(other);
      ++all;
      if (!(apart_m(said, i == g ? says : inverse(says), at, scales) < scales.circle_m())) continue;
      ++same;
      apart = apart ||
              (other.a != edge.a && other.a != edge.b && other.b != edge.a && other.b != edge.b);
    }
    if (!apart || 2 * same <= all) continue;
    groups.join(edge);
    return true;
  }
  return false;
}

}  // namespace

void count_circles(std::vector<Edge>& edges, const Scales& scales) {
  for (Edge& edge : edges) edge.circles = edge.open = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = i + 1; j < edges.size(); ++j) {
      for (std::size_t k = j + 1; k < edges.size(); ++k) {
        // Three edges make a circle when every view is named twice.
        const int a = edges[i].a, b = edges[i].b;
        const auto joins = [](const Edge& e, int x, int y) {
          return (e.a == x && e.b == y) || (e.a == y && e.b == x);
        };
        int c = -1;
        if (edges[j].a == a || edges[j].a == b) c = edges[j].b;
        if (edges[j].b == a || edges[j].b == b) c = c < 0 ? edges[j].a : -1;
        if (c < 0) continue;
        const bool first = joins(edges[j], b, c) && joins(edges[k], c, a);
        const bool second = joins(edges[k], b, c) && joins(edges[j], c, a);
        if (!first && !second) continue;
        const Edge& bc = first ? edges[j] : edges[k];
        const Edge& ca = first ? edges[k] : edges[j];
        const Rigid3d around = a_from_b(edges[i], a) * a_from_b(bc, b) * a_from_b(ca, c);
        const bool closes =
            apart_m(around, {}, edges[i].alignment.centre_m, scales) < scales.circle_m();
        for (std::size_t at : {i, j, k}) (closes ? edges[at].circles : edges[at].open) += 1;
      }
    }
  }
}

void join_confirmed(const std::vector<Edge>& edges, const Scales& scales,
                    Registration& registration) {
  const std::size_t count = registration.world_from_view.size();
  std::vector<std::size_t> order(edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    const Edge &a = edges[x], &b = edges[y];
    if (a.circles != b.circles) return a.circles > b.circles;
    return a.agreement * a.overlap > b.agreement * b.overlap;
  });
  Groups groups(count);
  for (std::size_t at : order) {
    const Edge& edge = edges[at];
    if (edge.circles <= edge.open || groups.of_view(edge.a) == groups.of_view(edge.b)) continue;
    groups.join(edge);
  }
  while (join_groups(edges, scales, groups)) {
  }
  std::vector<int> size(count, 0);
  for (std::size_t g : groups.of) ++size[g];
  const auto largest =
      static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
  for (std::size_t v = 0; v < count; ++v) {
    registration.joined[v] = groups.of[v] == largest && size[largest] > 1 ? 1 : 0;
    registration.world_from_view[v] =
        registration.joined[v] ? groups.group_from_view[v] : Rigid3d{};
  }
}

void drop_contradicted_edges(const Scales& scales, const Registration& registration,
                             std::vector<Edge>& edges) {
  std::erase_if(edges, [&](const Edge& edge) {
    const auto a = static_cast<std::size_t>(edge.a), b = static_cast<std::size_t>(edge.b);
    if (!registration.joined[a] || !registration.joined[b]) return true;
    const Rigid3d pose = inverse(registration.world_from_view[a]) * registration.world_from_view[b];
    const Vec3d at = inverse(edge.alignment.target_from_source) * edge.alignment.centre_m;
    return !(apart_m(pose, edge.alignment.target_from_source, at, scales) < 2 * scales.circle_m());
  });
}

}  // namespace sextant::detail::learn_views
