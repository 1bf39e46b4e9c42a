// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/reduce/anywhere.h"
#include "sextant/surface/mesh_resolution/math.h"

namespace sextant {

using namespace detail::mesh_resolution;

float mesh_resolution(const Context& context, View<const Vec3f> vertices,
                      View<const Vec3i> triangles) {
  require_on(context, vertices, "vertices");
  require_on(context, triangles, "triangles");
  Workspace workspace;
  const View<EdgeLengths> sum = workspace.take<EdgeLengths>(context, 1);
  detail::transform_reduce_anywhere(context, triangles.size, TriangleLengths{vertices, triangles},
                                    AddLengths{}, EdgeLengths{}, sum, workspace);
  const EdgeLengths total = to_host(context, sum)[0];
  return total.edges > 0 ? static_cast<float>(total.length_m / total.edges) : NAN;
}

}  // namespace sextant
