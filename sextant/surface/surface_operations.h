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
//
// Windows of pixels need points in the axes of their camera, z forward. Where the camera stands
// elsewhere, because the cloud was turned or moved as a whole, these operations take the points
// there and bring the result back. Rows that are no camera's are points in any order. The
// functions that take images cannot know: they give nothing for points that do not lie before the
// origin (z <= 0).

namespace sextant {

/// Whether windows of pixels are used: the points have rows, and these are those of a camera,
/// wherever it stands (row_camera).
bool has_camera_rows(const Context& context, const Surface& surface);

/// Where the sensor stood, in the frame of the points: the camera of the rows, or what the file
/// says. A viewpoint that is not 0 0 0 counts instead.
Vec3f viewpoint_or_sensor(const Surface& surface, const Vec3f& viewpoint_m);

struct SurfaceNormalsOptions {
  NormalsOptions organised = {};         ///< for the rows of a camera
  CloudNormalsOptions unorganised = {};  ///< a mesh has the normals of its triangles instead;
                                         ///< viewpoint 0 0 0 is the sensor's of the surface
};

/// Sets surface.normals, whatever they were: of windows of an organised surface, of the triangles
/// of a mesh, of the neighbours of other points.
void estimate_normals(const Context& context, Surface& surface,
                      const SurfaceNormalsOptions& options = {});

struct SurfaceCurvatureOptions {
  CurvatureOptions organised = {};
  CloudCurvatureOptions unorganised = {};  ///< viewpoint 0 0 0 is the sensor's of the surface
};

/// The curvatures of the surface's points, by patches of pixels or by neighbours, to the side of
/// the sensor; of neighbours, to that of surface.normals where there are some.
CloudCurvature estimate_curvature(const Context& context, const Surface& surface,
                                  const SurfaceCurvatureOptions& options = {});

struct SurfaceSegmentOptions {
  SegmentOptions organised = {};
  CloudSegmentOptions unorganised = {};
};

/// The regions of a surface with normals, in the frame of its points; radius_m of the result is 0
/// for those of pixels. With saliencies its points are taken in any order.
CloudSegmentation segment(const Context& context, const Surface& surface,
                          const SurfaceSegmentOptions& options = {},
                          const PointSaliency& saliency = {});

/// Sets surface.resolution_m, how far neighbouring points lie apart: the mean length of the links
/// between neighbouring pixels (SurfaceStatistics), the mean length of the edges of a mesh
/// (mesh_resolution), or the mean distance to the nearest neighbour of points in any order
/// (cloud_resolution_m). An organised surface needs its normals. NaN where there is nothing to
/// measure. Waits for the device.
void estimate_resolution(const Context& context, Surface& surface);

/// Sets surface.cells, and surface.resolution_m on the way, for a surface with normals and the rows
/// of a camera; Error where it has none. Waits for the device. Returns the statistics that the
/// limits of edges follow from.
SurfaceStatistics triangulate(const Context& context, Surface& surface,
                              const TriangulateOptions& options = {},
                              const StatisticsOptions& statistics = {});

/// The triangles of a mesh, or those between pixels that `triangulate` has found.
Buffer<Vec3i> triangles_of(const Context& context, const Surface& surface);

}  // namespace sextant
