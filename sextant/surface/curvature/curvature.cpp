// SPDX-License-Identifier: Apache-2.0
#include "sextant/surface/curvature.h"

#include <algorithm>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/surface/curvature/rows.h"

namespace sextant {

using namespace detail::curvature;

namespace {

constexpr int kPitchReach_px = 3;  // of pixel_pitch, the farthest that a cell looks

/// A row of curvatures.
struct CurvatureRow {
  const CurvatureJob& job;
  const PaddedPlanes& cells;

  template <class Set>
  void operator()(Set, int v) const {
    using Pack = detail::FloatLanes<Set::kFloats, Set>;
    for (int u = 0; u < job.points.width; u += Pack::kCount) {
      CurvaturePack<Pack>(job, cells, u, v).run();
    }
  }
};

/// A row of cells.
struct CellRow {
  const CurvatureOptions& options;
  const PaddedPlanes& measured;
  PaddedPlanes& cells;

  template <class Set>
  void operator()(Set, int v) const {
    make_cell_row<detail::FloatLanes<Set::kFloats, Set>>(options, measured, v, cells);
  }
};

/// A row of rims.
struct RimRow {
  const CurvatureJob& job;
  const PaddedPlanes& cells;
  std::uint8_t* rims;

  template <class Set>
  void operator()(Set, int v) const {
    make_rim_row<detail::FloatLanes<Set::kFloats, Set>>(
        *job.noise, cells, v, rims + static_cast<std::int64_t>(v) * cells.width);
  }
};

/// Negates the depths of a row that lie in the rims of edges.
void mark_rim_row(const std::uint8_t* rims, int v, PaddedPlanes& cells) {
  for (int dv = -kMostRim_px + 1; dv < kMostRim_px; ++dv) {
    if (v + dv < 0 || v + dv >= cells.height) continue;
    const std::uint8_t* row = rims + static_cast<std::int64_t>(v + dv) * cells.width;
    for (int u = 0; u < cells.width; ++u) {
      const int rim = row[u];
      if (rim == 0) continue;
      for (int du = -rim + 1; du < rim; ++du) {
        if (!is_in_rim(rim, du, dv) || u + du < 0 || u + du >= cells.width) continue;
        float& z = *cells.at(2, u + du, v);
        if (z > 0.0f) z = depth_in_rim(z);
      }
    }
  }
}

/// Cells next to depth edges are marked.
void mark_rims(const Context& context, const CurvatureJob& job, PaddedPlanes& cells,
               Workspace& workspace) {
  const int width = cells.width;
  std::uint8_t* rims =
      workspace.take<std::uint8_t>(context, std::int64_t{width} * cells.height).data;
  const RimRow row{job, cells, rims};
  for_each_chunk(context, cells.height, 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto v = begin; v < end; ++v) detail::run_widest(row, static_cast<int>(v));
  });
  for_each_chunk(context, cells.height, 16, [&](std::int64_t begin, std::int64_t end) {
    for (auto v = begin; v < end; ++v) mark_rim_row(rims, static_cast<int>(v), cells);
  });
}

/// Zeros outside the image; inside, `fill` writes the row.
template <class Fill>
void fill_planes(const Context& context, PaddedPlanes& planes, const Fill& fill) {
  const int margin = planes.margin;
  for_each_chunk(
      context, planes.height + 2 * margin, 16, [&](std::int64_t begin, std::int64_t end) {
        for (int v = static_cast<int>(begin) - margin; v < static_cast<int>(end) - margin; ++v) {
          const bool inside = v >= 0 && v < planes.height;
          if (inside) fill(v);
          for (int plane = 0; plane < planes.planes; ++plane) {
            float* row = planes.at(plane, -margin, v);
            float* beyond = row + planes.stride;
            std::fill(row, inside ? row + margin : beyond, 0.0f);
            if (inside) std::fill(row + margin + planes.width, beyond, 0.0f);
          }
        }
      });
}

PaddedPlanes make_cells(const Context& context, const CurvatureJob& job, Workspace& workspace) {
  const int width = job.points.width;
  const int height = job.points.height;
  PaddedPlanes measured(context, width, height, kPitchReach_px, 3, workspace);
  fill_planes(context, measured, [&](int v) {
    float* x = measured.at(0, 0, v);
    float* y = measured.at(1, 0, v);
    float* z = measured.at(2, 0, v);
    for (int u = 0; u < width; ++u) {
      const Vec3f p = measured_point(job.points(u, v));
      x[u] = p.x;
      y[u] = p.y;
      z[u] = p.z;
    }
  });
  const bool in_pixels = job.options.stride_px > 0;
  const int reach = in_pixels ? pixel_patch(job.options).reach_px() : kMostReach_px;
  PaddedPlanes cells(context, width, height, reach, 4, workspace);
  const CellRow row{job.options, measured, cells};
  fill_planes(context, cells, [&](int v) { detail::run_widest(row, v); });
  return cells;
}

void estimate_curvature_cpu(const Context& context, const CurvatureJob& job, Workspace& workspace) {
  PaddedPlanes cells = make_cells(context, job, workspace);
  if (leaves_out_rims(job.options)) mark_rims(context, job, cells, workspace);
  const CurvatureRow row{job, cells};
  for_each_chunk(context, job.points.height, 1, [&](std::int64_t v, std::int64_t) {
    detail::run_widest(row, static_cast<int>(v));
  });
}

template <class T>
void check_output(const Context& context, const ImageView<T>& image, const char* name,
                  const ImageView<const Vec3f>& points) {
  if (image.empty()) return;
  require_same_size(context, image, points, name, "points");
  require(static_cast<const void*>(image.data) != points.data, name,
          ": the points cannot be overwritten by it");
}

}  // namespace

Curvature estimate_curvature(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, const CurvatureOptions& options) {
  const int width = points.width;
  const int height = points.height;
  Curvature result{
      Image<float>(context, width, height), Image<float>(context, width, height),
      Image<Vec3f>(context, width, height), Image<Vec3f>(context, width, height),
      Image<Vec3f>(context, width, height), Image<std::uint8_t>(context, width, height),
      Image<float>(context, width, height)};
  Workspace workspace;
  estimate_curvature_into(context, points, normals, options,
                          {result.k1_per_m, result.k2_per_m, result.direction1, result.normals,
                           result.points, result.valid, result.deviation_per_m},
                          workspace);
  return result;
}

void estimate_curvature_into(const Context& context, ImageView<const Vec3f> points,
                             ImageView<const Vec3f> normals, const CurvatureOptions& options,
                             const CurvatureViews& out, Workspace& workspace) {
  check_options(options);
  require(options.stride_px == 0 || !(options.radius_m > 0.0f), "stride_px ", options.stride_px,
          " and radius_m ", options.radius_m, " are given: a patch is in pixels or in metres");
  require(options.least_radius_m <= options.most_radius_m, "least_radius_m ",
          options.least_radius_m, " is more than most_radius_m ", options.most_radius_m);
  require_on(context, points, "points");
  require_same_size(context, normals, points, "normals", "points");
  check_output(context, out.k1_per_m, "k1_per_m", points);
  check_output(context, out.k2_per_m, "k2_per_m", points);
  check_output(context, out.direction1, "direction1", points);
  check_output(context, out.normals, "normals of the result", points);
  check_output(context, out.points, "points of the result", points);
  check_output(context, out.valid, "valid", points);
  check_output(context, out.deviation_per_m, "deviation_per_m", points);
  if (points.empty()) return;
  const Workspace::Scope scope(workspace);
  CurvatureJob job{points, normals, options, out};
  if (options.settles() || options.follows_noise()) {
    job.noise = detail::noise::estimate_frame_noise(
        context, points, {options.depth_noise_per_m, options.noise_grain_px}, workspace);
  }
  detail::on_device(
      context, [&] { estimate_curvature_cuda(context, job, workspace); },
      [&] { estimate_curvature_cpu(context, job, workspace); });
}

}  // namespace sextant
