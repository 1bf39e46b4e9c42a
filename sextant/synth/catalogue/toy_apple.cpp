// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue/polygonize.h"
#include "sextant/synth/catalogue/solid_fields.h"
#include "sextant/synth/catalogue/toys.h"

namespace sextant {

using namespace detail::catalogue;

namespace {

constexpr double kMiddleM = 0.037;

double gauss(double x) { return std::exp(-x * x); }

/// Star-shaped about its middle: a ball with a dimple at either end, wider above, five-lobed below.
double fruit(const Vec3d& p) {
  const Vec3d q = p - Vec3d{0, 0, kMiddleM};
  const double distance = norm(q);
  if (distance < 1e-9) return -0.03;
  const double polar = std::acos(clamp(q.z / distance, -1.0, 1.0));
  const double turn = std::atan2(q.y, q.x);
  const double lobes = 0.035 * std::cos(5 * turn) * std::sin(polar) * gauss((M_PI - polar) / 1.1);
  const double radius = 0.0405 * (1 + 0.06 * std::cos(polar) - 0.62 * gauss(polar / 0.42) -
                                  0.24 * gauss((M_PI - polar) / 0.42) + lobes);
  return 0.75 * (distance - radius);  // the dimples are steep
}

double stalk(const Vec3d& p) {
  return std::min(rod(p, {0, 0, 0.045}, {0.002, 0, 0.072}, 0.0032, 0.0028),
                  rod(p, {0.002, 0, 0.072}, {0.009, 0, 0.088}, 0.0028, 0.0042));
}

/// A bowl-shaped leaf: a flat ellipsoid bent downwards at its tip.
double leaf(const Vec3d& p) {
  const double out = p.x + 0.021;
  const Vec3d bent{p.x, p.y, p.z + 12 * out * out - 4 * p.y * p.y};
  return 0.7 * ellipsoid(bent, {-0.019, 0, 0.082}, {0.021, 0.0105, 0.0036});
}

Rgb8 apple_color(const Vec3d& p) {
  if (leaf(p) < 0.0008 && p.z > 0.070) return {74, 140, 58};
  if (stalk(p) < 0.0008 && p.z > 0.058) return {98, 66, 38};
  const double turn = std::atan2(p.y, p.x);
  const double blush =
      0.5 + 0.5 * std::tanh(2.0 * std::cos(turn + 0.8) + 0.5 + 0.15 * std::cos(23 * turn));
  const auto mix = [&](double pale, double red) {
    return static_cast<std::uint8_t>(pale + (red - pale) * blush);
  };
  return {mix(222, 196), mix(186, 34), mix(70, 40)};
}

}  // namespace

TriangleMesh make_apple() {
  const auto field = [](const Vec3d& p) {
    const double body = overlap(fruit(p), 0.0008 - p.z, 0.002);
    return join(join(body, stalk(p), 0.004), leaf(p), 0.002);
  };
  TriangleMesh mesh =
      polygonize(field, {{-0.048, -0.048, -0.002}, {0.048, 0.048, 0.095}, 0.0034}, apple_color);
  rest_on_ground(mesh);
  return mesh;
}

}  // namespace sextant
