// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/mesh_tensor.h"

#include "sextant/core/context/state.h"
#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/sort.h"
#include "sextant/descriptor/mesh_tensor/math.h"
#include "sextant/descriptor/tensor/packed.h"

namespace sextant {

using namespace detail::mesh_tensor;

namespace {

using detail::for_each_anywhere;
using detail::tensor::TensorCube;

/// One tensor after the other, with memory that is used again.
class MeshTensors {
 public:
  explicit MeshTensors(const MeshTensorJob& job)
      : job_(job),
        open_(static_cast<std::size_t>(job.leaves()), 0),
        reached_(static_cast<std::size_t>(job.leaves()), 0) {}

  void compute(std::int64_t t) {
    const TensorFrame frame = job_.frame(t);
    std::uint64_t sums[kMostTensorBins * kMostTensorBins * kMostTensorBins] = {};
    if (!std::isnan(frame.angle_rad)) {
      const TensorCube cube(frame, job_.out.bins);
      find_triangles(cube, frame.pair);
      if (job_.mode == TensorMode::kGrow) grow();
      add_areas(cube, sums);
    }
    detail::tensor::write_tensor(job_.out, t, frame, sums);
  }

 private:
  void find_triangles(const TensorCube& cube, const PointPair& pair) {
    leaves_.clear();
    waiting_.clear();
    for (int group = 0; group < job_.groups(); ++group) {
      const Bounds* boxes = job_.boxes + std::int64_t{group} * detail::tensor::kBoxesPerGroup;
      if (!cube.may_meet(boxes[0].low, boxes[0].high)) continue;
      for (int tile = 0; tile < detail::tensor::kTilesPerGroup; ++tile) {
        if (!cube.may_meet(boxes[1 + tile].low, boxes[1 + tile].high)) continue;
        find_in_leaf(std::int64_t{group} * detail::tensor::kTilesPerGroup + tile, cube, pair);
      }
    }
  }
  void find_in_leaf(std::int64_t leaf, const TensorCube& cube, const PointPair& pair) {
    std::uint64_t open = 0, reached = 0;
    const std::int64_t first = leaf * kLeafTriangles;
    const std::int64_t end = min_of(first + kLeafTriangles, job_.triangles.size);
    for (std::int64_t t = first; t < end; ++t) {
      const MeshTriangle triangle(job_, cube, t);
      if (!cube.meets(triangle.a, triangle.b, triangle.c)) continue;
      open |= std::uint64_t{1} << (t - first);
      if (job_.mode == TensorMode::kGrow && !triangle.is_at(pair)) continue;
      reached |= std::uint64_t{1} << (t - first);
      waiting_.push_back(t);
    }
    open_[static_cast<std::size_t>(leaf)] = open;
    reached_[static_cast<std::size_t>(leaf)] = reached;
    leaves_.push_back(leaf);
  }

  void grow() {
    while (!waiting_.empty()) {
      const std::int64_t t = waiting_.back();
      waiting_.pop_back();
      for (std::int64_t edge = 3 * t; edge < 3 * t + 3; ++edge) {
        for (std::int32_t i = job_.edge_first[edge]; i < job_.edge_end[edge]; ++i) {
          const std::int64_t other = job_.edge_order[i] / 3;
          const auto leaf = static_cast<std::size_t>(other / kLeafTriangles);
          const std::uint64_t bit = std::uint64_t{1} << (other % kLeafTriangles);
          if ((open_[leaf] & bit) == 0 || (reached_[leaf] & bit) != 0) continue;
          reached_[leaf] |= bit;
          waiting_.push_back(other);
        }
      }
    }
  }

  /// Leaves no bit set behind.
  void add_areas(const TensorCube& cube, std::uint64_t* sums) {
    for (const std::int64_t leaf : leaves_) {
      std::uint64_t bits = std::exchange(reached_[static_cast<std::size_t>(leaf)], 0);
      open_[static_cast<std::size_t>(leaf)] = 0;
      for (; bits != 0; bits &= bits - 1) {
        const MeshTriangle triangle(job_, cube, leaf * kLeafTriangles + __builtin_ctzll(bits));
        detail::tensor::add_triangle(triangle.a, triangle.b, triangle.c, job_.out.bins,
                                     [&](int bin, std::uint32_t area) { sums[bin] += area; });
      }
    }
  }

  const MeshTensorJob& job_;
  std::vector<std::uint64_t> open_;     ///< triangles that meet the cube, a word for each leaf
  std::vector<std::uint64_t> reached_;  ///< those that count
  std::vector<std::int64_t> leaves_;    ///< that may meet the cube
  std::vector<std::int64_t> waiting_;   ///< triangles whose neighbours are to be looked at
};

void compute_mesh_tensors_cpu(const Context& context, const MeshTensorJob& job) {
  *job.out.count = static_cast<std::int32_t>(job.tensors());
  constexpr std::int64_t kGrain = 8;
  for_each_chunk(context, job.tensors(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    MeshTensors tensors(job);
    for (std::int64_t t = begin; t < end; ++t) tensors.compute(t);
  });
}

/// Gives a job what it needs on CUDA: two blocks for each multiprocessor, or one for each tensor,
/// and one to write that there is none.
void add_blocks(const Context& context, MeshTensorJob& job, Workspace& workspace) {
  job.blocks = clamp<std::int64_t>(min_of(job.pairs.size, job.out.capacity), 1,
                                   kMeshBlocksAtOnce * detail::multiprocessors(context));
  const std::int64_t words = job.blocks * kScratchWords * job.leaves();
  job.scratch = workspace.take<std::uint64_t>(context, words).data;
}

/// Sorts the triangles along the curve.
void sort_triangles(const Context& context, View<const Vec3i> triangles, TensorMesh& mesh,
                    Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t count = triangles.size;
  const View<std::uint32_t> keys = workspace.take<std::uint32_t>(context, count);
  const View<std::uint32_t> order = workspace.take<std::uint32_t>(context, count);
  const Bounds around = bounds(context, mesh.vertices);
  for_each_anywhere(context, count,
                    CurvePlace{mesh.vertices, triangles, around, keys.data, order.data});
  sort_pairs(context, keys, order, {0, 31}, workspace);
  for_each_anywhere(context, count, TakeTriangle{triangles, order.data, mesh.triangles.data()});
}

/// Finds the edges between the same vertices.
void join_edges(const Context& context, TensorMesh& mesh, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const std::int64_t edges = mesh.edge_order.size();
  const View<std::uint64_t> keys = workspace.take<std::uint64_t>(context, edges);
  const View<std::uint32_t> order = workspace.take<std::uint32_t>(context, edges);
  for_each_anywhere(context, edges, EdgeKey{mesh.triangles.data(), keys.data, order.data});
  sort_pairs(context, keys, order, {}, workspace);
  for_each_anywhere(context, edges,
                    EdgeRange{keys, order.data, mesh.edge_order.data(), mesh.edge_first.data(),
                              mesh.edge_end.data()});
}

void fill_boxes(const Context& context, TensorMesh& mesh) {
  const std::int64_t groups = mesh.boxes.size() / detail::tensor::kBoxesPerGroup;
  for_each_anywhere(context, groups * detail::tensor::kTilesPerGroup,
                    LeafBox{mesh.vertices, mesh.triangles, mesh.boxes.data()});
  for_each_anywhere(context, groups, GroupBox{mesh.boxes.data()});
}

}  // namespace

TensorMesh prepare_tensor_mesh(const Context& context, View<const Vec3f> vertices,
                               View<const Vec3f> normals, View<const Vec3i> triangles) {
  require_on(context, vertices, "vertices");
  require_on(context, normals, "normals");
  require_on(context, triangles, "triangles");
  require(normals.size == vertices.size, "normals: ", normals.size, " for ", vertices.size,
          " vertices; estimate them with estimate_cloud_normals");
  require(vertices.size <= INT32_MAX, "vertices: ", vertices.size, " are too many");
  require(triangles.size <= INT32_MAX / 3, "triangles: ", triangles.size, " are too many");
  TensorMesh mesh;
  mesh.vertices = vertices;
  mesh.normals = normals;
  const std::int64_t groups = (triangles.size + kGroupTriangles - 1) / kGroupTriangles;
  mesh.triangles = Buffer<Vec3i>(context, triangles.size);
  mesh.boxes = Buffer<Bounds>(context, groups * detail::tensor::kBoxesPerGroup);
  mesh.edge_order = Buffer<std::int32_t>(context, 3 * triangles.size);
  mesh.edge_first = Buffer<std::int32_t>(context, 3 * triangles.size);
  mesh.edge_end = Buffer<std::int32_t>(context, 3 * triangles.size);
  Workspace workspace;
  sort_triangles(context, triangles, mesh, workspace);
  join_edges(context, mesh, workspace);
  fill_boxes(context, mesh);
  return mesh;
}

TensorSet compute_tensors(const Context& context, const TensorMesh& mesh,
                          View<const PointPair> pairs, float resolution_m,
                          const TensorOptions& options) {
  return detail::tensor::packed_tensors(
      context, pairs, options,
      [&](View<const std::int32_t> count, TensorSet& tensors, Workspace& workspace) {
        compute_tensors_into(context, mesh, pairs, count, resolution_m, options, tensors,
                             workspace);
      });
}

void compute_tensors_into(const Context& context, const TensorMesh& mesh,
                          View<const PointPair> pairs, View<const std::int32_t> count,
                          float resolution_m, const TensorOptions& options, TensorSet& tensors,
                          Workspace& workspace) {
  require_on(context, mesh.triangles.view(), "mesh");
  detail::tensor::check_computation(context, pairs, count, options, tensors);
  MeshTensorJob job{.vertices = mesh.vertices,
                    .normals = mesh.normals,
                    .triangles = mesh.triangles,
                    .boxes = mesh.boxes.data(),
                    .edge_order = mesh.edge_order.data(),
                    .edge_first = mesh.edge_first.data(),
                    .edge_end = mesh.edge_end.data(),
                    .pairs = pairs,
                    .count = count.data,
                    .bin_m = options.bin_resolutions * resolution_m,
                    .mode = options.mode,
                    .out = detail::tensor::rows_of(tensors)};
  detail::on_device(
      context,
      [&] {
        const Workspace::Scope scope(workspace);
        add_blocks(context, job, workspace);
        compute_mesh_tensors_cuda(context, job);
      },
      [&] { compute_mesh_tensors_cpu(context, job); });
}

}  // namespace sextant
