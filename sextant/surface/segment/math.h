// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/geometry/neighbour_walk.h"
#include "sextant/surface/cloud_segment.h"
#include "sextant/surface/segment/fit_math.h"
#include "sextant/surface/segment/noise_levels.h"

// Which points are neighbours on one surface: organised points and points in any order. The steps
// of steps.h ask the same questions of both.

namespace sextant::detail::segment {

/// Points that are none, on a crease, smooth, and smooth but not on the plane they were linked to.
enum PointFlag : std::uint8_t { kNoPoint, kOnCrease, kSmooth, kApart };

inline constexpr int kCellPx = 8;  // patches of images are made of such squares

/// Sensors err over long distances too (calibration, temperature), so that points of one plane
/// deviate from it the more the larger it is: the square grows by a half with every octave of
/// cells.
SEXTANT_HD inline double warp_share(double pixels) {
  constexpr double kWarp = 0.5;
  const double cells = pixels / (kCellPx * kCellPx);
  return cells < 2 ? 1.0 : 1.0 + kWarp * std::ilogb(cells);
}

/// Width and height of a pixel at unit depth, as sums before they are means.
struct PixelPitch {
  double x = 0, x_count = 0, y = 0, y_count = 0;
};
SEXTANT_HD inline PixelPitch operator+(const PixelPitch& a, const PixelPitch& b) {
  return {a.x + b.x, a.x_count + b.x_count, a.y + b.y, a.y_count + b.y_count};
}

SEXTANT_HD inline bool is_seen(const Vec3f& p) { return is_finite(p) && p.z > 0.0f; }

/// The difference of the directions of two pixels along x or y, where both are points. Some rows
/// are enough; the index counts the pixels of these.
struct PixelPitchAt {
  static constexpr int kRowsApart = 8;
  const Vec3f* points;
  int width, height;

  SEXTANT_HD std::int64_t pixels() const {
    return std::int64_t{(height + kRowsApart - 1) / kRowsApart} * width;
  }
  SEXTANT_HD PixelPitch operator()(std::int64_t index) const {
    const int row = static_cast<int>(index) / width;
    const int u = static_cast<int>(index) - row * width;
    const int v = row * kRowsApart;
    const int i = v * width + u;
    PixelPitch pitch;
    const Vec3f p = points[i];
    if (!is_seen(p)) return pitch;
    if (u + 1 < width && is_seen(points[i + 1])) {
      const Vec3f q = points[i + 1];
      pitch.x = std::abs(double{q.x} / double{q.z} - double{p.x} / double{p.z});
      pitch.x_count = 1;
    }
    if (v + 1 < height && is_seen(points[i + width])) {
      const Vec3f q = points[i + width];
      pitch.y = std::abs(double{q.y} / double{q.z} - double{p.y} / double{p.z});
      pitch.y_count = 1;
    }
    return pitch;
  }
};

/// What the sums come to; pixels of a single row or column are taken to be square. Without
/// neighbours, and where all points are the same, the size is NaN, so that nothing is linked.
struct PixelSize {
  float x, y;
};
struct FinishPitch {
  const PixelPitch* pitch;
  PixelSize* size;
  SEXTANT_HD void operator()(std::int64_t) const {
    const double x = (pitch->x_count > 0 ? pitch->x / pitch->x_count : pitch->y / pitch->y_count);
    const double y = (pitch->y_count > 0 ? pitch->y / pitch->y_count : x);
    const bool is_size = x > 0 && y > 0;
    *size = {is_size ? static_cast<float>(x) : NAN, is_size ? static_cast<float>(y) : NAN};
  }
};

/// Pixels of an image: points and normals row by row without gaps.
struct PixelSurface {
  const Vec3f* points;
  const Vec3f* normals;
  int width, height;
  SegmentOptions options;
  const PixelSize* pixel;     ///< at unit depth
  const NoiseLevels* noise;   ///< of the frame
  const std::int32_t* patch;  ///< of every pixel, or -1

  static constexpr bool kHasPatches = true;
  /// Steeper surfaces are not compared, because the two sides of a pixel are different things
  /// there.
  static constexpr float kMostStretch_sq = 100.0f;

  SEXTANT_HD std::int64_t size() const { return std::int64_t{width} * height; }
  SEXTANT_HD float pixel_m(float z_m) const { return z_m * 0.5f * (pixel->x + pixel->y); }
  SEXTANT_HD float noise_m(float z_m) const { return noise->at(z_m) * z_m * z_m; }
  SEXTANT_HD std::int32_t patch_of(std::int64_t i) const { return patch[i]; }
  SEXTANT_HD float step_m(float z_m) const {
    return options.step_px * pixel_m(z_m) + 4.0f * noise_m(z_m);
  }
  SEXTANT_HD double tolerance_m(double z_m) const {
    const float z = static_cast<float>(std::abs(z_m));
    return 0.25f * pixel_m(z) + noise_m(z);
  }
  SEXTANT_HD double most_deviation_m(double z_m, double pixels) const {
    return kMostDeviation * tolerance_m(z_m) * std::sqrt(warp_share(pixels));
  }
  /// What no model can leave less than. A depth at which only bent things are seen seems noisy.
  SEXTANT_HD double least_deviation_m(double z_m) const {
    return double{noise->least_inverse_m} * z_m * z_m;
  }

  /// The angle between normals on either side that a facing surface may have: the crease, or the
  /// noise of two normals. A 7 × 7 window's normal errs by σ over √(Σ u²) = 14 pixels.
  SEXTANT_HD float crease_limit(float z_m) const {
    const float of_noise = 3.5f * 1.4142135f / 14.0f * noise_m(z_m) / pixel_m(z_m);
    return max_of(options.crease_angle_rad, of_noise);
  }

  /// Whether the surface bends too sharply at p between the pixels a and b, which lie `reaches`
  /// times reach_px steps (du, dv) apart. |n - m| stands for the angle, which it equals within 1 %
  /// up to 0.5 rad.
  SEXTANT_HD bool bends(float z_m, int a, int b, float reaches, int du, int dv, float limit) const {
    const float width_m = static_cast<float>(du) * pixel->x * z_m;
    const float height_m = static_cast<float>(dv) * pixel->y * z_m;
    const float pixels = reaches * static_cast<float>(options.reach_px);
    const float across_sq = pixels * pixels * (width_m * width_m + height_m * height_m);
    const float along_sq = norm_sq(points[b] - points[a]);
    if (!(along_sq <= kMostStretch_sq * across_sq)) return false;
    // The limit is a curvature: a longer way may turn more.
    const float share = 0.5f * reaches * limit;
    const float longer_sq = static_cast<float>(du * du + dv * dv);
    return norm_sq(normals[b] - normals[a]) * across_sq >
           share * share * longer_sq * max_of(across_sq, along_sq);
  }

  SEXTANT_HD bool is_valid(std::int64_t i) const {
    return is_seen(points[i]) && (patch[i] >= 0 || is_finite(normals[i]));
  }

  SEXTANT_HD bool on_crease(int i) const {
    const int v = i / width;
    const int u = i - v * width;
    const float z_m = points[i].z;
    const float limit = crease_limit(z_m);
    const int k = options.reach_px;
    // Beyond a step in depth there is another surface, whose normal says nothing of this one. A
    // crease of a right angle still lies within.
    const float nearby_m = 2.0f * static_cast<float>(k) * pixel_m(z_m) + 4.0f * noise_m(z_m);
    const auto is_near = [&](int other_u, int other_v) {
      if (other_u < 0 || other_v < 0 || other_u >= width || other_v >= height) return false;
      const int j = other_v * width + other_u;
      return is_valid(j) && std::abs(dot(normals[i], points[j] - points[i])) <= nearby_m;
    };
    const int directions[4][2] = {{1, 0}, {0, 1}, {1, 1}, {1, -1}};
    for (int d = 0; d < 4; ++d) {
      const int du = directions[d][0];
      const int dv = directions[d][1];
      const bool has_a = is_near(u - k * du, v - k * dv);
      const bool has_b = is_near(u + k * du, v + k * dv);
      if (!has_a && !has_b) continue;
      // At the rim of the image, of holes and of the surface one side must do.
      const int offset = k * (dv * width + du);
      const int a = has_a ? i - offset : i;
      const int b = has_b ? i + offset : i;
      if (bends(z_m, a, b, has_a && has_b ? 2.0f : 1.0f, du, dv, limit)) return true;
    }
    return false;
  }

  SEXTANT_HD bool is_smooth(std::int64_t i, const std::int32_t*, float*) const {
    return !on_crease(static_cast<int>(i));
  }

  /// A pixel's share of the surface: the solid angle of the pixel over the cosine of the slant,
  /// which is taken to be at most 87°. Without a normal the pixel is taken to face the camera.
  SEXTANT_HD float point_area_m2(std::int64_t i, const float*) const {
    const Vec3f p = points[i];
    if (!is_slant_known(p, normals[i])) {
      const float cosine = is_finite(normals[i]) ? kLeastCosine : 1.0f;
      return area_m2(p, cosine * std::sqrt(norm_sq(p)), pixel->x, pixel->y);
    }
    return area_m2(p, std::abs(dot(normals[i], p)), pixel->x, pixel->y);
  }
  static constexpr float kLeastCosine = 0.05f;
  SEXTANT_HD static bool is_slant_known(const Vec3f& p, const Vec3f& n) {
    const float along = std::abs(dot(n, p));
    return along * along >= kLeastCosine * kLeastCosine * norm_sq(p);
  }
  /// The area of a pixel of this size whose normal has the product `along` with the point.
  SEXTANT_HD static float area_m2(const Vec3f& p, float along, float pixel_x, float pixel_y) {
    return p.z * p.z * p.z / along * pixel_x * pixel_y;
  }

  SEXTANT_HD bool linked(int i, int j) const {
    const Vec3f d = points[j] - points[i];
    const float limit = step_m(min_of(points[i].z, points[j].z));
    const float across = pixel_m(max_of(points[i].z, points[j].z));
    return std::abs(dot(normals[i], d)) <= limit && std::abs(dot(normals[j], d)) <= limit &&
           norm_sq(d) <= kMostStretch_sq * across * across;
  }
  /// How far from the tangent plane of a region's point a pixel may lie to be attached.
  SEXTANT_HD float attach_m(int i) const { return 1.5f * step_m(points[i].z); }

  /// Whether the surface goes on without a step or a crease along most of the border between a
  /// cell and the next one in its row, or `below` it.
  SEXTANT_HD bool is_smooth_border(std::int64_t cell, bool below, int columns) const {
    const int row = static_cast<int>(cell / columns);
    const int column = static_cast<int>(cell - std::int64_t{row} * columns);
    int pairs = 0, smooth = 0;
    for (int k = 0; k < kCellPx; ++k) {
      const int u = column * kCellPx + (below ? k : kCellPx - 1);
      const int v = row * kCellPx + (below ? kCellPx - 1 : k);
      const int next = below ? width : 1;
      if (u >= width || v >= height) continue;
      const int i = v * width + u;
      // Half the reach on this side of the border, half on the other.
      const int back = min_of(options.reach_px, kCellPx) - 1;
      const int a = i - back * next, b = i + (back + 1) * next;
      if (!is_seen(points[i]) || !is_seen(points[i + next])) continue;
      ++pairs;
      const bool known = (below ? v + back + 1 < height : u + back + 1 < width) &&
                         is_valid_normal(a) && is_valid_normal(b) && is_valid_normal(i) &&
                         is_valid_normal(i + next);
      if (!known || !linked(i, i + next)) continue;
      const float z_m = points[i].z;
      if (!bends(z_m, a, b, 2.0f, below ? 0 : 1, below ? 1 : 0, crease_limit(z_m))) ++smooth;
    }
    return pairs >= 3 && 10 * smooth >= 7 * pairs;
  }
  SEXTANT_HD bool is_valid_normal(int i) const {
    return is_seen(points[i]) && is_finite(normals[i]);
  }

  /// Whether a pixel of no patch lies beside one, in the row or the column, on its surface.
  SEXTANT_HD bool is_rim(int i) const {
    constexpr int kReach = 6;
    const int v = i / width;
    const int u = i - v * width;
    for (int step = 1; step <= kReach; ++step) {
      const auto is_beside = [&](bool inside, int j) {
        return inside && patch[j] >= 0 &&
               std::abs(dot(normals[j], points[i] - points[j])) <= attach_m(i);
      };
      if (is_beside(u >= step, i - step) || is_beside(u + step < width, i + step) ||
          is_beside(v >= step, i - step * width) ||
          is_beside(v + step < height, i + step * width)) {
        return true;
      }
    }
    return false;
  }

  template <class Function>
  SEXTANT_HD void each_neighbour(std::int64_t index, Function&& f) const {
    const int i = static_cast<int>(index);
    const int v = i / width;
    const int u = i - v * width;
    if (v > 0) f(i - width);
    if (u > 0) f(i - 1);
    if (u + 1 < width) f(i + 1);
    if (v + 1 < height) f(i + width);
  }
  /// Calls f once for every pair of neighbours, at the one with the lower index.
  template <class Function>
  SEXTANT_HD void each_pair(std::int64_t index, Function&& f) const {
    const int i = static_cast<int>(index);
    const int v = i / width;
    if (i - v * width + 1 < width) f(i + 1);
    if (v + 1 < height) f(i + width);
  }
  /// The pixels of the same patch beyond one missing pixel, to the right and below: some sensors
  /// leave lines out.
  template <class Function>
  SEXTANT_HD void each_beyond_a_gap(int i, Function&& f) const {
    const std::int32_t own = patch[i];
    const int pixels = width * height;
    const auto goes_on = [&](int gap, int j) {
      return j < pixels && patch[gap] < 0 && patch[j] == own && !is_seen(points[gap]);
    };
    if (goes_on(i + 1, i + 2) && i % width + 2 < width) f(i + 2);
    if (goes_on(i + width, i + 2 * width)) f(i + 2 * width);
  }
};

/// Points in any order. Signs of normals do not matter.
struct CloudSurface {
  NeighbourGridView grid;
  const Vec3f* points;
  const Vec3f* normals;
  const float* stick;  ///< null without saliencies
  const float* plate;
  const float* ball;
  CloudSegmentOptions options;
  float cos_link;

  static constexpr bool kHasPatches = false;

  SEXTANT_HD std::int64_t size() const { return grid.size; }
  SEXTANT_HD std::int32_t patch_of(std::int64_t) const { return -1; }
  SEXTANT_HD float point_area_m2(std::int64_t i, const float* area_m2) const { return area_m2[i]; }
  SEXTANT_HD double most_deviation_m(double z_m, double) const {
    return kMostDeviation * tolerance_m(z_m);
  }
  SEXTANT_HD double least_deviation_m(double) const { return 0.0; }
  SEXTANT_HD double tolerance_m(double) const {
    return double{options.fit_tolerance} * double{options.radius_m};
  }
  SEXTANT_HD bool is_valid(std::int64_t i) const {
    return is_finite(points[i]) && is_finite(normals[i]);
  }
  /// Whether a point lies on no crease; finds its area on the way. `valid` is negative for points
  /// without place or normal.
  SEXTANT_HD bool is_smooth(std::int64_t i, const std::int32_t* valid, float* area_m2) const {
    double sum = 0.0;  // of many digits, so that the order of the neighbours does not matter
    float count = 0.0f, copies = 0.0f;
    for_each_neighbour(grid, points[i], options.radius_m, [&](const GridPoint& q, float away_sq) {
      if (valid[q.index] < 0) return;
      // |n - m|² for the sign of m that is nearer.
      sum += double{max_of(0.0f, 2.0f - 2.0f * std::abs(dot(normals[i], normals[q.index])))};
      count += 1.0f;
      copies += away_sq == 0.0f ? 1.0f : 0.0f;
    });
    area_m2[i] = 3.1415927f * options.radius_m * options.radius_m / max_of(count, 1.0f);
    if (stick != nullptr) return stick[i] > plate[i] && stick[i] > ball[i];
    const float limit = options.normal_spread_rad;
    return sum <= double{limit * limit * (count - copies)};
  }
  SEXTANT_HD bool linked(int i, int j) const {
    const Vec3f d = points[j] - points[i];
    const float limit = options.link_offset * options.radius_m;
    return std::abs(dot(normals[i], normals[j])) >= cos_link &&
           std::abs(dot(normals[i], d)) <= limit && std::abs(dot(normals[j], d)) <= limit;
  }
  SEXTANT_HD float attach_m(int) const { return options.link_offset * options.radius_m; }

  template <class Function>
  SEXTANT_HD void each_neighbour(std::int64_t i, Function&& f) const {
    if (!is_finite(points[i])) return;
    for_each_neighbour(grid, points[i], options.radius_m, [&](const GridPoint& q, float) {
      if (q.index != i) f(q.index);
    });
  }
  template <class Function>
  SEXTANT_HD void each_pair(std::int64_t i, Function&& f) const {
    each_neighbour(i, [&](std::int32_t j) {
      if (j > i) f(j);
    });
  }
};

}  // namespace sextant::detail::segment
