// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/for_each/anywhere.h"
#include "sextant/core/scan.h"
#include "sextant/geometry/gather/list.h"
#include "sextant/geometry/gather/math.h"

namespace sextant {

void detail::gather::list_marked(const Context& context, View<const std::int32_t> marks,
                                 View<std::int32_t> indices, View<std::int32_t> count,
                                 Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  const View<std::int32_t> ranks = workspace.take<std::int32_t>(context, marks.size + 1);
  exclusive_scan<std::int32_t>(context, marks, ranks, workspace);
  for_each_anywhere(context, marks.size + 1,
                    ListMarked{marks.data, ranks.data, marks.size, indices.data, count.data});
}

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
  const View<std::int32_t> marks = workspace.take<std::int32_t>(context, points.size);
  detail::for_each_anywhere(context, points.size,
                            detail::gather::MarkFinite{points.data, marks.data});
  Buffer<std::int32_t> indices(context, points.size);
  Buffer<std::int32_t> count(context, 1);
  detail::gather::list_marked(context, marks, indices, count, workspace);
  return copy(context, indices.view().subview(0, to_host(context, count)[0]));
}

}  // namespace sextant
