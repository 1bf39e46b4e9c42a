// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/polygonize.h"
#include "sextant/synth/catalogue/solid_fields.h"
#include "sextant/synth/catalogue/toys.h"

namespace sextant {

using namespace detail::catalogue;

namespace {

double trunk(const Vec3d& p) {
  const double chest = ellipsoid(p, {0, -0.012, 0.050}, {0.030, 0.034, 0.028});
  const double rump = ellipsoid(p, {0, 0.034, 0.048}, {0.028, 0.032, 0.026});
  const double tail = rod(p, {0, 0.056, 0.050}, {0, 0.100, 0.040}, 0.014, 0.005);
  return join(join(chest, rump, 0.015), tail, 0.010);
}

double legs(const Vec3d& p) {
  const Vec3d m = mirrored_x(p);
  const double fore = rod(m, {0.020, -0.024, 0.040}, {0.023, -0.032, 0.010}, 0.012, 0.009);
  const double hind = rod(m, {0.021, 0.040, 0.040}, {0.024, 0.044, 0.010}, 0.015, 0.009);
  const double fore_paw = ellipsoid(m, {0.023, -0.038, 0.006}, {0.011, 0.015, 0.008});
  const double hind_paw = ellipsoid(m, {0.024, 0.037, 0.006}, {0.011, 0.016, 0.008});
  return std::min(join(fore, fore_paw, 0.008), join(hind, hind_paw, 0.008));
}

/// Large and square, with a short open snout, cheeks and round, cupped ears.
double head(const Vec3d& p) {
  const Vec3d m = mirrored_x(p);
  double solid = ellipsoid(p, {0, -0.052, 0.067}, {0.033, 0.033, 0.029});
  solid = join(solid, ball(m, {0.023, -0.057, 0.058}, 0.0155), 0.010);
  const double upper = rod(p, {0, -0.066, 0.063}, {0, -0.092, 0.061}, 0.019, 0.0130);
  const double lower = rod(p, {0, -0.060, 0.046}, {0, -0.083, 0.041}, 0.013, 0.0075);
  solid = join(solid, join(upper, lower, 0.003), 0.008);
  solid = join(solid, ellipsoid(p, {0, -0.1045, 0.066}, {0.0065, 0.0045, 0.005}), 0.003);
  const double ear = ellipsoid(m, {0.026, -0.043, 0.095}, {0.0145, 0.0065, 0.0145});
  const double cup = ellipsoid(m, {0.027, -0.0505, 0.0965}, {0.0100, 0.0070, 0.0100});
  solid = join(solid, carve(ear, cup, 0.002), 0.006);
  const double eye = ball(m, {0.0150, -0.0800, 0.0790}, 0.0048);
  return join(solid, eye, 0.0015);
}

double devil_field(const Vec3d& p) {
  double solid = join(trunk(p), legs(p), 0.008);
  solid = join(solid, head(p), 0.012);
  return overlap(solid, -p.z, 0.002);
}

Rgb8 devil_color(const Vec3d& p) {
  const Vec3d m = mirrored_x(p);
  if (ball(m, {0.0150, -0.0800, 0.0790}, 0.0048) < 0.0008) return {230, 196, 60};
  if (ellipsoid(p, {0, -0.1045, 0.066}, {0.0065, 0.0045, 0.005}) < 0.0006) {
    return {196, 96, 96};
  }
  const bool in_mouth = p.y < -0.070 && p.z > 0.043 && p.z < 0.053 && m.x < 0.013;
  if (in_mouth) return {178, 60, 66};
  if (ellipsoid(m, {0.027, -0.0505, 0.0965}, {0.0105, 0.0075, 0.0105}) < 0.0008) {
    return {208, 128, 118};
  }
  // The white crescent across the chest, and a spot on the rump.
  if (p.y < -0.022 && p.y > -0.060 && p.z > 0.030 && p.z < 0.042) return {240, 238, 232};
  if (std::hypot(p.y - 0.050, p.z - 0.064) < 0.010 && m.x > 0.008) return {240, 238, 232};
  return {52, 44, 44};
}

}  // namespace

TriangleMesh make_tasmanian_devil() {
  TriangleMesh mesh = polygonize(
      devil_field, {{-0.042, -0.112, -0.001}, {0.042, 0.108, 0.114}, 0.0037}, devil_color);
  rest_on_ground(mesh);
  return mesh;
}

}  // namespace sextant
