// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/mesh_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sextant/core/for_each.h"
#include "sextant/geometry/neighbours.h"
#include "sextant/surface/cloud_resolution.h"

namespace sextant {

namespace {

constexpr int kNeighbours = 32;        ///< that are looked at; a Voronoi cell has six sides or so
constexpr int kDensityRank = 8;        ///< the neighbour whose distance says how dense points lie
constexpr float kDensityReach = 1.6f;  ///< of its distance: 2.5 spacings of points at random

/// A corner of a Voronoi cell, and the neighbour whose bisector goes on from it; -1 is the frame.
struct Corner {
  Vec2f at;
  std::int32_t neighbour = -1;
};

/// A convex polygon about the origin, counter-clockwise, that bisectors cut.
struct Cell {
  std::array<Corner, kNeighbours + 4> corners;
  int size = 0;
};

Cell square(float half) {
  Cell cell;
  cell.size = 4;
  cell.corners[0] = {{-half, -half}, -1};
  cell.corners[1] = {{half, -half}, -1};
  cell.corners[2] = {{half, half}, -1};
  cell.corners[3] = {{-half, half}, -1};
  return cell;
}

/// Keeps what is nearer to the origin than to q.
void cut(Cell& cell, const Vec2f& q, std::int32_t neighbour) {
  const float limit = 0.5f * (q.x * q.x + q.y * q.y);
  const auto beyond = [&](const Vec2f& p) { return p.x * q.x + p.y * q.y - limit; };
  Cell left;
  for (int i = 0; i < cell.size; ++i) {
    const Corner& a = cell.corners[static_cast<std::size_t>(i)];
    const Corner& b = cell.corners[static_cast<std::size_t>((i + 1) % cell.size)];
    const float from = beyond(a.at), to = beyond(b.at);
    const auto add = [&](const Corner& corner) {
      if (left.size < static_cast<int>(left.corners.size())) {
        left.corners[static_cast<std::size_t>(left.size++)] = corner;
      }
    };
    if (from <= 0) add(a);
    if ((from <= 0) == (to <= 0)) continue;
    const float share = from / (from - to);
    const Vec2f at{a.at.x + share * (b.at.x - a.at.x), a.at.y + share * (b.at.y - a.at.y)};
    // Leaving, the new bisector goes on from here; entering again, the old side does.
    add({at, from <= 0 ? neighbour : a.neighbour});
  }
  cell = left;
}

struct Neighbourhood {
  View<const Vec3f> points;
  View<const Vec3f> normals;
  const NearestNeighbours& nearest;
  float least_reach_m;
  float least_cosine;
  bool both_sides;

  bool agree(std::int32_t i, std::int32_t j) const {
    const float cosine = dot(normals.data[i], normals.data[j]);
    return (both_sides ? std::abs(cosine) : cosine) >= least_cosine;
  }
};

/// The triangles of one point, written as its own index and two neighbours.
void star(const Neighbourhood& all, std::int32_t i, std::vector<Vec3i>& triangles) {
  const Vec3f p = all.points.data[i], n = all.normals.data[i];
  if (!is_finite(p) || !is_finite(n)) return;
  const std::int32_t* row = all.nearest.indices.data() + std::int64_t{i} * kNeighbours;
  const float* squares = all.nearest.distances_sq.data() + std::int64_t{i} * kNeighbours;
  const float rank_m = std::sqrt(squares[kDensityRank]);
  const float reach_m = std::isfinite(rank_m) ? std::max(all.least_reach_m, kDensityReach * rank_m)
                                              : all.least_reach_m;
  const Vec3f x = normalized(cross(n, std::abs(n.x) < 0.7f ? Vec3f{1, 0, 0} : Vec3f{0, 1, 0}));
  const Vec3f y = cross(n, x);
  Cell cell = square(2.0f * reach_m);
  for (int k = 0; k < kNeighbours && row[k] >= 0; ++k) {
    const std::int32_t j = row[k];
    if (j == i) continue;
    if (squares[k] == 0.0f && j < i) return;  // an earlier point stands for this place
    if (squares[k] == 0.0f || squares[k] > 4.0f * reach_m * reach_m) continue;
    if (!all.agree(i, j)) continue;
    const Vec3f d = all.points.data[j] - p;
    Vec2f q{dot(d, x), dot(d, y)};
    // Unrolled: a neighbour keeps its distance, so that steep ones do not crowd the tangent plane.
    const float flat = std::sqrt(q.x * q.x + q.y * q.y);
    if (!(flat > 0.2f * norm(d))) continue;
    q = {q.x * norm(d) / flat, q.y * norm(d) / flat};
    cut(cell, q, j);
  }
  for (int c = 0; c < cell.size; ++c) {
    // The corner lies between the side that ends here and the one that begins here.
    const Corner& corner = cell.corners[static_cast<std::size_t>(c)];
    const Corner& before = cell.corners[static_cast<std::size_t>((c + cell.size - 1) % cell.size)];
    if (corner.neighbour < 0 || before.neighbour < 0 || corner.neighbour == before.neighbour) {
      continue;
    }
    if (std::hypot(corner.at.x, corner.at.y) > reach_m) continue;
    if (!all.agree(corner.neighbour, before.neighbour)) continue;
    triangles.push_back({i, before.neighbour, corner.neighbour});
  }
}

/// The same triangle however it was found: its lowest index first.
Vec3i turned(const Vec3i& t) {
  if (t.x < t.y && t.x < t.z) return t;
  return t.y < t.z ? Vec3i{t.y, t.z, t.x} : Vec3i{t.z, t.x, t.y};
}

}  // namespace

Buffer<Vec3i> mesh_points(const Context& context, View<const Vec3f> points,
                          View<const Vec3f> normals, const MeshPointsOptions& options) {
  check_options(options);
  require(context.is_cpu(), "mesh_points: runs on the host, the context on ",
          to_string(context.device()));
  require(points.size == normals.size, "mesh_points: ", points.size, " points have ", normals.size,
          " normals");
  const float spacing_m = cloud_spacing_m(context, points);
  if (!(spacing_m > 0)) return Buffer<Vec3i>(context, 0);
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_nearest(kNeighbours));
  const NearestNeighbours nearest = k_nearest(context, grid, kNeighbours);
  const Neighbourhood all{points,
                          normals,
                          nearest,
                          options.most_spacings * spacing_m,
                          std::cos(options.most_normal_angle),
                          options.both_sides};
  constexpr std::int64_t kGrain = 1024;
  std::vector<std::vector<Vec3i>> parts(
      static_cast<std::size_t>((points.size + kGrain - 1) / kGrain));
  for_each_chunk(context, points.size, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Vec3i>& part = parts[static_cast<std::size_t>(begin / kGrain)];
    for (std::int64_t i = begin; i < end; ++i) star(all, static_cast<std::int32_t>(i), part);
  });
  std::vector<Vec3i> triangles;
  for (const std::vector<Vec3i>& part : parts) {
    for (const Vec3i& t : part) {
      triangles.push_back(turned(t));
      if (options.both_sides) triangles.push_back(turned({t.x, t.z, t.y}));
    }
  }
  const auto key = [](const Vec3i& t) { return std::array<std::int32_t, 3>{t.x, t.y, t.z}; };
  std::sort(triangles.begin(), triangles.end(),
            [&](const Vec3i& a, const Vec3i& b) { return key(a) < key(b); });
  triangles.erase(std::unique(triangles.begin(), triangles.end()), triangles.end());
  return copy(context, triangles);
}

}  // namespace sextant
