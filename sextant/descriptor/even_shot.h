// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/point_samples.h"

namespace sextant {

/// How far apart the points are that are described: a library and the scenes that are compared with
/// it agree about it because the radius alone says it.
inline float even_shot_resolution_m(float radius_m) { return radius_m / 15.0f; }

struct EvenShotOptions {
  float radius_m = 0.024f;
  float leaf_m = 0.008f;  ///< how far apart keypoints are

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("radius_m", self.radius_m, "of the ball that a descriptor looks at", Range{1e-6, 1e6});
    visit("leaf_m", self.leaf_m, "distance of keypoints", Range{1e-6, 1e6});
  }
};

/// SHOT at keypoints, those that could be described.
struct EvenShot {
  int length = 0;
  Buffer<Vec3f> points;
  Buffer<Vec3f> frames;  ///< 3 a point: the axes x, y and z
  Buffer<float> values;  ///< points × length
};

/// The one way from points with normals to SHOT, for a library and for the scenes that are compared
/// with it: one point a voxel of even_shot_resolution_m is kept, since descriptors weigh points and
/// these must lie as evenly in a model as in a scene, and one keypoint a voxel of leaf_m. Points
/// and normals lie in host memory, the result on the context's device. Waits for the device.
EvenShot even_shot(const Context& context, View<const Vec3f> points, View<const Vec3f> normals,
                   const EvenShotOptions& options = {});

/// How many points even_shot needs on the triangles of a mesh: three for each square of its
/// resolution, and 20 000 at least.
double even_shot_points_needed(const TriangleMesh& mesh, float radius_m);

/// The one way from a mesh to the points that even_shot describes: those of dense_model_points, as
/// many as are needed but no more than `most_points`. A mesh whose vertices lie far apart has them
/// all over its triangles. In host memory, of a mesh there; on the CPU, about 2 µs a point.
PointSamples even_shot_points(const Context& context, const TriangleMesh& mesh, float radius_m,
                              int most_points);

}  // namespace sextant
