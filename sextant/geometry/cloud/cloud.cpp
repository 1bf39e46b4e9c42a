// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/cloud.h"

#include "sextant/core/reduce/anywhere.h"
#include "sextant/geometry/cloud/bounds_math.h"

namespace sextant {

using namespace detail::cloud;

namespace {

/// `part` is a buffer or an attribute.
template <class Part>
void check_part(const Cloud& cloud, const Part& part, const std::string& name,
                std::int64_t components = 1) {
  require(components > 0 && part.size() == cloud.size() * components, name, ": ", part.size(),
          " elements for ", cloud.size(), " points");
  require(part.size() == 0 || part.device() == cloud.device(), name, ": lies on ",
          to_string(part.device()), ", the points on ", to_string(cloud.device()));
}

/// The cloud with each of its buffers replaced by what `transfer` makes of it.
template <class Transfer>
Cloud moved_parts(const Cloud& from, const Transfer& transfer) {
  Cloud to;
  to.points = transfer(from.points);
  to.normals = transfer(from.normals);
  to.colors = transfer(from.colors);
  for (const Attribute& attribute : from.attributes) {
    to.attributes.push_back(transfer(attribute));
  }
  to.width = from.width;
  to.height = from.height;
  to.world_from_sensor = from.world_from_sensor;
  to.origin_m = from.origin_m;
  return to;
}

}  // namespace

void check_cloud(const Cloud& cloud) {
  if (!cloud.normals.empty()) check_part(cloud, cloud.normals, "normals");
  if (!cloud.colors.empty()) check_part(cloud, cloud.colors, "colors");
  for (const Attribute& attribute : cloud.attributes) {
    check_part(cloud, attribute, "attribute " + attribute.name, attribute.components);
  }
  require(is_finite(cloud.origin_m), "cloud: its origin is not finite");
  require(cloud.width >= 0 && cloud.height >= 0, "cloud: size ", cloud.width, " x ", cloud.height,
          " is negative");
  if (cloud.width > 0 || cloud.height > 0) {
    require(std::int64_t{cloud.width} * cloud.height == cloud.size(), "cloud: ", cloud.width, " x ",
            cloud.height, " does not give its ", cloud.size(), " points");
  }
}

Cloud copy(const Context& context, const Cloud& from) {
  return moved_parts(from, [&](const auto& part) { return copy(context, part); });
}

Cloud to_host(const Context& context, const Cloud& from) {
  return moved_parts(from, [&](const auto& part) {
    if constexpr (std::is_same_v<std::decay_t<decltype(part)>, Attribute>) {
      return to_host(context, part);
    } else {
      return to_host_buffer(context, part);
    }
  });
}

Bounds bounds(const Context& context, View<const Vec3f> points) {
  require_on(context, points, "points");
  Workspace workspace;
  const View<Bounds> result = workspace.take<Bounds>(context, 1);
  detail::transform_reduce_anywhere(context, points.size, PointBounds{points.data}, JoinBounds{},
                                    Bounds{}, result, workspace);
  return to_host(context, result)[0];
}

}  // namespace sextant
