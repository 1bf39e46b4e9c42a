// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/descriptor/mesh_tensor.h"
#include "sextant/descriptor/tensor/math.h"

namespace sextant::detail::mesh_tensor {

/// Each triangle of a leaf is one bit of a word.
inline constexpr int kLeafTriangles = 64;
inline constexpr int kGroupTriangles = kLeafTriangles * tensor::kTilesPerGroup;

/// NaN for a vertex that is not there.
SEXTANT_HD inline Vec3f vertex_at(const View<const Vec3f>& vertices, std::int32_t index) {
  return index >= 0 && index < vertices.size ? vertices[index] : Vec3f{NAN, NAN, NAN};
}

SEXTANT_HD inline std::int32_t corner_of(const Vec3i& triangle, int corner) {
  return corner == 0 ? triangle.x : corner == 1 ? triangle.y : triangle.z;
}

/// Moves the lowest ten bits to every third place.
SEXTANT_HD inline std::uint32_t spread_to_thirds(std::uint32_t bits) {
  std::uint32_t x = bits & 0x3ffu;
  x = (x | x << 16) & 0x030000ffu;
  x = (x | x << 8) & 0x0300f00fu;
  x = (x | x << 4) & 0x030c30c3u;
  return (x | x << 2) & 0x09249249u;
}

/// Place of a triangle's middle on the curve through a grid of 1024³ cells; holes come last.
struct CurvePlace {
  View<const Vec3f> vertices;
  View<const Vec3i> triangles;
  Bounds bounds;
  std::uint32_t* keys = nullptr;
  std::uint32_t* order = nullptr;

  SEXTANT_HD static std::uint32_t cell(float value, float low, float high) {
    const float share = (value - low) / (high - low);
    return share > 0.0f ? static_cast<std::uint32_t>(min_of(share, 1.0f) * 1023.0f) : 0u;
  }
  SEXTANT_HD void operator()(std::int64_t t) const {
    const Vec3i triangle = triangles[t];
    const Vec3f a = vertex_at(vertices, triangle.x);
    const Vec3f b = vertex_at(vertices, triangle.y);
    const Vec3f c = vertex_at(vertices, triangle.z);
    const float third = 1.0f / 3.0f;
    const Vec3f middle = a * third + b * third + c * third;
    order[t] = static_cast<std::uint32_t>(t);
    keys[t] = 1u << 30;
    if (!is_finite(middle)) return;
    keys[t] = spread_to_thirds(cell(middle.x, bounds.low.x, bounds.high.x)) |
              spread_to_thirds(cell(middle.y, bounds.low.y, bounds.high.y)) << 1 |
              spread_to_thirds(cell(middle.z, bounds.low.z, bounds.high.z)) << 2;
  }
};

struct TakeTriangle {
  View<const Vec3i> triangles;
  const std::uint32_t* order = nullptr;
  Vec3i* to = nullptr;
  SEXTANT_HD void operator()(std::int64_t t) const { to[t] = triangles[order[t]]; }
};

/// Edge 3 t + e runs from corner e of triangle t to the next.
struct EdgeKey {
  const Vec3i* triangles = nullptr;
  std::uint64_t* keys = nullptr;
  std::uint32_t* order = nullptr;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const Vec3i triangle = triangles[i / 3];
    const auto a = static_cast<std::uint32_t>(corner_of(triangle, static_cast<int>(i % 3)));
    const auto b = static_cast<std::uint32_t>(corner_of(triangle, static_cast<int>((i + 1) % 3)));
    keys[i] = std::uint64_t{min_of(a, b)} << 32 | max_of(a, b);
    order[i] = static_cast<std::uint32_t>(i);
  }
};

/// Where the edges with the key at place i of the sorted keys begin and end.
struct EdgeRange {
  View<const std::uint64_t> keys;
  const std::uint32_t* order = nullptr;
  std::int32_t* edge_order = nullptr;
  std::int32_t* first = nullptr;
  std::int32_t* end = nullptr;

  SEXTANT_HD std::int64_t first_not_below(std::uint64_t key) const {
    std::int64_t low = 0, high = keys.size;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (keys[middle] < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  SEXTANT_HD void operator()(std::int64_t i) const {
    const auto edge = static_cast<std::int32_t>(order[i]);
    edge_order[i] = edge;
    first[edge] = static_cast<std::int32_t>(first_not_below(keys[i]));
    end[edge] = static_cast<std::int32_t>(first_not_below(keys[i] + 1));
  }
};

/// Element i is leaf i % 16 of group i / 16.
struct LeafBox {
  View<const Vec3f> vertices;
  View<const Vec3i> triangles;
  Bounds* boxes = nullptr;
  SEXTANT_HD void operator()(std::int64_t leaf) const {
    Bounds box;
    const std::int64_t end = min_of((leaf + 1) * kLeafTriangles, triangles.size);
    for (std::int64_t t = leaf * kLeafTriangles; t < end; ++t) {
      const Vec3i triangle = triangles[t];
      tensor::include(box, vertex_at(vertices, triangle.x), vertex_at(vertices, triangle.y),
                      vertex_at(vertices, triangle.z));
    }
    boxes[leaf / tensor::kTilesPerGroup * tensor::kBoxesPerGroup + 1 +
          leaf % tensor::kTilesPerGroup] = box;
  }
};
struct GroupBox {
  Bounds* boxes = nullptr;
  SEXTANT_HD void operator()(std::int64_t group) const {
    Bounds* of = boxes + group * tensor::kBoxesPerGroup;
    Bounds box;
    for (int leaf = 0; leaf < tensor::kTilesPerGroup; ++leaf) tensor::include(box, of[1 + leaf]);
    of[0] = box;
  }
};

struct MeshTensorJob {
  View<const Vec3f> vertices = {};
  View<const Vec3f> normals = {};
  View<const Vec3i> triangles = {};
  const Bounds* boxes = nullptr;
  const std::int32_t* edge_order = nullptr;
  const std::int32_t* edge_first = nullptr;
  const std::int32_t* edge_end = nullptr;
  View<const PointPair> pairs = {};
  const std::int32_t* count = nullptr;
  float bin_m = 0.0f;
  TensorMode mode = TensorMode::kGrow;
  tensor::TensorRows out = {};
  // On CUDA:
  std::int64_t blocks = 0;
  std::uint64_t* scratch = nullptr;  ///< kScratchWords for each leaf and block

  SEXTANT_HD std::int64_t tensors() const {
    return clamp<std::int64_t>(*count, 0, min_of(pairs.size, out.capacity));
  }
  SEXTANT_HD int groups() const {
    return static_cast<int>((triangles.size + kGroupTriangles - 1) / kGroupTriangles);
  }
  SEXTANT_HD std::int64_t leaves() const { return std::int64_t{groups()} * tensor::kTilesPerGroup; }
  SEXTANT_HD TensorFrame frame(std::int64_t t) const {
    const PointPair pair = pairs[t];
    return tensor::frame_of(vertex_at(vertices, pair.p), vertex_at(vertices, pair.q),
                            vertex_at(normals, pair.p), vertex_at(normals, pair.q), bin_m, pair);
  }
};

/// One triangle in the frame of a tensor.
struct MeshTriangle {
  Vec3i corners;
  Vec3f a, b, c;

  SEXTANT_HD MeshTriangle(const MeshTensorJob& job, const tensor::TensorCube& cube, std::int64_t t)
      : corners(job.triangles[t]),
        a(cube.local(vertex_at(job.vertices, corners.x))),
        b(cube.local(vertex_at(job.vertices, corners.y))),
        c(cube.local(vertex_at(job.vertices, corners.z))) {}
  SEXTANT_HD bool has(std::int32_t vertex) const {
    return corners.x == vertex || corners.y == vertex || corners.z == vertex;
  }
  SEXTANT_HD bool is_at(const PointPair& pair) const { return has(pair.p) || has(pair.q); }
};

/// On CUDA each block has its own scratch: a list of leaves and two words for each.
inline constexpr int kScratchWords = 3;
inline constexpr int kMeshBlocksAtOnce = 2;  ///< on a multiprocessor

void compute_mesh_tensors_cuda(const Context& context, const MeshTensorJob& job);

}  // namespace sextant::detail::mesh_tensor
