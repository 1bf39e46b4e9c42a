// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/row_camera/projection.h"

#include <algorithm>

#include "sextant/core/cholesky.h"

namespace sextant::detail::row_camera {

namespace {

constexpr int kEntries = 12;  // of P, row by row
using Entries = double[kEntries];

double dot_of(const Entries& a, const Entries& b) {
  double sum = 0;
  for (int i = 0; i < kEntries; ++i) sum += a[i] * b[i];
  return sum;
}

/// The smallest eigenvector that is perpendicular to `other` (where there is one), by inverse
/// iteration; returns its eigenvalue.
double smallest_eigenvector(const SymN<double, kEntries>& m,
                            const Cholesky<double, kEntries>& factors, const Entries* other,
                            Entries& x) {
  for (int i = 0; i < kEntries; ++i) x[i] = 1.0 + 0.1 * i * i;  // as good as any
  constexpr int kSteps = 60;
  for (int step = 0; step < kSteps; ++step) {
    factors.solve(x);
    const double along = other != nullptr ? dot_of(x, *other) : 0.0;
    for (int i = 0; i < kEntries; ++i) x[i] -= other != nullptr ? along * (*other)[i] : 0.0;
    const double length = std::sqrt(dot_of(x, x));
    for (double& entry : x) entry /= length;
  }
  double value = 0;
  for (int i = 0; i < kEntries; ++i) {
    for (int j = 0; j < kEntries; ++j) value += x[i] * m.at(i, j) * x[j];
  }
  return value;
}

/// Takes points and pixels to about unit size, on which the condition of the problem depends.
struct Normalisation {
  Vec3d mean;
  double scale = 1;
  double width = 1, u = 0, v = 0;

  Normalisation(const std::vector<PixelOfPoint>& sample, int columns, int rows)
      : width(columns), u(0.5 * columns), v(0.5 * rows) {
    const auto count = static_cast<double>(sample.size());
    for (const PixelOfPoint& pixel : sample) mean = mean + pixel.point / count;
    double spread_sq = 0;
    for (const PixelOfPoint& pixel : sample) spread_sq += norm_sq(pixel.point - mean) / count;
    scale = spread_sq > 0 ? 1 / std::sqrt(spread_sq) : 1;
  }
  PixelOfPoint operator()(const PixelOfPoint& pixel) const {
    return {(pixel.u - u) / width, (pixel.v - v) / width, (pixel.point - mean) * scale};
  }
};

/// The fitted P for normalised points and pixels, with positive depths.
struct Projection {
  Vec3d row[3];
  double last[3];

  double depth(const Vec3d& p) const { return dot(row[2], p) + last[2]; }
};

std::optional<Projection> best_projection(const std::vector<PixelOfPoint>& sample) {
  SymN<double, kEntries> sums;
  const double weight = 1 / static_cast<double>(sample.size());
  for (const auto& [u, v, p] : sample) {
    sums.add_outer({p.x, p.y, p.z, 1, 0, 0, 0, 0, -u * p.x, -u * p.y, -u * p.z, -u}, weight);
    sums.add_outer({0, 0, 0, 0, p.x, p.y, p.z, 1, -v * p.x, -v * p.y, -v * p.z, -v}, weight);
  }
  // Rounding of the points as floats is of this size, squared; it keeps the factors finite as well.
  constexpr double kRounding = 1e-13;
  SymN<double, kEntries> shifted = sums;
  for (int i = 0; i < kEntries; ++i) shifted.at(i, i) += kRounding;
  const Cholesky<double, kEntries> factors = cholesky(shifted);
  if (!factors.ok) return {};
  Entries best, next;
  const double error = smallest_eigenvector(sums, factors, nullptr, best);
  const double next_error = smallest_eigenvector(sums, factors, &best, next);
  constexpr double kLeastGap = 30;
  if (!(next_error > kLeastGap * std::max(error, kRounding))) return {};
  Projection result{
      {{best[0], best[1], best[2]}, {best[4], best[5], best[6]}, {best[8], best[9], best[10]}},
      {best[3], best[7], best[11]}};
  double depths = 0;
  for (const PixelOfPoint& pixel : sample) depths += result.depth(pixel.point);
  const double size = norm(result.row[2]) * (depths < 0 ? -1 : 1);
  if (!(std::abs(size) > 1e-9)) return {};  // rays that are parallel
  for (int i = 0; i < 3; ++i) {
    result.row[i] = result.row[i] / size;
    result.last[i] /= size;
  }
  return result;
}

/// The root mean square distance of the points' images from their pixels, in widths.
double miss_of(const Projection& projection, const std::vector<PixelOfPoint>& sample) {
  double sum = 0;
  for (const auto& [u, v, p] : sample) {
    const double depth = projection.depth(p);
    const double du = (dot(projection.row[0], p) + projection.last[0]) / depth - u;
    const double dv = (dot(projection.row[1], p) + projection.last[1]) / depth - v;
    sum += du * du + dv * dv;
  }
  return std::sqrt(sum / static_cast<double>(sample.size()));
}

/// P = K [R t] with an upper triangular K: the rows of R from the last one up.
std::optional<Rigid3d> pose_of(const Projection& projection, const Normalisation& normalise) {
  const Vec3d z = projection.row[2];
  const Vec3d across = projection.row[1] - z * dot(projection.row[1], z);
  const double fy = norm(across);
  const Vec3d y = across / fy;
  const double skew = dot(projection.row[0], y);
  const Vec3d x = cross(y, z);
  const double fx = dot(projection.row[0], x);  // negative where rows are mirrored
  constexpr double kMostAspect = 2, kMostSkew = 0.1;
  if (!(fx > 0 && fy > 0 && fx < kMostAspect * fy && fy < kMostAspect * fx)) return {};
  if (!(std::abs(skew) < kMostSkew * fx)) return {};
  // The camera stands where P (c, 1) = 0.
  const Vec3d* const row = projection.row;
  const double determinant = dot(row[0], cross(row[1], row[2]));
  const Vec3d centre =
      (cross(row[1], row[2]) * projection.last[0] + cross(row[2], row[0]) * projection.last[1] +
       cross(row[0], row[1]) * projection.last[2]) /
      -determinant;
  // From farther off rays are as good as parallel, and points as floats have no digits left.
  constexpr double kMostSpreads = 100;
  if (!(norm(centre) < kMostSpreads)) return {};
  return renormalized(
      Rigid3d{transpose(Mat3d{{x, y, z}}), normalise.mean + centre / normalise.scale});
}

}  // namespace

std::optional<Rigid3d> fit_projection(const std::vector<PixelOfPoint>& pixels, int width,
                                      int height) {
  constexpr std::size_t kLeast = 12, kSample = 4000;
  if (pixels.size() < kLeast) return {};
  std::vector<PixelOfPoint> sample;
  const std::size_t step = (pixels.size() + kSample - 1) / kSample;
  for (std::size_t i = 0; i < pixels.size(); i += step) sample.push_back(pixels[i]);
  const Normalisation normalise(sample, width, height);
  std::transform(sample.begin(), sample.end(), sample.begin(), normalise);
  const std::optional<Projection> projection = best_projection(sample);
  constexpr double kMostMiss = 0.02;
  if (!projection || !(miss_of(*projection, sample) < kMostMiss)) return {};
  return pose_of(*projection, normalise);
}

}  // namespace sextant::detail::row_camera
