// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"
#include "sextant/geometry/surface.h"

namespace sextant {

/// How tensors of a depth view are made, for a library and for the scenes that are compared with
/// it. The defaults are those that told the objects of `sextant reproduce tensor-recognition` apart
/// best under a Kinect's noise; paper_view_tensors() are the paper's.
struct ViewTensorOptions {
  std::int32_t tensors = 200;  ///< at most this many, drawn at random from all pairs
  std::uint64_t seed = 0;      ///< of the draw
  /// The length that all others are multiples of. Tensors are comparable only where it is the same:
  /// it belongs to the library, not to the view.
  float resolution_m = 0.0016f;
  float bin_resolutions = 10.0f;  ///< edge of a bin
  float least_pair_resolutions = 5.0f;
  float most_pair_resolutions = 14.0f;
  float least_angle_rad = 0.34906585f;  ///< between the normals of a pair (20°)
  float filter_resolutions = 5.0f;      ///< radius of the bilateral filter; 0 for none
  float normal_resolutions = 7.0f;      ///< radius of the window that a normal is estimated from
  /// How far apart the corners of the triangles are whose areas are added up. Where bins are large,
  /// fewer triangles tell the same: the time of a tensor falls with the square of this.
  float mesh_resolutions = 1.0f;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("tensors", self.tensors, "most tensors of a view, drawn at random", Range{0, 1e6});
    visit("seed", self.seed, "of what is drawn at random", Range{0, 18446744073709551615.0});
    visit("resolution_m", self.resolution_m, "the length that the others are multiples of",
          Range{1e-6, 1e3});
    visit("bin_resolutions", self.bin_resolutions, "edge of a bin", Range{1e-3, 1e6});
    visit("least_pair_resolutions", self.least_pair_resolutions, "shortest distance of a pair",
          Range{0, 1e6});
    visit("most_pair_resolutions", self.most_pair_resolutions, "longest distance of a pair",
          Range{0, 1e6});
    visit("least_angle_rad", self.least_angle_rad,
          "the normals of a pair differ by more than this (20 degrees)", Range{0, 3.1415927});
    visit("filter_resolutions", self.filter_resolutions,
          "radius of the bilateral filter; 0 for none", Range{0, 1e6});
    visit("normal_resolutions", self.normal_resolutions, "radius of the window of a normal",
          Range{0, 1e6});
    visit("mesh_resolutions", self.mesh_resolutions, "distance of the corners of triangles",
          Range{1e-3, 1e6});
  }
};

/// As in the paper: bins of two resolutions, normals of windows of 7 × 7 pixels, pairs whose
/// normals differ by more than 15°.
ViewTensorOptions paper_view_tensors();

/// The surface that tensors of a depth view are made of: filtered, with normals and triangles.
///
/// Windows have the size that the options say in metres, at the median depth of the view, as far as
/// the filter (15 pixels) and the normals (1 to 10) go. Where pixels lie closer than two
/// thirds of a resolution, only every second, third … row and column is kept after filtering, so
/// that pairs (14 pixels) reach as far. Where mesh_resolutions asks for fewer points, rows and
/// columns are left out once more after normals are known. An empty view makes an empty surface.
/// Waits for the device.
Surface view_surface(const Context& context, ImageView<const float> depth_m, const Camera& camera,
                     const ViewTensorOptions& options = {});

/// The tensors of pairs that are drawn from the surface, packed; its own resolution does not count.
/// Which pairs are drawn depends on the pixels that they join, not on other pairs. Waits for the
/// device.
TensorSet view_tensors(const Context& context, const Surface& surface,
                       const ViewTensorOptions& options = {});

/// Both: the one way from a depth view to tensors, for learning and for recognition, on every
/// device.
TensorSet view_tensors(const Context& context, ImageView<const float> depth_m, const Camera& camera,
                       const ViewTensorOptions& options = {});

}  // namespace sextant
