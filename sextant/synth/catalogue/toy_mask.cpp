// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/polygonize.h"
#include "sextant/synth/catalogue/solid_fields.h"
#include "sextant/synth/catalogue/toys.h"

namespace sextant {

using namespace detail::catalogue;

namespace {

/// The outer face: an egg, chin towards -y, with brow, nose, cheeks and lips on it.
double face(const Vec3d& p) {
  const double narrowing = 1 - 1.6 * p.y;  // the chin is narrower than the forehead
  const Vec3d egg{p.x * narrowing, p.y, p.z};
  double solid = 0.85 * ellipsoid(egg, {0, 0, -0.004}, {0.066, 0.090, 0.056});
  const Vec3d m = mirrored_x(p);
  const double nose = rod(p, {0, 0.030, 0.050}, {0, -0.016, 0.064}, 0.006, 0.0095);
  const double nostril = ball(m, {0.009, -0.017, 0.056}, 0.0075);
  const double brow = rod(m, {0.010, 0.037, 0.051}, {0.042, 0.041, 0.038}, 0.008, 0.006);
  const double cheek = ball(m, {0.033, -0.014, 0.034}, 0.016);
  solid = join(solid, brow, 0.012);
  solid = join(solid, cheek, 0.014);
  solid = join(solid, join(nose, nostril, 0.006), 0.008);
  // The lips are a swelling around the mouth.
  const double lips = (std::hypot(p.x / 2.1, p.y + 0.050) - 0.0135) / 0.0050;
  return solid - 0.0055 * std::exp(-lips * lips);
}

double openings(const Vec3d& p) {
  const Vec3d m = mirrored_x(p);
  // Almonds that rise outwards, and an open mouth; through the whole thickness.
  const double lift = 0.25 * (m.x - 0.027);
  const double eye =
      0.008 * (std::hypot((m.x - 0.027) / 0.0150, (m.y - 0.018 - lift) / 0.0080) - 1);
  const double mouth = 0.010 * (std::hypot(p.x / 0.0215, (p.y + 0.050) / 0.0085) - 1);
  return std::min(eye, mouth);
}

double mask_field(const Vec3d& p) {
  const double hollow =
      0.85 * ellipsoid({p.x * (1 - 1.6 * p.y), p.y, p.z}, {0, 0, -0.004}, {0.060, 0.084, 0.049});
  double solid = carve(face(p), hollow, 0.002);
  solid = carve(solid, openings(p), 0.003);
  return overlap(solid, -p.z, 0.002);
}

Rgb8 mask_color(const Vec3d& p) {
  const Vec3d m = mirrored_x(p);
  const double lips_at = std::hypot(p.x / 2.1, p.y + 0.050);
  if (p.z > 0.025 && lips_at < 0.019) return {186, 44, 40};
  const double lift = 0.25 * (m.x - 0.027);
  if (std::hypot((m.x - 0.027) / 0.0150, (m.y - 0.018 - lift) / 0.0080) < 1.45) return {40, 58, 96};
  if (p.y > 0.045 && std::abs(m.x - 0.25 * (p.y - 0.045)) < 0.006) return {214, 160, 48};
  if (std::hypot(m.x - 0.040, p.y + 0.020) < 0.011) return {206, 96, 60};
  return {232, 222, 204};
}

}  // namespace

TriangleMesh make_mask() {
  TriangleMesh mesh =
      polygonize(mask_field, {{-0.076, -0.094, -0.001}, {0.076, 0.094, 0.076}, 0.0040}, mask_color);
  rest_on_ground(mesh);
  return mesh;
}

}  // namespace sextant
