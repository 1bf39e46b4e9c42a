// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "sextant/geometry/camera.h"
#include "sextant/geometry/mesh.h"
#include "sextant/geometry/neighbours.h"

namespace sextant {

/// What flows from a sensor or a file to descriptors and recognition: points, and what has been
/// found out about them so far, all on one device. Operations take a surface and use whichever of
/// its parts they need; those that add a part say so.
///
///   Surface surface = surface_from_depth(context, depth_m, camera);
///   estimate_normals(context, surface);
///   const Buffer<std::int32_t> keypoints = uniform_keypoints(context, surface);
///   const ShotDescriptors shot = compute_shot(context, surface, keypoints);
struct Surface : Cloud {
  std::optional<Camera> camera;  ///< that the rows are those of, when they come from a depth map
  /// Whether the rows are those of a camera, which then stands at points_from_camera; empty until
  /// somebody has looked (look_at_rows). A depth map's are, and its camera stands at the origin.
  std::optional<bool> camera_rows;
  Rigid3d points_from_camera;
  Buffer<Vec3i> triangles;    ///< of a mesh, counter-clockwise seen from outside; else empty
  Image<std::uint8_t> cells;  ///< triangles between pixels, when `triangulate` has found them
  float resolution_m = NAN;   ///< how far points lie apart; NaN until estimate_resolution

  Surface() = default;
  /// Points in any order, or in the rows of an image.
  explicit Surface(Cloud cloud) : Cloud(std::move(cloud)) {}
  /// The vertices and triangles of a mesh; materials are left behind.
  explicit Surface(TriangleMesh mesh)
      : Cloud(std::move(mesh.vertices)), triangles(std::move(mesh.triangles)) {}

  /// Points and normals in their rows; for organised surfaces.
  ImageView<const Vec3f> point_image() const;
  ImageView<const Vec3f> normal_image() const;

  /// The points in a grid of the given cells: built when it is asked for first, then shared by
  /// everyone who asks for the same cells. Whoever changes the points calls `forget_grids`.
  const NeighbourGrid& grid(const Context& context, const NeighbourGridOptions& options) const;
  void forget_grids() { grids_.clear(); }

 private:
  struct SharedGrid {
    NeighbourGridOptions options;
    NeighbourGrid grid;
  };
  mutable std::vector<std::unique_ptr<SharedGrid>> grids_;
};

/// Throws Error unless the parts agree in size and device.
void check_surface(const Surface& surface);

/// The same surface on the context's device, and in host memory; grids are not copied.
Surface copy(const Context& context, const Surface& from);
Surface to_host(const Context& context, const Surface& from);

/// Where the camera stands that the rows are those of (points_from_camera); nothing where there is
/// none. Where camera_rows does not say, find_row_camera does, which downloads the points and waits
/// for the device; look_at_rows keeps what it said in the surface.
std::optional<Rigid3d> row_camera(const Context& context, const Surface& surface);
void look_at_rows(const Context& context, Surface& surface);

}  // namespace sextant
