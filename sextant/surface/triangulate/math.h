// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/surface/normals/math.h"
#include "sextant/surface/triangulate.h"

namespace sextant::detail::triangulate {

/// EdgeLimits as the test needs them.
template <class T>
struct EdgeTest {
  T max_edge_sq{};
  T max_steps{};    ///< length over the distance between the lines of sight, at no distance
  T steps_per_m{};  ///< and what it gains with the depth
  T cos_angle{};
  T cos_view_sq{};
};

SEXTANT_HD inline EdgeLimits limits_of(const SurfaceStatistics& statistics,
                                       const TriangulateOptions& options) {
  // NaN, for a surface without links, stays NaN and lets no edge pass.
  const float least_edge_m = options.least_edge_resolutions * statistics.resolution_m;
  const float max_edge_m =
      statistics.max_edge_m < least_edge_m ? least_edge_m : statistics.max_edge_m;
  return {max_edge_m,
          min_of(max_edge_m / statistics.resolution_m, 1.0f / std::sin(options.view_angle_rad)),
          statistics.max_angle_rad < options.least_normal_angle_rad ? options.least_normal_angle_rad
                                                                    : statistics.max_angle_rad,
          options.view_angle_rad};
}

SEXTANT_HD inline EdgeTest<float> edge_test(const EdgeLimits& limits,
                                            const TriangulateOptions& options) {
  const float cos_view = std::cos(limits.view_angle_rad);
  // Beyond half a turn every pair of normals is near enough; min_of keeps a NaN.
  const float cos_angle = std::cos(min_of(limits.max_angle_rad, 3.1415927f));
  // A limit that lets every edge pass stands for a test that is not made. Without a resolution
  // there is nothing to follow.
  constexpr float kAny = 1e15f;
  if (options.edge_length == EdgeLength::kLocal && std::isfinite(limits.max_edge_steps)) {
    return {kAny, limits.max_edge_steps, options.edge_steps_per_m, cos_angle, kAny};
  }
  return {limits.max_edge_m * limits.max_edge_m, kAny, 0.0f, cos_angle, cos_view * cos_view};
}

/// 1 where the edge p-q with normals n and m passes; p is the end with the lower index.
template <class T>
SEXTANT_HD T edge_passes(const Vec3<T>& p, const Vec3<T>& q, const Vec3<T>& n, const Vec3<T>& m,
                         const EdgeTest<T>& test) {
  using Math = LaneMath<T>;
  const T zero(0.0f);
  const T one(1.0f);
  const Vec3<T> edge = q - p;
  const T length_sq = norm_sq(edge);
  const T along = dot(p, edge);
  const T steps = test.max_steps + test.steps_per_m * p.z;
  const T near = Math::select(length_sq <= test.max_edge_sq, one, zero);
  const T dense =
      Math::select(length_sq * norm_sq(q) <= steps * steps * norm_sq(cross(p, q)), one, zero);
  const T across =
      Math::select(along * along <= test.cos_view_sq * norm_sq(p) * length_sq, one, zero);
  const T alike = Math::select(dot(n, m) >= test.cos_angle, one, zero);
  return near * dense * across * alike;
}

struct TriangulateJob {
  ImageView<const Vec3f> points;
  ImageView<const Vec3f> normals;
  View<const SurfaceStatistics> statistics;
  TriangulateOptions options;
  ImageView<std::uint8_t> cells;
};

/// How many triangles a cell has.
SEXTANT_HD inline int triangles_in(std::uint8_t cell) { return (cell & 1) + (cell >> 1 & 1); }

/// Writes the triangles of cell (u, v) of an image that is `width` points wide.
SEXTANT_HD inline void write_triangles(std::uint8_t cell, int u, int v, int width, Vec3i* to) {
  const std::int32_t p = v * width + u;
  const std::int32_t below = p + width;
  if (cell & 1) *to++ = {p, below, p + 1};
  if (cell & 2) *to = {p + 1, below, below + 1};
}

void triangulate_cuda(const Context& context, const TriangulateJob& job);

/// Where the triangles of every row of cells begin (CPU) or of every cell (CUDA), and behind them
/// the number of all triangles. They stay in the workspace until its innermost scope ends.
View<std::int32_t> place_triangles_cuda(const Context& context, ImageView<const std::uint8_t> cells,
                                        Workspace& workspace);
void write_triangles_cuda(const Context& context, ImageView<const std::uint8_t> cells,
                          View<const std::int32_t> first, View<Vec3i> triangles);

}  // namespace sextant::detail::triangulate
