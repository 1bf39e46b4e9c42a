// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/geometry/mesh.h"
#include "sextant/geometry/symmetries.h"

namespace sextant::app {

/// A mesh seen aslant from above, 480 × 480 pixels on white, with the axes of its symmetries: red
/// where every turn holds, blue where some do.
Image<Rgb8> axes_picture(const Context& context, const TriangleMesh& mesh,
                         const Symmetries& symmetries);

}  // namespace sextant::app
