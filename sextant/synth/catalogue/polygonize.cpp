// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/polygonize.h"

#include <array>
#include <unordered_map>

namespace sextant {

namespace {

/// Corners of the cells come first, then their centres: the body-centred cubic lattice.
struct Lattice {
  FieldGrid grid;
  int nx, ny, nz;  ///< cells

  std::int64_t corners() const { return std::int64_t{nx + 1} * (ny + 1) * (nz + 1); }
  std::int64_t cells() const { return std::int64_t{nx} * ny * nz; }
  std::int64_t corner(int i, int j, int k) const {
    return (std::int64_t{k} * (ny + 1) + j) * (nx + 1) + i;
  }
  std::int64_t center(int i, int j, int k) const {
    return corners() + (std::int64_t{k} * ny + j) * nx + i;
  }
  Vec3d point(std::int64_t node) const {
    const bool is_center = node >= corners();
    const std::int64_t rest = is_center ? node - corners() : node;
    const int width = is_center ? nx : nx + 1;
    const int depth = is_center ? ny : ny + 1;
    const double shift = is_center ? 0.5 : 0.0;
    const auto i = static_cast<double>(rest % width);
    const auto j = static_cast<double>(rest / width % depth);
    const auto k = static_cast<double>(rest / width / depth);
    return grid.low_m + Vec3d{i + shift, j + shift, k + shift} * grid.cell_m;
  }
};

Lattice make_lattice(const FieldGrid& grid) {
  require(grid.cell_m > 0 && std::isfinite(grid.cell_m), "cell_m: ", grid.cell_m,
          " is not a positive length");
  const Vec3d cells = (grid.high_m - grid.low_m) / grid.cell_m;
  constexpr double kMostCells = 1 << 27;
  for (const double n : {cells.x, cells.y, cells.z}) {
    require(n > 0 && n <= kMostCells, "grid: ", n, " cells of ", grid.cell_m,
            " m between low_m and high_m");
  }
  require(cells.x * cells.y * cells.z <= kMostCells, "grid: more than 2^27 cells of ", grid.cell_m,
          " m; make them larger");
  const auto count = [](double n) { return static_cast<int>(std::ceil(n)) + 2; };
  Lattice lattice{grid, count(cells.x), count(cells.y), count(cells.z)};
  lattice.grid.low_m = grid.low_m - Vec3d{1, 1, 1} * grid.cell_m;
  return lattice;
}

std::vector<double> sample(const Lattice& lattice, const SolidField& field) {
  std::vector<double> values(static_cast<std::size_t>(lattice.corners() + lattice.cells()));
  for (std::size_t node = 0; node < values.size(); ++node) {
    values[node] = field(lattice.point(static_cast<std::int64_t>(node)));
    require(!std::isnan(values[node]), "field: is NaN inside the grid");
  }
  const auto check = [&](int i, int j, int k) {
    const bool border = i == 0 || j == 0 || k == 0 || i == lattice.nx - 1 || j == lattice.ny - 1 ||
                        k == lattice.nz - 1;
    const double value = values[static_cast<std::size_t>(lattice.center(i, j, k))];
    require(!border || value >= 0, "field: the solid leaves the box of the grid");
  };
  for (int k = 0; k < lattice.nz; ++k) {
    for (int j = 0; j < lattice.ny; ++j) {
      for (int i = 0; i < lattice.nx; ++i) check(i, j, k);
    }
  }
  return values;
}

/// Cuts tetrahedra along the surface and collects the triangles.
class Cutter {
 public:
  Cutter(const Lattice& lattice, const std::vector<double>& values)
      : lattice_(lattice), values_(values) {}

  std::vector<Vec3d> points;
  std::vector<Vec3i> triangles;

  /// Four nodes of positive volume: the others are seen counter-clockwise from outside the first.
  void cut(const std::array<std::int64_t, 4>& n) {
    int inside = 0;
    for (int i = 0; i < 4; ++i) inside |= (value(n[i]) < 0) << i;
    if (inside == 0 || inside == 15) return;
    // Even permutations, so that volume stays positive: the odd one out first ...
    static constexpr int kOne[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    // ... or the two inside first.
    static constexpr int kTwo[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                       {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
    for (const auto& p : kOne) {
      const bool alone_inside = inside == 1 << p[0];
      if (!alone_inside && inside != (15 & ~(1 << p[0]))) continue;
      const int a = vertex(n[p[0]], n[p[1]]);
      const int b = vertex(n[p[0]], n[p[2]]);
      const int c = vertex(n[p[0]], n[p[3]]);
      triangles.push_back(alone_inside ? Vec3i{a, b, c} : Vec3i{a, c, b});
      return;
    }
    for (const auto& p : kTwo) {
      if (inside != (1 << p[0] | 1 << p[1])) continue;
      const int a = vertex(n[p[0]], n[p[2]]);
      const int b = vertex(n[p[0]], n[p[3]]);
      const int c = vertex(n[p[1]], n[p[3]]);
      const int d = vertex(n[p[1]], n[p[2]]);
      if (distance_sq(a, c) <= distance_sq(b, d)) {
        triangles.push_back({a, b, c});
        triangles.push_back({a, c, d});
      } else {
        triangles.push_back({a, b, d});
        triangles.push_back({b, c, d});
      }
      return;
    }
  }

 private:
  double value(std::int64_t node) const { return values_[static_cast<std::size_t>(node)]; }
  double distance_sq(int a, int b) const {
    return norm_sq(points[static_cast<std::size_t>(a)] - points[static_cast<std::size_t>(b)]);
  }

  int vertex(std::int64_t a, std::int64_t b) {
    if (a > b) std::swap(a, b);
    const auto [entry, added] =
        vertex_of_.try_emplace(static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint64_t>(b),
                               static_cast<int>(points.size()));
    if (added) {
      // Away from the nodes, so that no two vertices fall together.
      const double t = clamp(value(a) / (value(a) - value(b)), 0.03, 0.97);
      points.push_back(lattice_.point(a) * (1 - t) + lattice_.point(b) * t);
    }
    return entry->second;
  }

  const Lattice& lattice_;
  const std::vector<double>& values_;
  std::unordered_map<std::uint64_t, int> vertex_of_;
};

/// Each face between two cells has four tetrahedra around it: the two centres and an edge.
void cut_all(const Lattice& lattice, Cutter& cutter) {
  for (int k = 0; k < lattice.nz; ++k) {
    for (int j = 0; j < lattice.ny; ++j) {
      for (int i = 0; i < lattice.nx; ++i) {
        const std::int64_t here = lattice.center(i, j, k);
        const auto around = [&](std::int64_t next, const std::array<std::int64_t, 4>& face) {
          for (int e = 0; e < 4; ++e) cutter.cut({here, next, face[e], face[(e + 1) % 4]});
        };
        const auto at = [&](int x, int y, int z) { return lattice.corner(i + x, j + y, k + z); };
        if (i + 1 < lattice.nx) {
          around(lattice.center(i + 1, j, k), {at(1, 0, 0), at(1, 1, 0), at(1, 1, 1), at(1, 0, 1)});
        }
        if (j + 1 < lattice.ny) {
          around(lattice.center(i, j + 1, k), {at(0, 1, 0), at(0, 1, 1), at(1, 1, 1), at(1, 1, 0)});
        }
        if (k + 1 < lattice.nz) {
          around(lattice.center(i, j, k + 1), {at(0, 0, 1), at(1, 0, 1), at(1, 1, 1), at(0, 1, 1)});
        }
      }
    }
  }
}

/// Value and gradient from the four corners of a small tetrahedron.
struct Slope {
  double value;
  Vec3d gradient;
};
Slope slope_at(const SolidField& field, const Vec3d& p, double step) {
  static constexpr Vec3d kCorners[] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  Slope slope{0, {}};
  for (const Vec3d& corner : kCorners) {
    const double value = field(p + corner * step);
    slope.value += 0.25 * value;
    slope.gradient += corner * (0.25 * value / step);
  }
  return slope;
}

/// A step of Newton's method, at most half a cell: the field may be no distance far from zero.
Vec3d onto_surface(const Vec3d& p, double value, const Vec3d& gradient, double cell_m) {
  const double steep_sq = norm_sq(gradient);
  if (!(steep_sq > 1e-6)) return p;
  const Vec3d step = gradient * (-value / steep_sq);
  const double length = norm(step);
  return p + (length > cell_m / 2 ? step * (cell_m / 2 / length) : step);
}

/// Moves every vertex half way to the middle of its neighbours, along the surface only.
void spread(const std::vector<Vec3i>& triangles, const std::vector<Vec3d>& normals,
            std::vector<Vec3d>& points) {
  std::vector<Vec3d> sum(points.size());
  std::vector<double> count(points.size(), 0);
  for (const Vec3i& t : triangles) {
    const std::size_t corner[] = {static_cast<std::size_t>(t.x), static_cast<std::size_t>(t.y),
                                  static_cast<std::size_t>(t.z)};
    for (int e = 0; e < 3; ++e) {  // each edge comes twice, once in either direction
      sum[corner[e]] += points[corner[(e + 1) % 3]];
      count[corner[e]] += 1;
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d move = (sum[i] / count[i] - points[i]) * 0.5;
    points[i] += move - normals[i] * dot(normals[i], move);
  }
}

}  // namespace

TriangleMesh polygonize(const SolidField& field, const FieldGrid& grid, const ColorField& color) {
  const Lattice lattice = make_lattice(grid);
  const std::vector<double> values = sample(lattice, field);
  Cutter cutter(lattice, values);
  cut_all(lattice, cutter);

  std::vector<Vec3d>& points = cutter.points;
  std::vector<Vec3d> normals(points.size());
  const double step = 0.05 * grid.cell_m;
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Slope slope = slope_at(field, points[i], step);
      points[i] = onto_surface(points[i], slope.value, slope.gradient, grid.cell_m);
      normals[i] = normalized(slope.gradient);
    }
    if (round + 1 < kRounds) spread(cutter.triangles, normals, points);
  }

  const Context host = Context::cpu(1);
  TriangleMesh mesh;
  mesh.triangles = copy(host, cutter.triangles);
  mesh.vertices.points = Buffer<Vec3f>(host, static_cast<std::int64_t>(points.size()));
  mesh.vertices.normals = Buffer<Vec3f>(host, static_cast<std::int64_t>(points.size()));
  if (color) mesh.vertices.colors = Buffer<Rgb8>(host, static_cast<std::int64_t>(points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    mesh.vertices.points.data()[i] = cast<float>(points[i]);
    mesh.vertices.normals.data()[i] = cast<float>(normals[i]);
    if (color) mesh.vertices.colors.data()[i] = color(points[i]);
  }
  return mesh;
}

}  // namespace sextant
