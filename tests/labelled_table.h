// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sextant/core/random.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/deproject.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/segment.h"
#include "sextant/synth/analytic_frame.h"
#include "sextant/synth/sensor_noise.h"

namespace sextant::testing {

/// One face of a body: what a segmentation should find as one region.
struct TrueFace {
  SurfaceKind kind = SurfaceKind::kPlane;
  double radius_m = 0;
  std::int64_t pixels = 0;  ///< with a depth
};

/// Boxes, balls and cylinders on a table, with the face that every pixel belongs to.
struct LabelledTable {
  Camera camera;
  AnalyticFrame frame;
  Image<float> depth_m;            ///< as the sensor gives it
  std::vector<std::int32_t> face;  ///< of each pixel, into `faces`; -1 for none
  std::vector<TrueFace> faces;

  Image<Vec3f> points(const Context& context) const {
    return Image<Vec3f>(std::move(deproject(context, copy(context, depth_m), camera).points),
                        depth_m.width(), depth_m.height());
  }
};

enum class TableDepth { kExact, kRaw, kFiltered };

struct LabelledTableOptions {
  TableDepth depth = TableDepth::kExact;
  SensorModel sensor = SensorModel::kKinect;  ///< of depth that is not exact
  double distance_m = 0.9;
  int width = 640;
  int height = 480;
  double focal_px = 525;
};

inline Rigid3d turned(double turn_rad, const Vec3d& at) {
  return {exp_rotation(Vec3d{0, 0, turn_rad}), at};
}

/// Six bodies in two rows, their kinds, sizes and turns drawn from the seed.
inline std::vector<AnalyticShape> bodies_on_table(std::uint64_t seed,
                                                  const Rigid3d& camera_from_world) {
  std::vector<AnalyticShape> shapes{AnalyticShape::plane(camera_from_world)};
  for (int place = 0; place < 6; ++place) {
    const Random random{seed, static_cast<std::uint64_t>(place)};
    const auto between = [&](int draw, double low, double high) {
      return low + (high - low) * double{random.uniform(static_cast<std::uint64_t>(draw))};
    };
    const double x = (place % 3 - 1) * 0.24 + between(0, -0.03, 0.03);
    const double y = (place / 3) * 0.26 - 0.13 + between(1, -0.03, 0.03);
    const double turn = between(2, 0.3, 1.2);
    AnalyticShape shape;
    switch (place < 3 ? place : static_cast<int>(random.below(4, 3))) {
      case 0: {
        const Vec3d sides{between(4, 0.06, 0.12), between(5, 0.06, 0.12), between(6, 0.06, 0.14)};
        shape = AnalyticShape::box(sides, camera_from_world * turned(turn, {x, y, sides.z / 2}));
        break;
      }
      case 1: {
        const double radius = between(4, 0.04, 0.07);
        shape = AnalyticShape::sphere(radius, camera_from_world * turned(0, {x, y, radius}));
        break;
      }
      case 2: {
        const double height = between(5, 0.08, 0.14);
        shape = AnalyticShape::cylinder(between(4, 0.035, 0.06), height,
                                        camera_from_world * turned(0, {x, y, height / 2}));
        break;
      }
      default: {
        const double radius = between(4, 0.035, 0.05);
        const Rigid3d lying{exp_rotation(Vec3d{1.5707963267948966, 0, 0}), {}};
        shape = AnalyticShape::cylinder(radius, between(5, 0.1, 0.16),
                                        camera_from_world * turned(turn, {x, y, radius}) * lying);
      }
    }
    shape.id = place + 1;
    shapes.push_back(shape);
  }
  return shapes;
}

/// Which face of its shape a pixel shows: of boxes the side, of cylinders the end or the mantle.
inline int face_of(const AnalyticShape& shape, const Vec3d& normal_in_shape) {
  const Vec3d& n = normal_in_shape;
  if (shape.kind == ShapeKind::kCylinder) return std::abs(n.z) > 0.99 ? (n.z > 0 ? 1 : 2) : 0;
  if (shape.kind != ShapeKind::kBox) return 0;
  const double sides[6] = {n.x, -n.x, n.y, -n.y, n.z, -n.z};
  return static_cast<int>(std::max_element(sides, sides + 6) - sides);
}

inline TrueFace describe_face(const AnalyticShape& shape, int face) {
  if (shape.kind == ShapeKind::kSphere) return {SurfaceKind::kSphere, shape.size_m.x, 0};
  if (shape.kind == ShapeKind::kCylinder && face == 0) {
    return {SurfaceKind::kCylinder, shape.size_m.x, 0};
  }
  return {SurfaceKind::kPlane, 0, 0};
}

inline LabelledTable labelled_table(std::uint64_t seed, const LabelledTableOptions& options = {}) {
  const Context host = Context::cpu();
  LabelledTable table;
  table.camera = {options.width,
                  options.height,
                  options.focal_px,
                  options.focal_px,
                  (options.width - 1) / 2.0,
                  (options.height - 1) / 2.0,
                  {}};
  const double tilt = 0.75 + 0.25 * double{Random{seed, 99}.uniform(0)};
  const Vec3d forward{0, std::cos(tilt), -std::sin(tilt)};
  const Vec3d down{0, -std::sin(tilt), -std::cos(tilt)};
  const Rigid3d camera_from_world{Mat3d{{{1, 0, 0}, down, forward}}, {0, 0, options.distance_m}};
  const std::vector<AnalyticShape> shapes = bodies_on_table(seed, camera_from_world);
  table.frame = render_analytic(host, table.camera, shapes);
  Image<float> seen = copy(host, table.frame.depth_m);
  if (options.depth != TableDepth::kExact) {
    seen = add_sensor_noise(host, table.frame.depth_m, table.frame.normals, table.camera,
                            sensor_noise(options.sensor), seed);
  }
  if (options.depth == TableDepth::kFiltered) seen = bilateral_filter(host, seen);
  table.depth_m = std::move(seen);
  std::map<std::pair<int, int>, std::int32_t> numbers;
  for (std::size_t i = 0; i < table.depth_m.pixels().host().size(); ++i) {
    table.face.push_back(-1);
    const std::int32_t id = table.frame.ids.pixels().host()[i];
    if (id < 0 || !std::isfinite(table.depth_m.pixels().host()[i])) continue;
    const AnalyticShape& shape = shapes[static_cast<std::size_t>(id)];
    const Vec3d normal = transpose(shape.camera_from_shape.rotation) *
                         cast<double>(table.frame.normals.pixels().host()[i]);
    const int face = face_of(shape, normal);
    const auto [entry, is_new] =
        numbers.try_emplace({id, face}, static_cast<std::int32_t>(table.faces.size()));
    if (is_new) table.faces.push_back(describe_face(shape, face));
    table.face.back() = entry->second;
    ++table.faces[static_cast<std::size_t>(entry->second)].pixels;
  }
  return table;
}

/// How well regions match faces: as in range-image segmentation, a face is found when it and one
/// region share at least `share` of the pixels of each.
struct FaceMatch {
  int faces = 0;                             ///< of at least 400 pixels
  int found = 0;                             ///< matched by a region
  int right_kind = 0;                        ///< of those found; 0 where kinds are not known
  int regions = 0;                           ///< of at least 400 pixels
  std::vector<std::int32_t> region_of_face;  ///< label, or 0
};

inline FaceMatch match_faces(const LabelledTable& table, const std::vector<std::int32_t>& labels,
                             const std::vector<SurfaceRegion>& kinds = {}, double share = 0.8) {
  constexpr std::int64_t kLeastPixels = 400;
  std::map<std::int32_t, std::int64_t> size;
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> common;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] <= 0) continue;
    ++size[labels[i]];
    ++common[{table.face[i], labels[i]}];
  }
  FaceMatch match;
  for (const auto& [label, pixels] : size) match.regions += pixels >= kLeastPixels;
  for (std::size_t f = 0; f < table.faces.size(); ++f) {
    match.region_of_face.push_back(0);
    if (table.faces[f].pixels < kLeastPixels) continue;
    ++match.faces;
    for (const auto& [label, pixels] : size) {
      const auto entry = common.find({static_cast<std::int32_t>(f), label});
      if (entry == common.end()) continue;
      const double both = static_cast<double>(entry->second);
      if (both < share * static_cast<double>(table.faces[f].pixels)) continue;
      if (both < share * static_cast<double>(pixels)) continue;
      ++match.found;
      match.region_of_face.back() = label;
      const auto index = static_cast<std::size_t>(label - 1);
      if (index < kinds.size() && kinds[index].kind == table.faces[f].kind) ++match.right_kind;
    }
  }
  return match;
}

}  // namespace sextant::testing
