// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/triangulate.h"

#include <numeric>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/core/simd/points.h"
#include "sextant/surface/triangulate/math.h"

namespace sextant {

using namespace detail::triangulate;

namespace {

/// Rows of cells that a thread takes at a time; their upper edges are tested twice.
constexpr int kRowsAtOnce = 16;
/// Cells of a row that are taken together, so that what they need stays in the nearest cache.
constexpr int kColumnsAtOnce = 256;

/// A part of a row of points and normals, one coordinate after the other, and its edges.
struct RowPart {
  static constexpr int kStride = kColumnsAtOnce + 32;
  alignas(64) float x[kStride], y[kStride], z[kStride];
  alignas(64) float nx[kStride], ny[kStride], nz[kStride];
  alignas(64) float across[kStride];  ///< 1 where the edge to the right passes
};

template <class Pack>
class CellRows {
 public:
  explicit CellRows(const TriangulateJob& job) : job_(job) {
    const EdgeTest<float> test = edge_test(limits_of(job.statistics[0], job.options), job.options);
    test_.max_edge_sq = Pack(test.max_edge_sq);
    test_.max_steps = Pack(test.max_steps);
    test_.steps_per_m = Pack(test.steps_per_m);
    test_.cos_angle = Pack(test.cos_angle);
    test_.cos_view_sq = Pack(test.cos_view_sq);
  }

  void run(int first_row, int end_row, int left) {
    RowPart* upper = &rows_[0];
    RowPart* lower = &rows_[1];
    load(first_row, left, *upper);
    for (int v = first_row; v < end_row; ++v) {
      load(v + 1, left, *lower);
      write_cells(v, left, *upper, *lower);
      std::swap(upper, lower);
    }
  }

 private:
  static constexpr int N = Pack::kCount;

  void load(int v, int left, RowPart& row) {
    for (int column = 0; column < RowPart::kStride; column += N) {
      const Vec3<Pack> p = load_group(job_.points, left + column, v);
      p.x.store(row.x + column);
      p.y.store(row.y + column);
      p.z.store(row.z + column);
      const Vec3<Pack> n = load_group(job_.normals, left + column, v);
      n.x.store(row.nx + column);
      n.y.store(row.ny + column);
      n.z.store(row.nz + column);
    }
    for (int column = 0; column <= kColumnsAtOnce; column += N) {
      passes(row, column, row, column + 1).store(row.across + column);
    }
  }

  static Vec3<Pack> load_group(const ImageView<const Vec3f>& image, int u, int v) {
    if (u + N <= image.width) return detail::load_points<Pack>(image.row(v) + u);
    if (u >= image.width) return {Pack(NAN), Pack(NAN), Pack(NAN)};
    Vec3f part[N];
    for (int lane = 0; lane < N; ++lane) {
      part[lane] = u + lane < image.width ? image(u + lane, v) : Vec3f{NAN, NAN, NAN};
    }
    return detail::load_points<Pack>(part);
  }

  Pack passes(const RowPart& from, int i, const RowPart& to, int j) const {
    return edge_passes<Pack>(
        {Pack::load(from.x + i), Pack::load(from.y + i), Pack::load(from.z + i)},
        {Pack::load(to.x + j), Pack::load(to.y + j), Pack::load(to.z + j)},
        {Pack::load(from.nx + i), Pack::load(from.ny + i), Pack::load(from.nz + i)},
        {Pack::load(to.nx + j), Pack::load(to.ny + j), Pack::load(to.nz + j)}, test_);
  }

  void write_cells(int v, int left, const RowPart& upper, const RowPart& lower) {
    const int cells = min_of(kColumnsAtOnce, job_.cells.width - left);
    float down[RowPart::kStride];
    for (int column = 0; column < cells + 1; column += N) {
      passes(upper, column, lower, column).store(down + column);
    }
    float bits[RowPart::kStride];
    for (int column = 0; column < cells; column += N) {
      const Pack diagonal = passes(upper, column + 1, lower, column);
      const Pack first = Pack::load(upper.across + column) * Pack::load(down + column) * diagonal;
      const Pack second =
          Pack::load(lower.across + column) * Pack::load(down + column + 1) * diagonal;
      (first + second + second).store(bits + column);
    }
    std::uint8_t* to = job_.cells.row(v) + left;
    for (int column = 0; column < cells; ++column) {
      to[column] = static_cast<std::uint8_t>(static_cast<int>(bits[column]));
    }
  }

  const TriangulateJob& job_;
  EdgeTest<Pack> test_;
  RowPart rows_[2];
};

/// A part of the rows of cells first_row .. end_row - 1.
struct CellsOfRows {
  const TriangulateJob& job;

  template <class Set>
  void operator()(Set, int first_row, int end_row, int left) const {
    CellRows<detail::FloatLanes<Set::kFloats, Set>>(job).run(first_row, end_row, left);
  }
};

void triangulate_cpu(const Context& context, const TriangulateJob& job) {
  const CellsOfRows rows{job};
  for_each_chunk(context, job.cells.height, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (int left = 0; left < job.cells.width; left += kColumnsAtOnce) {
      detail::run_widest(rows, static_cast<int>(begin), static_cast<int>(end), left);
    }
  });
}

View<std::int32_t> place_triangles_cpu(const Context& context, ImageView<const std::uint8_t> cells,
                                       Workspace& workspace) {
  const View<std::int32_t> first = workspace.take<std::int32_t>(context, cells.height + 1);
  first[0] = 0;
  for_each_chunk(context, cells.height, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      const std::uint8_t* row = cells.row(static_cast<int>(v));
      std::int32_t count = 0;
      for (int u = 0; u < cells.width; ++u) count += triangles_in(row[u]);
      first[v + 1] = count;
    }
  });
  std::partial_sum(first.begin(), first.end(), first.begin());
  return first;
}

void write_triangles_cpu(const Context& context, ImageView<const std::uint8_t> cells,
                         View<const std::int32_t> first, View<Vec3i> triangles) {
  for_each_chunk(context, cells.height, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      Vec3i* to = triangles.data + first[v];
      for (int u = 0; u < cells.width; ++u) {
        const std::uint8_t cell = cells(u, static_cast<int>(v));
        write_triangles(cell, u, static_cast<int>(v), cells.width + 1, to);
        to += triangles_in(cell);
      }
    }
  });
}

View<std::int32_t> place_triangles(const Context& context, ImageView<const std::uint8_t> cells,
                                   Workspace& workspace) {
  require_on(context, cells, "cells");
  require(cells.pixels() <= INT32_MAX / 2, "cells: ", cells.width, " x ", cells.height,
          " are too many for 32-bit numbers of triangles");
  require((std::int64_t{cells.width} + 1) * (std::int64_t{cells.height} + 1) <= INT32_MAX,
          "cells: ", cells.width, " x ", cells.height, " are too many for 32-bit indices");
  return detail::on_device(
      context, [&] { return place_triangles_cuda(context, cells, workspace); },
      [&] { return place_triangles_cpu(context, cells, workspace); });
}

void write_all_triangles(const Context& context, ImageView<const std::uint8_t> cells,
                         View<const std::int32_t> first, View<Vec3i> triangles) {
  detail::on_device(
      context, [&] { write_triangles_cuda(context, cells, first, triangles); },
      [&] { write_triangles_cpu(context, cells, first, triangles); });
}

}  // namespace

EdgeLimits edge_limits(const SurfaceStatistics& statistics, const TriangulateOptions& options) {
  check_options(options);
  return limits_of(statistics, options);
}

Image<std::uint8_t> triangulate(const Context& context, ImageView<const Vec3f> points,
                                ImageView<const Vec3f> normals, const SurfaceStatistics& statistics,
                                const TriangulateOptions& options) {
  const bool some = points.width > 1 && points.height > 1;
  Image<std::uint8_t> cells(context, some ? points.width - 1 : 0, some ? points.height - 1 : 0);
  const Buffer<SurfaceStatistics> on_device =
      copy(context, std::vector<SurfaceStatistics>{statistics});
  triangulate_into(context, points, normals, on_device, options, cells);
  return cells;
}

void triangulate_into(const Context& context, ImageView<const Vec3f> points,
                      ImageView<const Vec3f> normals, View<const SurfaceStatistics> statistics,
                      const TriangulateOptions& options, ImageView<std::uint8_t> cells) {
  check_options(options);
  require_on(context, points, "points");
  require_same_size(context, normals, points, "normals", "points");
  require_room(context, statistics, 1, "statistics");
  require_on(context, cells, "cells");
  require(points.pixels() <= INT32_MAX, "points: ", points.width, " x ", points.height,
          " are too many");
  const bool some = points.width > 1 && points.height > 1;
  const int width = some ? points.width - 1 : 0;
  const int height = some ? points.height - 1 : 0;
  require(cells.width == width && cells.height == height, "cells: ", cells.width, " x ",
          cells.height, " instead of ", width, " x ", height);
  if (!some) return;
  const TriangulateJob job{points, normals, statistics, options, cells};
  detail::on_device(
      context, [&] { triangulate_cuda(context, job); }, [&] { triangulate_cpu(context, job); });
}

Buffer<Vec3i> triangle_indices(const Context& context, ImageView<const std::uint8_t> cells) {
  Workspace workspace;
  const View<const std::int32_t> first = place_triangles(context, cells, workspace);
  const std::int32_t total = to_host(context, first.subview(first.size - 1, 1))[0];
  Buffer<Vec3i> triangles(context, total);
  write_all_triangles(context, cells, first, triangles);
  return triangles;
}

void triangle_indices_into(const Context& context, ImageView<const std::uint8_t> cells,
                           View<Vec3i> triangles, View<std::int32_t> count, Workspace& workspace) {
  require_room(context, triangles, 2 * cells.pixels(), "triangles");
  require_room(context, count, 1, "count");
  const Workspace::Scope scope(workspace);
  const View<const std::int32_t> first = place_triangles(context, cells, workspace);
  write_all_triangles(context, cells, first, triangles);
  copy_async<std::int32_t>(context, first.subview(first.size - 1, 1), count);
}

}  // namespace sextant
