// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/tensor.h"

namespace sextant {

/// A triangle mesh prepared for tensors: its triangles sorted along a space-filling curve, boxes
/// around every 64 of them and around every 16 boxes, and which triangles share an edge. Vertices
/// and normals are not copied and must outlive it. It takes about 100 bytes a triangle.
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

/// Costs two sorts, and waits for the device. There is one normal for each vertex. A triangle with
/// a vertex that is not finite or not there is left out of every tensor.
TensorMesh prepare_tensor_mesh(const Context& context, View<const Vec3f> vertices,
                               View<const Vec3f> normals, View<const Vec3i> triangles);

/// Computes tensors as for organised surfaces. They are exact, since every triangle lies in the
/// boxes it was sorted into. Waits for the device, to pack them.
TensorSet compute_tensors(const Context& context, const TensorMesh& mesh,
                          View<const PointPair> pairs, float resolution_m,
                          const TensorOptions& options = {});

/// Computes the tensors of the first count[0] pairs, as far as there is room. Does not wait. On
/// CUDA the workspace takes up to 0.75 bytes a triangle for every multiprocessor.
void compute_tensors_into(const Context& context, const TensorMesh& mesh,
                          View<const PointPair> pairs, View<const std::int32_t> count,
                          float resolution_m, const TensorOptions& options, TensorSet& tensors,
                          Workspace& workspace);

}  // namespace sextant
