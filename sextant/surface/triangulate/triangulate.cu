// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/tiles.cuh"
#include "sextant/core/cuda_check.h"
#include "sextant/core/for_each.h"
#include "sextant/core/scan.h"
#include "sextant/surface/triangulate/math.h"

namespace sextant::detail::triangulate {

namespace {

constexpr int kBlockWidth = 32;
constexpr int kBlockHeight = 8;

/// One thread a cell. Five edges each: neighbours test the shared ones again, which costs less than
/// handing them over.
__global__ void __launch_bounds__(kBlockWidth* kBlockHeight)
    triangulate_kernel(const TriangulateJob job) {
  const int u = blockIdx.x * kBlockWidth + threadIdx.x;
  const int v = blockIdx.y * kBlockHeight + threadIdx.y;
  if (u >= job.cells.width || v >= job.cells.height) return;
  const EdgeTest<float> test = edge_test(limits_of(job.statistics[0], job.options), job.options);
  Vec3f p[4];  // here, right, below, below right
  Vec3f n[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    p[k] = job.points(u + (k & 1), v + (k >> 1));
    n[k] = job.normals(u + (k & 1), v + (k >> 1));
  }
  const auto passes = [&](int i, int j) { return edge_passes(p[i], p[j], n[i], n[j], test) > 0; };
  const bool diagonal = passes(1, 2);
  const bool first = diagonal && passes(0, 1) && passes(0, 2);
  const bool second = diagonal && passes(1, 3) && passes(2, 3);
  job.cells(u, v) = static_cast<std::uint8_t>((first ? 1 : 0) | (second ? 2 : 0));
}

struct CountTriangles {
  ImageView<const std::uint8_t> cells;
  View<std::int32_t> counts;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const int v = static_cast<int>(i / cells.width);
    counts[i] = triangles_in(cells(static_cast<int>(i - std::int64_t{v} * cells.width), v));
  }
};

struct WriteTriangles {
  ImageView<const std::uint8_t> cells;
  View<const std::int32_t> first;
  View<Vec3i> triangles;
  SEXTANT_HD void operator()(std::int64_t i) const {
    const int v = static_cast<int>(i / cells.width);
    const int u = static_cast<int>(i - std::int64_t{v} * cells.width);
    write_triangles(cells(u, v), u, v, cells.width + 1, triangles.data + first[i]);
  }
};

}  // namespace

void triangulate_cuda(const Context& context, const TriangulateJob& job) {
  const dim3 block(kBlockWidth, kBlockHeight);
  const dim3 grid =
      blocks_for_tiles(job.cells.width, job.cells.height, kBlockWidth, kBlockHeight, "cells");
  triangulate_kernel<<<grid, block, 0, cuda_stream(context)>>>(job);
  check_launch("triangulate");
}

View<std::int32_t> place_triangles_cuda(const Context& context, ImageView<const std::uint8_t> cells,
                                        Workspace& workspace) {
  const View<std::int32_t> first = workspace.take<std::int32_t>(context, cells.pixels() + 1);
  const Workspace::Scope scope(workspace);
  const View<std::int32_t> counts = workspace.take<std::int32_t>(context, cells.pixels());
  for_each(context, cells.pixels(), CountTriangles{cells, counts});
  exclusive_scan<std::int32_t>(context, counts, first, workspace);
  return first;
}

void write_triangles_cuda(const Context& context, ImageView<const std::uint8_t> cells,
                          View<const std::int32_t> first, View<Vec3i> triangles) {
  for_each(context, cells.pixels(), WriteTriangles{cells, first, triangles});
}

}  // namespace sextant::detail::triangulate
