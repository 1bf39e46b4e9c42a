// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "sextant/descriptor/tensor.h"

namespace sextant::testing {

/// Tensors in double precision, the slow way: every triangle against every bin and every other
/// triangle.
struct TensorOracle {
  std::vector<Vec3f> points;
  std::vector<Vec3f> normals;
  std::vector<Vec3i> triangles;

  struct Answer {
    std::vector<double> bins;  ///< areas in faces of a bin
    double in_cube = 0;        ///< area in the cube, clipped once
  };

  using Polygon = std::vector<Vec3d>;

  static double component(const Vec3d& v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
  }
  static Polygon clipped(const Polygon& from, int axis, double at, double side) {
    Polygon to;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Vec3d& a = from[i];
      const Vec3d& b = from[(i + 1) % from.size()];
      const double inside_a = side * (component(a, axis) - at);
      const double inside_b = side * (component(b, axis) - at);
      if (inside_a >= 0) to.push_back(a);
      if ((inside_a >= 0) != (inside_b >= 0)) {
        to.push_back(a + (b - a) * (inside_a / (inside_a - inside_b)));
      }
    }
    return to;
  }
  static double area_in(Polygon polygon, const Vec3d& low, const Vec3d& high) {
    for (int axis = 0; axis < 3; ++axis) {
      polygon = clipped(polygon, axis, component(low, axis), 1);
      polygon = clipped(polygon, axis, component(high, axis), -1);
    }
    Vec3d sum{};
    for (std::size_t i = 2; i < polygon.size(); ++i) {
      sum += cross(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]);
    }
    return 0.5 * norm(sum);
  }

  Answer tensor(const PointPair& pair, double resolution_m, const TensorOptions& options) const {
    const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
    const double bin_m = options.bin_resolutions * resolution_m;
    const int n = options.bins;
    const Vec3d a = normalized(cast<double>(normals[at(pair.p)]));
    const Vec3d b = normalized(cast<double>(normals[at(pair.q)]));
    const Vec3d z = normalized(a + b);
    const Vec3d x = normalized(cross(a, b));
    const Vec3d y = cross(z, x);
    const Vec3d origin =
        (cast<double>(points[at(pair.p)]) + cast<double>(points[at(pair.q)])) * 0.5;
    std::vector<Polygon> local;
    std::vector<bool> open, reached;
    for (const Vec3i& t : triangles) {
      Polygon polygon;
      for (const std::int32_t corner : {t.x, t.y, t.z}) {
        const Vec3d d = cast<double>(points[at(corner)]) - origin;
        polygon.push_back(Vec3d{dot(x, d), dot(y, d), dot(z, d)} * (1 / bin_m) +
                          Vec3d{0.5, 0.5, 0.5} * double(n));
      }
      bool meets = true;
      for (int axis = 0; axis < 3; ++axis) {
        double low = INFINITY, high = -INFINITY;
        for (const Vec3d& corner : polygon) {
          low = std::min(low, component(corner, axis));
          high = std::max(high, component(corner, axis));
        }
        meets = meets && low < n && high >= 0;
      }
      const auto has = [&](std::int32_t i) { return t.x == i || t.y == i || t.z == i; };
      open.push_back(meets);
      reached.push_back(meets && (options.mode == TensorMode::kAll || has(pair.p) || has(pair.q)));
      local.push_back(polygon);
    }
    if (options.mode == TensorMode::kGrow) grow(open, reached);
    Answer answer;
    answer.bins.assign(static_cast<std::size_t>(n * n * n), 0.0);
    for (std::size_t t = 0; t < local.size(); ++t) {
      if (!reached[t]) continue;
      answer.in_cube += area_in(local[t], {}, Vec3d{1, 1, 1} * double(n));
      for (int k = 0; k < n; ++k) {
        if (area_in(local[t], {0, 0, double(k)}, {double(n), double(n), k + 1.0}) == 0) continue;
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < n; ++i) {
            const Vec3d low{double(i), double(j), double(k)};
            answer.bins[static_cast<std::size_t>(i + n * (j + n * k))] +=
                area_in(local[t], low, low + Vec3d{1, 1, 1});
          }
        }
      }
    }
    return answer;
  }

  void grow(const std::vector<bool>& open, std::vector<bool>& reached) const {
    std::map<std::pair<int, int>, std::vector<std::size_t>> sharing;
    const auto edges = [&](std::size_t t) {
      const Vec3i& c = triangles[t];
      return std::vector<std::pair<int, int>>{std::minmax({c.x, c.y}), std::minmax({c.y, c.z}),
                                              std::minmax({c.z, c.x})};
    };
    std::vector<std::size_t> waiting;
    for (std::size_t t = 0; t < triangles.size(); ++t) {
      for (const auto& edge : edges(t)) sharing[edge].push_back(t);
      if (reached[t]) waiting.push_back(t);
    }
    while (!waiting.empty()) {
      const std::size_t t = waiting.back();
      waiting.pop_back();
      for (const auto& edge : edges(t)) {
        for (const std::size_t other : sharing[edge]) {
          if (!open[other] || reached[other]) continue;
          reached[other] = true;
          waiting.push_back(other);
        }
      }
    }
  }
};

}  // namespace sextant::testing
