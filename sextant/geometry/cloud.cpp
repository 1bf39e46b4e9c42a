// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/cloud.h"

#include "sextant/core/build_config.h"
#include "sextant/geometry/bounds_math.h"

namespace sextant {

namespace {

template <class T>
void check_part(const Cloud& cloud, const Buffer<T>& part, const std::string& name) {
  require(part.size() == cloud.size(), name, ": ", part.size(), " elements for ", cloud.size(),
          " points");
  require(part.empty() || part.device() == cloud.device(), name, ": lies on ",
          to_string(part.device()), ", the points on ", to_string(cloud.device()));
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
  Cloud to;
  to.points = copy(context, from.points);
  to.normals = copy(context, from.normals);
  to.colors = copy(context, from.colors);
  for (const Attribute& attribute : from.attributes) {
    to.attributes.push_back({attribute.name, copy(context, attribute.values)});
  }
  to.width = from.width;
  to.height = from.height;
  to.world_from_sensor = from.world_from_sensor;
  return to;
}

Bounds bounds(const Context& context, View<const Vec3f> points) {
  require_on(context, points, "points");
  Buffer<Bounds> result(context, 1);
  if constexpr (kBuiltWithCuda) {
    if (context.is_cuda()) {
      detail::bounds_cuda(context, points, result);
      return to_host(context, result)[0];
    }
  }
  transform_reduce(context, points.size, detail::PointBounds{points.data}, detail::JoinBounds{},
                   Bounds{}, result.view());
  return result.host()[0];
}

}  // namespace sextant
