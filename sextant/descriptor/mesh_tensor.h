// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"

namespace sextant {

/// A triangle mesh prepared for tensors: its triangles sorted along a space-filling curve, boxes
/// around every 64 of them and around every 16 boxes, and which triangles share an edge. Vertices
/// and normals are not copied and must outlive it. About 100 bytes a triangle.
struct TensorMesh {
  View<const Vec3f> vertices;
  View<const Vec3f> normals;
  Buffer<Vec3i> triangles;          ///< sorted
  Buffer<Bounds> boxes;             ///< low and high corner of each
  Buffer<std::int32_t> edge_order;  ///< the edges 3 t + e, those between the same vertices together
  Buffer<std::int32_t> edge_first;  ///< for edge 3 t + e, where those like it begin in edge_order
  Buffer<std::int32_t> edge_end;

  Device device() const { return triangles.device(); }
};

/// Two sorts; waits for the device. Normals are one per vertex. A triangle with a vertex that is
/// not finite or not there is left out of every tensor.
TensorMesh prepare_tensor_mesh(const Context& context, View<const Vec3f> vertices,
                               View<const Vec3f> normals, View<const Vec3i> triangles);

/// As for organised surfaces: exact, since every triangle lies in the boxes it was sorted into.
TensorSet compute_tensors(const Context& context, const TensorMesh& mesh,
                          View<const PointPair> pairs, float resolution_m,
                          const TensorOptions& options = {});

/// Does not wait. Allocates only when the workspace is too small.
void compute_tensors_into(const Context& context, const TensorMesh& mesh,
                          View<const PointPair> pairs, View<const std::int32_t> count,
                          float resolution_m, const TensorOptions& options, TensorSet& tensors,
                          TensorWorkspace& workspace);

}  // namespace sextant
