// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/buffer.h"
#include "sextant/core/vec.h"

namespace sextant {

/// The mean length of the edges of the triangles, a shared edge counted for each: the resolution
/// that distances and bins of a mesh are measured in. NaN without triangles. Waits for the device.
float mesh_resolution(const Context& context, View<const Vec3f> vertices,
                      View<const Vec3i> triangles);

}  // namespace sextant
