// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/surface.h"
#include "sextant/surface/cloud_curvature.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/cloud_segment.h"
#include "sextant/surface/curvature.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/segment.h"
#include "sextant/surface/triangulate.h"

// The operations of this folder for a Surface. They choose the form that fits it: windows of
// pixels where the points have the rows of a camera, neighbours in space where they are in any
// order, triangles where it is a mesh. Options of both forms are given, and the form's own count.

namespace sextant {

/// Whether windows of pixels may be used: the points have rows, and these are those of a camera at
/// the origin. Where surface.camera_rows does not say, the points are looked at, which waits for
/// the device and downloads them.
bool has_camera_rows(const Context& context, const Surface& surface);

struct SurfaceNormalsOptions {
  NormalsOptions organised = {};         ///< `ray` becomes `pca` where the rows are no camera's
  CloudNormalsOptions unorganised = {};  ///< a mesh has the normals of its triangles instead
};

/// Sets surface.normals, whatever they were: of windows of an organised surface, of the triangles
/// of a mesh, of the neighbours of other points.
void estimate_normals(const Context& context, Surface& surface,
                      const SurfaceNormalsOptions& options = {});

/// Sets surface.resolution_m, how far neighbouring points lie apart: the mean length of the links
/// between neighbouring pixels (SurfaceStatistics), the mean length of the edges of a mesh
/// (mesh_resolution), or the mean distance to the nearest neighbour of points in any order
/// (cloud_resolution_m). An organised surface needs its normals. NaN where there is nothing to
/// measure. Waits for the device.
void estimate_resolution(const Context& context, Surface& surface);

/// Sets surface.cells, and surface.resolution_m on the way, for an organised surface with normals.
/// Waits for the device. Returns the statistics that the limits of edges follow from.
SurfaceStatistics triangulate(const Context& context, Surface& surface,
                              const TriangulateOptions& options = {},
                              const StatisticsOptions& statistics = {});

/// The triangles of a mesh, or those between pixels that `triangulate` has found.
Buffer<Vec3i> triangles_of(const Context& context, const Surface& surface);

}  // namespace sextant
