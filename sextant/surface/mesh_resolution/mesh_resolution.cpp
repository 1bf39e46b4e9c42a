// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/cuda/dispatch.h"
#include "sextant/surface/mesh_resolution/math.h"

namespace sextant {

using namespace detail::mesh_resolution;

float mesh_resolution(const Context& context, View<const Vec3f> vertices,
                      View<const Vec3i> triangles) {
  require_on(context, vertices, "vertices");
  require_on(context, triangles, "triangles");
  Buffer<EdgeLengths> sum(context, 1);
  const TriangleLengths lengths{vertices, triangles};
  detail::on_device(
      context, [&] { sum_edges_cuda(context, lengths, sum); },
      [&] {
        transform_reduce(context, triangles.size, lengths, AddLengths{}, EdgeLengths{}, sum.view());
      });
  const EdgeLengths total = to_host(context, sum)[0];
  return total.edges > 0 ? static_cast<float>(total.length_m / total.edges) : NAN;
}

}  // namespace sextant
