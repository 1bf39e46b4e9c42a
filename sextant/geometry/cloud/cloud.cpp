// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/cloud.h"

#include "sextant/core/reduce/anywhere.h"
#include "sextant/geometry/cloud/bounds_math.h"

namespace sextant {

using namespace detail::cloud;

namespace {

template <class T>
void check_part(const Cloud& cloud, const Buffer<T>& part, const std::string& name) {
  require(part.size() == cloud.size(), name, ": ", part.size(), " elements for ", cloud.size(),
          " points");
  require(part.empty() || part.device() == cloud.device(), name, ": lies on ",
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
    to.attributes.push_back({attribute.name, transfer(attribute.values)});
  }
  to.width = from.width;
  to.height = from.height;
  to.world_from_sensor = from.world_from_sensor;
  return to;
}

}  // namespace

void check_cloud(const Cloud& cloud) {
  if (!cloud.normals.empty()) check_part(cloud, cloud.normals, "normals");
  if (!cloud.colors.empty()) check_part(cloud, cloud.colors, "colors");
  for (const Attribute& attribute : cloud.attributes) {
    check_part(cloud, attribute.values, "attribute " + attribute.name);
  }
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
  return moved_parts(from, [&](const auto& part) { return to_host_buffer(context, part); });
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
