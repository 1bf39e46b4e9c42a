// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "apps/sextant/input/surface_input.h"
#include "sextant/geometry/camera.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/triangulate.h"

namespace CLI {
class App;
}

namespace sextant::app {

/// How `describe` makes a surface of what it reads.
struct DescribedSurfaceOptions {
  SurfaceInput input;
  NormalsOptions organised;
  CloudNormalsOptions unorganised;
  TriangulateOptions triangulate;
  bool new_normals = false;  ///< do not take those of the file
};

void add_described_surface(CLI::App& command, DescribedSurfaceOptions& options);

/// A surface to be described, on the context's device: points with normals, perhaps colours.
struct DescribedSurface {
  const char* kind = "cloud";    ///< or "organised cloud" or "mesh"
  TriangleMesh mesh;             ///< triangles of a mesh; none for others
  Image<std::uint8_t> cells;     ///< triangles of an organised cloud
  float resolution_m = NAN;      ///< how far points lie apart
  std::optional<Camera> camera;  ///< of a depth map

  const Cloud& cloud() const { return mesh.vertices; }
  bool organised() const { return cloud().organised(); }
};

/// Normals are those of the file; else of the windows of an organised cloud, of the triangles of a
/// mesh, or of the nearest neighbours. The resolution is the mean distance of neighbouring pixels,
/// the mean length of edges, or the mean distance to the nearest point. Error when there is none.
DescribedSurface read_described_surface(const Context& context,
                                        const DescribedSurfaceOptions& options, StepTimes& times);

}  // namespace sextant::app
