// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/polygonize.h"
#include "sextant/synth/catalogue/solid_fields.h"
#include "sextant/synth/catalogue/toys.h"

namespace sextant {

using namespace detail::catalogue;

namespace {

constexpr Vec3d kShellMiddle{0, 0.012, 0.030};
constexpr Vec3d kShellRadii{0.048, 0.060, 0.046};

/// How far a point is from the seams between plates: hexagons in a map of the shell from above.
double from_seam(const Vec3d& p) {
  constexpr double kPlateM = 0.031;
  const double x = (p.x - kShellMiddle.x) / kPlateM;
  const double y = (p.y - kShellMiddle.y) / kPlateM;
  // The two nearest centres of a hexagonal pattern.
  double nearest_sq = INFINITY, second_sq = INFINITY;
  const int middle_column = static_cast<int>(std::lround(x));
  const int middle_row = static_cast<int>(std::lround(y));
  for (int column = middle_column - 1; column <= middle_column + 1; ++column) {
    for (int row = middle_row - 1; row <= middle_row + 1; ++row) {
      const double dx = x - column;
      const double dy = y - row - 0.5 * (column & 1);
      const double distance_sq = dx * dx + dy * dy;
      second_sq = std::min(second_sq, std::max(distance_sq, nearest_sq));
      nearest_sq = std::min(nearest_sq, distance_sq);
    }
  }
  return (std::sqrt(second_sq) - std::sqrt(nearest_sq)) * kPlateM;
}

double shell(const Vec3d& p) {
  double dome = ellipsoid(p, kShellMiddle, kShellRadii);
  if (std::abs(dome) < 0.006) {
    const double seam = from_seam(p) / 0.0045;
    dome += 0.0022 * std::exp(-seam * seam);
  }
  dome = overlap(dome, 0.022 - p.z, 0.006);
  const double rim = ellipsoid(p, {0, 0.012, 0.024}, {0.054, 0.066, 0.0065});
  const double belly = ellipsoid(p, {0, 0.010, 0.022}, {0.044, 0.055, 0.013});
  return join(join(dome, rim, 0.006), belly, 0.006);
}

double skin(const Vec3d& p) {
  const Vec3d m = mirrored_x(p);
  double body = rod(m, {0.030, -0.022, 0.024}, {0.047, -0.040, 0.008}, 0.015, 0.012);
  body = std::min(body, rod(m, {0.028, 0.045, 0.024}, {0.044, 0.062, 0.008}, 0.014, 0.012));
  body = std::min(body, rod(p, {0, 0.066, 0.022}, {0, 0.089, 0.012}, 0.008, 0.003));
  const double neck = rod(p, {0, -0.030, 0.028}, {0, -0.066, 0.044}, 0.014, 0.011);
  const double head = ellipsoid(p, {0, -0.076, 0.049}, {0.0145, 0.019, 0.0135});
  const double eye = ball(m, {0.0105, -0.083, 0.054}, 0.0036);
  // The mouth is a groove around the front of the head.
  const double groove = (p.z - 0.0445) / 0.0020;
  const double mouth = 0.0018 * std::exp(-groove * groove) / (1 + std::exp((p.y + 0.080) / 0.001));
  const double front = join(join(neck, head, 0.008) + mouth, eye, 0.0015);
  return join(body, front, 0.006);
}

Rgb8 tortoise_color(const Vec3d& p) {
  const Vec3d m = mirrored_x(p);
  if (ball(m, {0.0105, -0.083, 0.054}, 0.0036) < 0.0008) return {24, 22, 20};
  if (skin(p) < shell(p)) return {126, 140, 74};
  if (p.z < 0.030) return {176, 146, 84};
  const double seam = from_seam(p);
  if (seam < 0.0045) return {54, 44, 26};
  return seam < 0.014 ? Rgb8{112, 88, 42} : Rgb8{164, 128, 58};
}

}  // namespace

TriangleMesh make_tortoise() {
  const auto field = [](const Vec3d& p) {
    return overlap(join(shell(p), skin(p), 0.010), -p.z, 0.002);
  };
  TriangleMesh mesh =
      polygonize(field, {{-0.062, -0.098, -0.001}, {0.062, 0.094, 0.080}, 0.0041}, tortoise_color);
  rest_on_ground(mesh);
  return mesh;
}

}  // namespace sextant
