// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/analytic_shape.h"

#include "sextant/core/error.h"
#include "sextant/synth/analytic_shape/polynomial_roots.h"

namespace sextant {

using namespace detail::analytic_shape;

namespace {

/// A ray in the shape's frame: the point at depth s is from + s · along.
struct Ray {
  Vec3d from;
  Vec3d along;
  Vec3d at(double s) const { return from + along * s; }
};

/// A crossing with the outward normal and the curvatures against it, in the shape's frame.
struct Crossing {
  double depth_m = INFINITY;
  Vec3d normal;
  double k1_per_m = 0;
  double k2_per_m = 0;
};

bool nearer(double depth_m, const Crossing& than) { return depth_m > 0 && depth_m < than.depth_m; }

/// The two depths at which |from + s along| = radius, or false. With z = 0 in both it is a circle.
bool cross_round(const Vec3d& from, const Vec3d& along, double radius, double depths[2]) {
  const double a = norm_sq(along);
  if (!(a > 0)) return false;
  const double b = dot(from, along);
  // The square of the distance at which the ray passes, so that near misses do not cancel.
  const double discriminant = a * (radius * radius - norm_sq(from - along * (b / a)));
  if (!(discriminant >= 0)) return false;
  const double t = b > 0 ? -b - std::sqrt(discriminant) : -b + std::sqrt(discriminant);
  const double c = norm_sq(from) - radius * radius;
  const double first = t / a;
  const double second = t != 0 ? c / t : first;
  depths[0] = min_of(first, second);
  depths[1] = max_of(first, second);
  return true;
}

Crossing cross_plane(const Ray& ray) {
  Crossing best;
  const double s = -ray.from.z / ray.along.z;
  if (nearer(s, best)) best = {s, {0, 0, 1}, 0, 0};
  return best;
}

Crossing cross_sphere(const Ray& ray, double radius) {
  Crossing best;
  double depths[2];
  if (!cross_round(ray.from, ray.along, radius, depths)) return best;
  for (const double s : depths) {
    if (nearer(s, best)) best = {s, normalized(ray.at(s)), 1 / radius, 1 / radius};
  }
  return best;
}

Crossing cross_cylinder(const Ray& ray, double radius, double height) {
  Crossing best;
  double depths[2];
  const Vec3d flat_from{ray.from.x, ray.from.y, 0};
  const Vec3d flat_along{ray.along.x, ray.along.y, 0};
  if (cross_round(flat_from, flat_along, radius, depths)) {
    for (const double s : depths) {
      const Vec3d p = ray.at(s);
      if (std::abs(p.z) <= height / 2 && nearer(s, best)) {
        best = {s, normalized(Vec3d{p.x, p.y, 0}), 1 / radius, 0};
      }
    }
  }
  for (const double side : {-1.0, 1.0}) {
    const double s = (side * height / 2 - ray.from.z) / ray.along.z;
    const Vec3d p = ray.at(s);
    if (p.x * p.x + p.y * p.y <= radius * radius && nearer(s, best)) {
      best = {s, {0, 0, side}, 0, 0};
    }
  }
  return best;
}

/// (|p|² + R² - r²)² = 4 R² (x² + y²) along the ray, in units of the torus' size and counted from
/// the point nearest to its centre: the roots lie within [-1, 1].
Crossing cross_torus(const Ray& ray, double ring, double tube) {
  Crossing best;
  const double size = ring + tube;
  const double speed = norm(ray.along);
  const double middle = -dot(ray.from, ray.along) / (speed * speed);
  const Vec3d o = ray.at(middle) / size;
  const Vec3d d = ray.along / speed;
  const double reach_sq = 1 - norm_sq(o);
  if (!(reach_sq > 0)) return best;
  const double ring_sq = (ring / size) * (ring / size);
  const double tube_sq = (tube / size) * (tube / size);
  const double k = norm_sq(o) + ring_sq - tube_sq;
  const double c[] = {k * k - 4 * ring_sq * (o.x * o.x + o.y * o.y),
                      -8 * ring_sq * (o.x * d.x + o.y * d.y),
                      2 * k - 4 * ring_sq * (d.x * d.x + d.y * d.y), 0, 1};
  double roots[4];
  const double reach = std::sqrt(reach_sq);
  const int count = polynomial_roots(c, 4, -reach, reach, roots);
  for (int i = 0; i < count; ++i) {
    const double s = middle + roots[i] * size / speed;
    if (!nearer(s, best)) continue;
    const Vec3d p = (o + d * roots[i]) * size;
    const double from_axis = std::hypot(p.x, p.y);
    const double radial = from_axis - ring;
    const Vec3d normal = normalized(Vec3d{p.x / from_axis * radial, p.y / from_axis * radial, p.z});
    best = {s, normal, 1 / tube, radial / tube / from_axis};
  }
  return best;
}

Crossing cross_box(const Ray& ray, const Vec3d& sides) {
  const double from[] = {ray.from.x, ray.from.y, ray.from.z};
  const double along[] = {ray.along.x, ray.along.y, ray.along.z};
  const double half[] = {sides.x / 2, sides.y / 2, sides.z / 2};
  double enter = -INFINITY, leave = INFINITY;
  int enter_axis = 0, leave_axis = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (along[axis] == 0) {
      if (std::abs(from[axis]) > half[axis]) return {};
      continue;
    }
    const double a = (-half[axis] - from[axis]) / along[axis];
    const double b = (half[axis] - from[axis]) / along[axis];
    if (min_of(a, b) > enter) {
      enter = min_of(a, b);
      enter_axis = axis;
    }
    if (max_of(a, b) < leave) {
      leave = max_of(a, b);
      leave_axis = axis;
    }
  }
  if (!(enter <= leave) || !(leave > 0)) return {};
  const bool outside = enter > 0;
  const int axis = outside ? enter_axis : leave_axis;
  const double side = (along[axis] > 0) == outside ? -1.0 : 1.0;
  return {outside ? enter : leave,
          {axis == 0 ? side : 0, axis == 1 ? side : 0, axis == 2 ? side : 0},
          0,
          0};
}

Crossing cross(const AnalyticShape& shape, const Ray& ray) {
  switch (shape.kind) {
    case ShapeKind::kPlane:
      return cross_plane(ray);
    case ShapeKind::kSphere:
      return cross_sphere(ray, shape.size_m.x);
    case ShapeKind::kCylinder:
      return cross_cylinder(ray, shape.size_m.x, shape.size_m.z);
    case ShapeKind::kTorus:
      return cross_torus(ray, shape.size_m.x, shape.size_m.y);
    case ShapeKind::kBox:
      return cross_box(ray, shape.size_m);
  }
  return {};
}

}  // namespace

AnalyticShape AnalyticShape::plane(const Rigid3d& camera_from_shape) {
  return {ShapeKind::kPlane, {}, camera_from_shape, 0};
}
AnalyticShape AnalyticShape::sphere(double radius_m, const Rigid3d& camera_from_shape) {
  return {ShapeKind::kSphere, {radius_m, 0, 0}, camera_from_shape, 0};
}
AnalyticShape AnalyticShape::cylinder(double radius_m, double height_m,
                                      const Rigid3d& camera_from_shape) {
  return {ShapeKind::kCylinder, {radius_m, 0, height_m}, camera_from_shape, 0};
}
AnalyticShape AnalyticShape::torus(double ring_radius_m, double tube_radius_m,
                                   const Rigid3d& camera_from_shape) {
  return {ShapeKind::kTorus, {ring_radius_m, tube_radius_m, 0}, camera_from_shape, 0};
}
AnalyticShape AnalyticShape::box(const Vec3d& sides_m, const Rigid3d& camera_from_shape) {
  return {ShapeKind::kBox, sides_m, camera_from_shape, 0};
}

void check_shape(const AnalyticShape& shape) {
  const auto positive = [](double value, const char* name, double most) {
    require(value > 0 && value <= most, name, ": ", value, " m is not a positive length");
  };
  constexpr double kMost = 1e9;
  const Vec3d& size = shape.size_m;
  require(name_of(shape.kind, kShapeKinds) != "?", "kind: ", static_cast<int>(shape.kind),
          " is no ShapeKind");
  if (shape.kind == ShapeKind::kSphere) positive(size.x, "radius_m", kMost);
  if (shape.kind == ShapeKind::kCylinder) {
    positive(size.x, "radius_m", kMost);
    positive(size.z, "height_m", INFINITY);
  }
  if (shape.kind == ShapeKind::kTorus) {
    positive(size.x, "ring_radius_m", kMost);
    positive(size.y, "tube_radius_m", kMost);
    require(size.y < size.x, "tube_radius_m: ", size.y, " is not below ring_radius_m = ", size.x);
  }
  if (shape.kind == ShapeKind::kBox) {
    for (const double side : {size.x, size.y, size.z}) positive(side, "sides_m", kMost);
  }
}

ShapeHit intersect(const AnalyticShape& shape, const Vec3d& ray) {
  const Mat3d shape_from_camera = transpose(shape.camera_from_shape.rotation);
  const Ray local{-(shape_from_camera * shape.camera_from_shape.translation),
                  shape_from_camera * ray};
  if (!is_finite(local.along) || !(norm_sq(local.along) > 0)) return {};
  const Crossing crossing = cross(shape, local);
  if (!std::isfinite(crossing.depth_m)) return {};
  const Vec3d normal = shape.camera_from_shape.rotation * crossing.normal;
  if (dot(crossing.normal, local.along) <= 0) {
    return {crossing.depth_m, normal, crossing.k1_per_m, crossing.k2_per_m};
  }
  // Seen from the other side everything bends the other way.
  return {crossing.depth_m, -normal, -crossing.k2_per_m, -crossing.k1_per_m};
}

}  // namespace sextant
