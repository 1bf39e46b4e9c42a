// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/surface.h"

namespace sextant {

namespace {

ImageView<const Vec3f> image_of(const Surface& surface, const Buffer<Vec3f>& vectors,
                                const char* name) {
  require(surface.organised(), "surface: its ", surface.size(), " points are in no rows");
  require(vectors.size() == surface.size(), "surface: ", vectors.size(), " ", name, " for ",
          surface.size(), " points");
  return {vectors.data(), surface.width, surface.height, surface.width, surface.device()};
}

bool same(const NeighbourGridOptions& a, const NeighbourGridOptions& b) {
  return a.cell_m == b.cell_m && (a.cell_m > 0 || a.points_per_cell == b.points_per_cell);
}

/// Sums for the correlation of two quantities.
struct Correlation {
  double count = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;

  void add(double x, double y) {
    count += 1;
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  /// A single row or column of points says nothing, and counts as going together.
  bool goes_together() const {
    const double spread_a = aa - a * a / count;
    const double spread_b = bb - b * b / count;
    if (!(spread_a > 0 && spread_b > 0)) return true;
    return ab - a * b / count >= 0.99 * std::sqrt(spread_a * spread_b);
  }
};

template <class CopyCloud, class CopyBuffer, class CopyImage>
Surface copied(const Surface& from, const CopyCloud& cloud, const CopyBuffer& buffer,
               const CopyImage& image) {
  Surface to(cloud(static_cast<const Cloud&>(from)));
  to.camera = from.camera;
  to.camera_rows = from.camera_rows;
  to.triangles = buffer(from.triangles);
  to.cells = image(from.cells);
  to.resolution_m = from.resolution_m;
  return to;
}

}  // namespace

ImageView<const Vec3f> Surface::point_image() const { return image_of(*this, points, "points"); }
ImageView<const Vec3f> Surface::normal_image() const { return image_of(*this, normals, "normals"); }

const NeighbourGrid& Surface::grid(const Context& context,
                                   const NeighbourGridOptions& options) const {
  for (const std::unique_ptr<SharedGrid>& shared : grids_) {
    if (same(shared->options, options) && shared->grid.device() == context.device()) {
      return shared->grid;
    }
  }
  grids_.push_back(std::make_unique<SharedGrid>(
      SharedGrid{options, build_neighbour_grid(context, points, options)}));
  return grids_.back()->grid;
}

void check_surface(const Surface& surface) {
  check_cloud(surface);
  require(surface.triangles.empty() || surface.triangles.device() == surface.device(),
          "triangles: lie on ", to_string(surface.triangles.device()), ", the points on ",
          to_string(surface.device()));
  if (surface.cells.empty()) return;
  require(surface.organised() && surface.cells.width() == surface.width - 1 &&
              surface.cells.height() == surface.height - 1,
          "cells: ", surface.cells.width(), " x ", surface.cells.height(), " for ", surface.width,
          " x ", surface.height, " points");
}

Surface copy(const Context& context, const Surface& from) {
  return copied(
      from, [&](const Cloud& cloud) { return copy(context, cloud); },
      [&](const auto& buffer) { return copy(context, buffer); },
      [&](const auto& image) { return copy(context, image); });
}

Surface to_host(const Context& context, const Surface& from) {
  return copied(
      from, [&](const Cloud& cloud) { return to_host(context, cloud); },
      [&](const auto& buffer) { return to_host_buffer(context, buffer); },
      [&](const auto& image) { return to_host(context, image); });
}

bool seen_from_origin(const Cloud& cloud) {
  if (!cloud.organised()) return false;
  double finite = 0;
  Correlation columns, rows;
  const auto points = cloud.points.host();
  const auto width = static_cast<std::size_t>(cloud.width);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d p = cast<double>(points[i]);
    if (!is_finite(p)) continue;
    finite += 1;
    if (!(p.z > 0)) continue;
    columns.add(static_cast<double>(i % width), p.x / p.z);
    rows.add(static_cast<double>(i / width), p.y / p.z);
  }
  if (finite < 3) return true;
  return columns.count > 0.99 * finite && columns.goes_together() && rows.goes_together();
}

}  // namespace sextant
