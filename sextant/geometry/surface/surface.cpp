// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/surface.h"

#include "sextant/geometry/row_camera.h"

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

template <class CopyCloud, class CopyBuffer, class CopyImage>
Surface copied(const Surface& from, const CopyCloud& cloud, const CopyBuffer& buffer,
               const CopyImage& image) {
  Surface to(cloud(static_cast<const Cloud&>(from)));
  to.camera = from.camera;
  to.camera_rows = from.camera_rows;
  to.points_from_camera = from.points_from_camera;
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

std::optional<Rigid3d> row_camera(const Context& context, const Surface& surface) {
  if (!surface.organised()) return {};
  if (surface.camera_rows) {
    return *surface.camera_rows ? std::optional(surface.points_from_camera) : std::nullopt;
  }
  Cloud on_host;
  on_host.points = to_host_buffer(context, surface.points);
  on_host.width = surface.width;
  on_host.height = surface.height;
  on_host.world_from_sensor = surface.world_from_sensor;
  return find_row_camera(on_host);
}

void look_at_rows(const Context& context, Surface& surface) {
  const std::optional<Rigid3d> found = row_camera(context, surface);
  surface.camera_rows = found.has_value();
  surface.points_from_camera = found.value_or(Rigid3d{});
}

}  // namespace sextant
