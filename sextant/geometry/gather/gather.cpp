// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/geometry/gather/math.h"

namespace sextant {

template <class T>
void gather_into(const Context& context, View<const T> from, View<const std::int32_t> indices,
                 View<T> to) {
  require_on(context, from, "from");
  require_on(context, indices, "indices");
  require_room(context, to, indices.size, "to");
  detail::for_each_anywhere(context, indices.size,
                            detail::gather::GatherElement<T>{from, indices.data, to.data});
}

template void gather_into(const Context&, View<const Vec3f>, View<const std::int32_t>, View<Vec3f>);
template void gather_into(const Context&, View<const std::int32_t>, View<const std::int32_t>,
                          View<std::int32_t>);
template void gather_into(const Context&, View<const Rgb8>, View<const std::int32_t>, View<Rgb8>);

Buffer<std::int32_t> finite_points(const Context& context, View<const Vec3f> points) {
  require_on(context, points, "points");
  require(points.size <= INT32_MAX, "points: ", points.size, " are too many");
  Workspace workspace;
  const View<std::int32_t> flags = workspace.take<std::int32_t>(context, points.size);
  detail::for_each_anywhere(context, points.size,
                            detail::gather::FlagFinite{points.data, flags.data});
  const View<std::int32_t> sums = workspace.take<std::int32_t>(context, points.size + 1);
  exclusive_scan<std::int32_t>(context, flags, sums, workspace);
  const std::int32_t count = to_host(context, sums.subview(points.size, 1))[0];
  Buffer<std::int32_t> indices(context, count);
  detail::for_each_anywhere(context, points.size,
                            detail::gather::PlaceFinite{points.data, sums.data, indices.data()});
  return indices;
}

}  // namespace sextant
