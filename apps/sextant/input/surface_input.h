// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/sextant/command/step_times.h"
#include "sextant/depth/bilateral.h"
#include "sextant/geometry/mesh.h"

namespace CLI {
class App;
}

namespace sextant::app {

/// What `normals`, `curvature`, `mesh`, `segment` and `describe` start from.
struct SurfaceInput {
  std::string file;     ///< a cloud, or a depth map with its camera
  std::string camera;   ///< empty for clouds
  double unit_m = 0;    ///< 0: metres for clouds; for depth what the camera says, else millimetres
  bool filter = false;  ///< smooth the depth with the bilateral filter
  BilateralOptions bilateral = {};
  std::string color = {};  ///< image registered to a depth map; empty without
};

void add_surface_input(CLI::App& command, SurfaceInput& input);
/// Flags to filter and colour a depth map.
void add_depth_input(CLI::App& command, SurfaceInput& input);

/// The cloud on the context's device; a depth map becomes an organised one, and the points of a
/// mesh without normals get those of its triangles.
Cloud read_surface_input(const Context& context, const SurfaceInput& input, StepTimes& times);

/// Whether the rows of a cloud on the host are those of a camera at the origin that looks along z:
/// columns go with x/z and rows with y/z. False for a cloud that was moved into another frame.
bool seen_from_origin(const Cloud& cloud);

/// All of a file, with its triangles and no normals but its own; a depth map has no triangles.
TriangleMesh read_surface_mesh(const Context& context, const SurfaceInput& input, StepTimes& times);

/// Throws Error with the remedy unless the cloud has the rows of an image.
void require_organised(const Cloud& cloud, const std::string& file);

/// Views of the points and of one vector each, as images.
ImageView<const Vec3f> organised_points(const Cloud& cloud);
ImageView<const Vec3f> organised_normals(const Cloud& cloud);

}  // namespace sextant::app
