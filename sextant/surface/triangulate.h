// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/workspace.h"
#include "sextant/surface/resolution.h"

namespace sextant {

struct TriangulateOptions {
  /// ε_pov: an edge that makes a smaller angle with the line of sight is no surface (12.5°).
  float view_angle_rad = 0.21816616f;
  /// T_d is at least this many times the resolution: on an even surface the deviation is nothing,
  /// and the diagonal of a cell alone is 1.4 times as long as its sides. 0 for the paper's T_d.
  float least_edge_resolutions = 3.0f;
  /// ε_n is at least this (30°), or the creases that descriptors live on would be cut.
  float least_normal_angle_rad = 0.52359878f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("view_angle_rad", self.view_angle_rad,
          "edges closer to the line of sight are left out (12.5 degrees)", Range{0, 1.5707963});
    visit("least_edge_resolutions", self.least_edge_resolutions,
          "lower bound of the longest edge in multiples of the resolution; 0 as in the paper",
          Range{0, 1e6});
    visit("least_normal_angle_rad", self.least_normal_angle_rad,
          "lower bound of the angle that normals at the ends of an edge may differ by (30 degrees)",
          Range{0, 3.1415927});
  }
};

/// What an edge between neighbours must satisfy.
struct EdgeLimits {
  float max_edge_m = NAN;      ///< the larger of T_d and its lower bound
  float max_angle_rad = NAN;   ///< the larger of ε_n and its lower bound
  float view_angle_rad = NAN;  ///< ε_pov
};
EdgeLimits edge_limits(const SurfaceStatistics& statistics, const TriangulateOptions& options);

/// The surface between the pixels of an organised cloud seen from the origin.
///
/// A 2 × 2 cell of pixels is cut from top right to bottom left. Bit 0 of its byte stands for the
/// triangle (p, below, right), bit 1 for (right, below, below right), both counter-clockwise seen
/// from the sensor. A triangle exists when its three points and normals are valid and each edge
/// p-q passes: |cos ∠(p, q - p)| ≤ cos ε_pov, |q - p| ≤ T_d and n_p · n_q ≥ cos ε_n.
/// The result has (width - 1) × (height - 1) cells, none for an image of one row or column.
///
/// CPU and CUDA agree but for edges within rounding (1e-6) of a limit. Cost: one pass, about 120
/// flop a cell.
Image<std::uint8_t> triangulate(const Context& context, ImageView<const Vec3f> points,
                                ImageView<const Vec3f> normals, const SurfaceStatistics& statistics,
                                const TriangulateOptions& options = {});

/// With the statistics of one element on the context's device and cells of the right size;
/// allocates nothing, does not wait.
void triangulate_into(const Context& context, ImageView<const Vec3f> points,
                      ImageView<const Vec3f> normals, View<const SurfaceStatistics> statistics,
                      const TriangulateOptions& options, ImageView<std::uint8_t> cells);

/// The triangles as indices v · width + u into the points, cell by cell in the order of rows; for
/// files and drawing. Waits for the device to know how many there are.
Buffer<Vec3i> triangle_indices(const Context& context, ImageView<const std::uint8_t> cells);

/// Into room for two triangles a cell, of which the first `count[0]` are written; does not wait.
void triangle_indices_into(const Context& context, ImageView<const std::uint8_t> cells,
                           View<Vec3i> triangles, View<std::int32_t> count, Workspace& workspace);

}  // namespace sextant
