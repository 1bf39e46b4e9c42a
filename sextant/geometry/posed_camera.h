// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/rigid3.h"
#include "sextant/geometry/camera.h"

namespace sextant {

/// A camera and where it stands. One camera alone may be the world: the identity.
struct PosedCamera {
  Camera camera;
  Rigid3d world_from_camera;
};

}  // namespace sextant
