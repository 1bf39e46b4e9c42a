// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sextant/synth/catalogue/polygonize.h"
#include "sextant/synth/catalogue/solid_fields.h"
#include "sextant/synth/catalogue/toys.h"

namespace sextant {

using namespace detail::catalogue;

namespace {

/// A convex solid out of flat faces, each with vertices and a colour of its own so that its edges
/// stay sharp.
class FacetedSolid {
 public:
  /// Corners counter-clockwise from outside.
  void add_face(const std::vector<Vec3f>& corners, const Rgb8& color) {
    const auto first = static_cast<std::int32_t>(points_.size());
    const Vec3f normal = normalized(cross(corners[1] - corners[0], corners[2] - corners[0]));
    for (const Vec3f& corner : corners) {
      points_.push_back(corner);
      normals_.push_back(normal);
      colors_.push_back(color);
    }
    for (std::int32_t i = 2; i < static_cast<std::int32_t>(corners.size()); ++i) {
      triangles_.push_back({first, first + i - 1, first + i});
    }
  }

  TriangleMesh mesh() const {
    const Context host = Context::cpu(1);
    TriangleMesh mesh;
    mesh.vertices.points = copy(host, points_);
    mesh.vertices.normals = copy(host, normals_);
    mesh.vertices.colors = copy(host, colors_);
    mesh.triangles = copy(host, triangles_);
    return mesh;
  }

 private:
  std::vector<Vec3f> points_, normals_;
  std::vector<Rgb8> colors_;
  std::vector<Vec3i> triangles_;
};

/// Where a cabinet has its drivers, seen from the front.
struct Driver {
  double height_m, radius_m, depth_m, cap_m;
};
constexpr Driver kWoofer{0.055, 0.036, 0.016, 0.013};
constexpr Driver kTweeter{0.124, 0.019, 0.006, 0.010};
constexpr double kFrontM = -0.045;

/// A shallow funnel with a dome in its middle.
double with_driver(double cabinet, const Vec3d& p, const Driver& driver) {
  const double from_axis = std::hypot(p.x, p.z - driver.height_m);
  const double slant = driver.depth_m * (1 - from_axis / driver.radius_m);
  // Behind the front by less than the funnel is deep there, or before the front.
  const double funnel = (p.y - kFrontM - slant) / std::hypot(1, driver.depth_m / driver.radius_m);
  const double hollow = overlap(funnel, from_axis - driver.radius_m, 0.002);
  const double carved = carve(cabinet, hollow, 0.002);
  const Vec3d cap{0, kFrontM + driver.depth_m + 0.002, driver.height_m};
  return join(carved, ball(p, cap, driver.cap_m), 0.003);
}

double speaker_field(const Vec3d& p) {
  double solid = rounded_box(p, {0, 0, 0.08}, {0.05, 0.045, 0.08}, 0.005);
  solid = with_driver(solid, p, kWoofer);
  solid = with_driver(solid, p, kTweeter);
  // The rings that hold the drivers stand out a little.
  for (const Driver& driver : {kWoofer, kTweeter}) {
    const double around = std::hypot(p.x, p.z - driver.height_m) - driver.radius_m - 0.001;
    solid = join(solid, std::hypot(around, p.y - kFrontM) - 0.0028, 0.002);
  }
  const double port =
      rod(p, {0.030, kFrontM - 0.01, 0.098}, {0.030, kFrontM + 0.014, 0.098}, 0.0075, 0.0075);
  return carve(solid, port, 0.002);
}

Rgb8 speaker_color(const Vec3d& p) {
  for (const Driver& driver : {kWoofer, kTweeter}) {
    const double from_axis = std::hypot(p.x, p.z - driver.height_m);
    if (p.y > -0.025 || from_axis > driver.radius_m + 0.004) continue;
    if (from_axis > driver.radius_m - 0.002) return {60, 62, 66};
    return from_axis < driver.cap_m ? Rgb8{196, 198, 202} : Rgb8{38, 40, 44};
  }
  if (p.y < -0.035 && std::hypot(p.x - 0.030, p.z - 0.098) < 0.008) return {30, 30, 32};
  return {132, 84, 50};
}

}  // namespace

namespace detail::catalogue {

void rest_on_ground(TriangleMesh& mesh) {
  float lowest = INFINITY;
  for (const Vec3f& p : mesh.vertices.points.host()) lowest = std::min(lowest, p.z);
  for (Vec3f& p : mesh.vertices.points.host()) p.z -= lowest;
}

}  // namespace detail::catalogue

TriangleMesh make_cube() {
  constexpr float h = 0.04f, top = 0.08f;
  FacetedSolid solid;
  solid.add_face({{-h, -h, 0}, {h, -h, 0}, {h, -h, top}, {-h, -h, top}}, {206, 58, 52});
  solid.add_face({{h, -h, 0}, {h, h, 0}, {h, h, top}, {h, -h, top}}, {240, 180, 48});
  solid.add_face({{h, h, 0}, {-h, h, 0}, {-h, h, top}, {h, h, top}}, {52, 118, 182});
  solid.add_face({{-h, h, 0}, {-h, -h, 0}, {-h, -h, top}, {-h, h, top}}, {86, 156, 92});
  solid.add_face({{-h, -h, top}, {h, -h, top}, {h, h, top}, {-h, h, top}}, {238, 236, 226});
  solid.add_face({{-h, h, 0}, {h, h, 0}, {h, -h, 0}, {-h, -h, 0}}, {120, 92, 150});
  return solid.mesh();
}

TriangleMesh make_pyramid() {
  constexpr float h = 0.055f;
  const Vec3f tip{0, 0, 0.09f};
  const Vec3f base[] = {{-h, -h, 0}, {h, -h, 0}, {h, h, 0}, {-h, h, 0}};
  constexpr Rgb8 kColors[] = {{226, 188, 96}, {206, 160, 74}, {186, 140, 62}, {214, 174, 88}};
  FacetedSolid solid;
  for (int i = 0; i < 4; ++i) solid.add_face({base[i], base[(i + 1) % 4], tip}, kColors[i]);
  solid.add_face({base[3], base[2], base[1], base[0]}, {150, 112, 56});
  return solid.mesh();
}

TriangleMesh make_speaker() {
  TriangleMesh mesh = polygonize(
      speaker_field, {{-0.052, -0.050, -0.002}, {0.052, 0.047, 0.162}, 0.0046}, speaker_color);
  rest_on_ground(mesh);
  return mesh;
}

}  // namespace sextant
