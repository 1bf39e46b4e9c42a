// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/workspace.h"
#include "sextant/surface/resolution.h"

namespace sextant {

/// What the longest edge of a triangle follows.
enum class EdgeLength : std::int32_t {
  kLocal,  ///< the distance of the pixels from each other where they lie: twice as far, twice as
           ///< long
  kFrame   ///< one length for the frame, as in the paper: far surfaces fall apart
};
inline constexpr Choice<EdgeLength> kEdgeLengths[] = {{"local", EdgeLength::kLocal},
                                                      {"frame", EdgeLength::kFrame}};

struct TriangulateOptions {
  EdgeLength edge_length = EdgeLength::kLocal;
  /// What the longest local edge gains with every metre of depth, in distances between pixels: the
  /// noise of sensors that triangulate grows so. A Kinect's smallest step of depth is 1.6 times z.
  float edge_steps_per_m = 1.7f;
  /// ε_pov: an edge that makes a smaller angle with the line of sight is no surface (12.5°).
  float view_angle_rad = 0.21816616f;
  /// T_d is at least this many times the resolution: on an even surface the deviation is nothing,
  /// and the diagonal of a cell alone is 1.4 times as long as its sides. 0 for the paper's T_d.
  float least_edge_resolutions = 3.0f;
  /// ε_n is at least this (30°), or the creases that descriptors live on would be cut.
  float least_normal_angle_rad = 0.52359878f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("edge_length", self.edge_length,
          "the longest edge follows the depth of its pixels, or is one for the frame (the paper)",
          kEdgeLengths);
    visit("edge_steps_per_m", self.edge_steps_per_m,
          "growth of the longest local edge with the depth, in distances between pixels a metre",
          Range{0, 1e6});
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
  float max_edge_steps = NAN;  ///< the same over the resolution; 1 / sin ε_pov at most
  float max_angle_rad = NAN;   ///< the larger of ε_n and its lower bound
  float view_angle_rad = NAN;  ///< ε_pov
};
EdgeLimits edge_limits(const SurfaceStatistics& statistics, const TriangulateOptions& options);

/// The surface between the pixels of an organised cloud seen from the origin.
///
/// A 2 × 2 cell of pixels is cut from top right to bottom left. Bit 0 of its byte stands for the
/// triangle (p, below, right), bit 1 for (right, below, below right), both counter-clockwise seen
/// from the sensor. A triangle exists when its three points and normals are valid and each edge
/// p-q passes: |cos ∠(p, q - p)| ≤ cos ε_pov, |q - p| ≤ T_d and n_p · n_q ≥ cos ε_n. With local
/// edge lengths T_d is max_edge_steps times the distance of p from the line of sight to q. The
/// result has (width - 1) × (height - 1) cells, none for an image of one row or column.
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
