// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/row_camera.h"

#include <vector>

#include "sextant/geometry/row_camera/projection.h"

namespace sextant {

using namespace detail::row_camera;

namespace {

/// Sums for the correlation of two quantities.
struct Correlation {
  double count = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;

  void add(double x, double y) {
    count += 1;
    a += x;
    b += y;
    aa += x * x;
    bb += y * y;
    ab += x * y;
  }
  /// A single row or column of points says nothing, and counts as going together.
  bool goes_together() const {
    const double spread_a = aa - a * a / count;
    const double spread_b = bb - b * b / count;
    if (!(spread_a > 0 && spread_b > 0)) return true;
    return ab - a * b / count >= 0.99 * std::sqrt(spread_a * spread_b);
  }
};

std::vector<PixelOfPoint> pixels_of(const Cloud& cloud) {
  const auto points = cloud.points.host();
  const auto width = static_cast<std::size_t>(cloud.width);
  std::vector<PixelOfPoint> pixels;
  pixels.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3f& p = points[i];
    if (!is_finite(p) || p == Vec3f{}) continue;
    pixels.push_back(
        {static_cast<double>(i % width), static_cast<double>(i / width), cast<double>(p)});
  }
  return pixels;
}

/// Whether nearly all points lie before such a camera, columns going with x/z and rows with y/z.
bool sees(const Rigid3d& points_from_camera, const std::vector<PixelOfPoint>& pixels) {
  const Rigid3d camera_from_points = inverse(points_from_camera);
  Correlation columns, rows;
  for (const PixelOfPoint& pixel : pixels) {
    const Vec3d p = camera_from_points * pixel.point;
    if (!(p.z > 0)) continue;
    columns.add(pixel.u, p.x / p.z);
    rows.add(pixel.v, p.y / p.z);
  }
  if (!(columns.count > 0.99 * static_cast<double>(pixels.size()))) return false;
  return columns.goes_together() && rows.goes_together();
}

}  // namespace

std::optional<Rigid3d> find_row_camera(const Cloud& cloud) {
  if (!cloud.organised()) return {};
  const std::vector<PixelOfPoint> pixels = pixels_of(cloud);
  const Rigid3d facing_the_viewer{{{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}}, {}};
  if (pixels.size() < 3) return Rigid3d{};
  for (const Rigid3d& pose : {Rigid3d{}, facing_the_viewer, cloud.world_from_sensor}) {
    if (sees(pose, pixels)) return pose;
  }
  const std::optional<Rigid3d> fitted = fit_projection(pixels, cloud.width, cloud.height);
  if (fitted && sees(*fitted, pixels)) return fitted;
  return {};
}

}  // namespace sextant
