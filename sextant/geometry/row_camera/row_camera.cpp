// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/row_camera.h"

#include <vector>

#include "sextant/core/line_sums.h"
#include "sextant/geometry/row_camera/projection.h"

namespace sextant {

using namespace detail::row_camera;

namespace {

/// Whether two quantities grow together. A single row or column of points says nothing, and counts
/// as doing so.
bool go_together(const LineSums& sums) {
  const double spread_x = sums.spread_x(), spread_y = sums.spread_y();
  if (!(spread_x > 0 && spread_y > 0)) return true;
  return sums.spread_xy() >= 0.99 * std::sqrt(spread_x * spread_y);
}

std::vector<PixelOfPoint> pixels_of(const Cloud& cloud) {
  const auto points = cloud.points.host();
  const auto width = static_cast<std::size_t>(cloud.width);
  std::vector<PixelOfPoint> pixels;
  pixels.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3f& p = points[i];
    if (!is_finite(p) || p == Vec3f{}) continue;
    const std::size_t row = i / width;
    pixels.push_back(
        {static_cast<double>(i - row * width), static_cast<double>(row), cast<double>(p)});
  }
  return pixels;
}

/// Whether nearly all points lie before such a camera, columns going with x/z and rows with y/z.
bool sees(const Rigid3d& points_from_camera, const std::vector<PixelOfPoint>& pixels) {
  const Rigid3d camera_from_points = inverse(points_from_camera);
  LineSums columns, rows;
  for (const PixelOfPoint& pixel : pixels) {
    const Vec3d p = camera_from_points * pixel.point;
    if (!(p.z > 0)) continue;
    columns.add(pixel.u, p.x / p.z);
    rows.add(pixel.v, p.y / p.z);
  }
  if (!(columns.count > 0.99 * static_cast<double>(pixels.size()))) return false;
  return go_together(columns) && go_together(rows);
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
