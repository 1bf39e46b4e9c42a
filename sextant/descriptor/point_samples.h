// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "sextant/core/options.h"
#include "sextant/core/workspace.h"
#include "sextant/geometry/mesh.h"

namespace sextant {

struct PointSamplesOptions {
  float leaf_m = 0.0f;               ///< edge of a voxel
  float normal_angle_rad = 0.5236f;  ///< normals of a voxel within it are one group

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("leaf_m", self.leaf_m, "edge of a voxel", Range{1e-9, 1e6});
    visit("normal_angle_rad", self.normal_angle_rad,
          "normals of a voxel that differ by less are one group", Range{0, 3.2});
  }
};

/// Points with unit normals, thinned so that edges and thin parts survive while flats do not crowd
/// them out.
struct PointSamples {
  Buffer<Vec3f> points;
  Buffer<Vec3f> normals;
};

/// Keeps one point for every voxel and every group of normals in it. Voxel (i, j, k) holds the
/// points with floor(x / leaf) = i and so on. In the order of the points, each joins the first
/// group whose first normal lies within normal_angle_rad of its own, or begins one. A group gives
/// the point of it that is nearest to their mean, the first of equals, and the mean of their
/// normals.
///
/// Holes, and points whose normal is not finite, are left out. The samples stand in the order of
/// the voxels (z slowest), groups in the order in which they began. The same bits for any number of
/// threads and on every device. Waits for the device. Throws where an axis has more than two
/// million voxels.
PointSamples sample_points(const Context& context, View<const Vec3f> points,
                           View<const Vec3f> normals, const PointSamplesOptions& options);

/// One of several scales at which a scene is sampled.
struct SampleScale {
  float leaf_m = 0.0f;          ///< edge of a voxel, positive
  float farthest_m = INFINITY;  ///< points with a larger z are left out
};

/// Samples points at several scales at once, as sample_points does at each of them: those of scale
/// i are elements first[i] .. first[i + 1] - 1, with scales + 1 elements in `first`. Samples for
/// which there is no room are left out, from the last scale on. So are points more than 65 000
/// voxels away from the origin along an axis. Does not wait for the device. Memory: 50 bytes a
/// point and scale.
void sample_scales_into(const Context& context, View<const Vec3f> points, View<const Vec3f> normals,
                        View<const SampleScale> scales, float normal_angle_rad,
                        View<Vec3f> sample_points, View<Vec3f> sample_normals,
                        View<std::int32_t> first, Workspace& workspace);

struct ModelSamplesOptions {
  float leaf_m = 0.0f;               ///< edge of a voxel; 0 takes leaf_share of the diameter
  float leaf_share = 0.08f;          ///< of the diameter
  float normal_angle_rad = 0.5236f;  ///< as in PointSamplesOptions
  float smoothing_m = 0.005f;        ///< over which a sensor smooths normals; 0 leaves them
  int dense_points = 30000;          ///< drawn on the surface before they are thinned

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("leaf_m", self.leaf_m, "edge of a voxel; 0 takes leaf_share of the diameter",
          Range{0, 1e6});
    visit("leaf_share", self.leaf_share, "edge of a voxel as a share of the diameter",
          Range{1e-3, 1});
    visit("normal_angle_rad", self.normal_angle_rad,
          "normals of a voxel that differ by less are one group", Range{0, 3.2});
    visit("smoothing_m", self.smoothing_m, "over which a sensor smooths normals; 0 for none",
          Range{0, 1});
    visit("dense_points", self.dense_points, "drawn on the surface before they are thinned",
          Range{100, 1e7});
  }
};

/// What lies on the surface of a model: dense points with normals as a sensor sees them.
///
/// With triangles, about `dense_points` points spread by area, the same for the same mesh; else the
/// vertices, which must have normals. Normals are averaged over neighbours within smoothing_m by
/// exp(-2 (d / smoothing_m)²), because a sensor does not see creases that are finer; the far side
/// of a thin wall does not count. Throws where there is neither a triangle of any area nor a vertex
/// with a normal. On the CPU; about 50 ms for the default number.
PointSamples dense_model_points(const Context& context, const TriangleMesh& mesh,
                                const ModelSamplesOptions& options = {});

struct ModelSamples {
  float leaf_m = 0;
  double diameter_m = 0;  ///< largest distance between two of the dense points
  PointSamples samples;
};

/// The dense points of a model, thinned by `sample_points`: what pairs of points are made of.
ModelSamples sample_model(const Context& context, const TriangleMesh& mesh,
                          const ModelSamplesOptions& options = {});

}  // namespace sextant
