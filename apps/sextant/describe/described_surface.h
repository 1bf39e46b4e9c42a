// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/sextant/input/surface_input.h"
#include "sextant/surface/surface_operations.h"

namespace CLI {
class App;
}

namespace sextant::app {

/// How `describe` and `match` make a surface of what it reads.
struct DescribedSurfaceOptions {
  SurfaceInput input;
  SurfaceNormalsOptions normals;
  TriangulateOptions triangulate;
  bool new_normals = false;  ///< do not take those of the file
};

/// Flags; those of triangles between pixels only where the caller wants some.
void add_described_surface(CLI::App& command, DescribedSurfaceOptions& options,
                           bool with_triangles = true);

/// Wrong usage where flags of the surface exclude each other. They say which method makes normals.
void check_surface_flags(const CLI::App& command, DescribedSurfaceOptions& options);

/// Error where a flag of normals has no effect on the surface: where these come from says it.
void check_normals_flags(const CLI::App& command, const DescribedSurfaceOptions& options,
                         const Surface& surface);

/// The input, whose rows are a camera's or forgotten.
Surface read_described_surface(const Context& context, const DescribedSurfaceOptions& options,
                               StepTimes& times);

/// Gives a surface that was read what a description needs: normals and resolution. Normals are
/// those of the file; else estimate_normals makes them. The pixels of an organised surface are
/// linked to triangles where the caller wants some. Error when it has no resolution.
void complete_surface(const Context& context, const DescribedSurfaceOptions& options,
                      bool with_triangles, Surface& surface, StepTimes& times);

/// "organised cloud", "mesh" or "cloud".
const char* kind_of(const Surface& surface);

}  // namespace sextant::app
