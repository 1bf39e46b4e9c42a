// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/transform.h"

#include "sextant/core/for_each/anywhere.h"
#include "sextant/geometry/transform/math.h"

namespace sextant {

void transform_points_into(const Context& context, const Rigid3d& to_from_from,
                           View<const Vec3f> from, View<Vec3f> to) {
  require_on(context, from, "from");
  require_room(context, to, from.size, "to");
  detail::for_each_anywhere(context, from.size,
                            detail::transform::MovePoint{to_from_from, from.data, to.data});
}

void turn_directions_into(const Context& context, const Mat3d& rotation, View<const Vec3f> from,
                          View<Vec3f> to) {
  transform_points_into(context, {rotation, {}}, from, to);
}

Buffer<Vec3f> transform_points(const Context& context, const Rigid3d& to_from_from,
                               View<const Vec3f> from) {
  Buffer<Vec3f> to(context, from.size);
  transform_points_into(context, to_from_from, from, to);
  return to;
}

Buffer<Vec3f> turn_directions(const Context& context, const Mat3d& rotation,
                              View<const Vec3f> from) {
  return transform_points(context, {rotation, {}}, from);
}

}  // namespace sextant
