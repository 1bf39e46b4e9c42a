// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sextant/geometry/cloud.h"

namespace sextant {

/// Where the camera stands whose rows an organised cloud on the host has, as `points_from_camera`:
/// the identity for a cloud in camera axes, another pose for one that was turned or moved as a
/// whole, say into the frame of a table. Nothing for a cloud that has no rows, and for rows that no
/// pinhole camera sees, mirrored ones among them.
///
/// Tried in this order, until columns go with x/z and rows with y/z of the points in front of the
/// camera: camera axes as they are, axes with y up and z towards the viewer, the pose that the file
/// names (world_from_sensor), and the pose of the projection that carries points to pixels best.
/// The last one needs points that lie on no exact plane; the noise of a sensor is enough. Points at
/// the origin are holes. Cost: one pass; the projection is found from some 4000 of the points.
std::optional<Rigid3d> find_row_camera(const Cloud& cloud);

}  // namespace sextant
