// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "apps/sextant/command/files.h"
#include "apps/sextant/command/step_times.h"
#include "sextant/depth/bilateral.h"
#include "sextant/geometry/surface.h"

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

/// The files that it names.
std::vector<InputFile> input_files(const SurfaceInput& input);

/// The surface on the context's device. A depth map becomes an organised one with its camera; a
/// mesh without normals gets those of its triangles; whether the rows of a cloud are those of a
/// camera has been looked at.
Surface read_surface_input(const Context& context, const SurfaceInput& input, StepTimes& times);

/// A viewpoint in the coordinates of the file as one in those of its points, which maps have about
/// an origin. 0 0 0 stands for the sensor's place and stays.
Vec3f about_origin(const Cloud& cloud, const Vec3f& viewpoint_m);

/// Throws Error with the remedy unless the cloud has the rows of an image.
void require_organised(const Cloud& cloud, const std::string& file);

}  // namespace sextant::app
