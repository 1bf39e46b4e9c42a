// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/curvature_methods.h"

#include <cmath>

#include "apps/sextant/experiments/peer.h"
#include "sextant/core/cholesky.h"
#include "sextant/core/eigen3.h"
#include "sextant/core/for_each.h"
#include "sextant/core/mat3.h"
#include "sextant/geometry/neighbours.h"
#include "sextant/surface/normals.h"

namespace sextant::app {

namespace {

/// The paper's patch: 129 samples, every third pixel of a disc that spans 37 × 37.
constexpr int kStride_px = 3;
constexpr int kRadiusSamples = 6;
constexpr int kDiscSq = 41;
constexpr int kLeastSamples = 12;
constexpr double kWeightScale_m = 0.001;

/// z = A/2 x² + B x y + C/2 y² + D x + E y + F.
struct Graph2 {
  double c[6] = {};

  static void terms(const Vec3d& p, double (&row)[6]) {
    const double values[6] = {p.x * p.x / 2, p.x * p.y, p.y * p.y / 2, p.x, p.y, 1};
    for (int i = 0; i < 6; ++i) row[i] = values[i];
  }
  double height(const Vec3d& p) const {
    double row[6], sum = 0;
    terms(p, row);
    for (int i = 0; i < 6; ++i) sum += c[i] * row[i];
    return sum;
  }
};

/// Rows x, y, n with n away from the camera, so that what is convex has positive curvature.
Mat3d frame_of(const Vec3d& towards_camera) {
  const Vec3d n = -towards_camera;
  const Vec3d axis = std::abs(n.x) < 0.9 ? Vec3d{1, 0, 0} : Vec3d{0, 1, 0};
  const Vec3d x = normalized(axis - n * dot(n, axis));
  return {{x, cross(n, x), n}};
}

std::vector<Vec3d> samples_in_frame(ImageView<const Vec3f> points, int u, int v, const Mat3d& r) {
  std::vector<Vec3d> samples;
  const Vec3d centre = cast<double>(points(u, v));
  for (int i = -kRadiusSamples; i <= kRadiusSamples; ++i) {
    for (int j = -kRadiusSamples; j <= kRadiusSamples; ++j) {
      if (i * i + j * j >= kDiscSq) continue;
      const int su = u + j * kStride_px;
      const int sv = v + i * kStride_px;
      if (!points.contains(su, sv) || !is_finite(points(su, sv))) continue;
      samples.push_back(r * (cast<double>(points(su, sv)) - centre));
    }
  }
  return samples;
}

/// False where the samples determine no graph.
bool fit(const std::vector<Vec3d>& samples, int iterations, Graph2& graph) {
  for (int iteration = 0; iteration < iterations; ++iteration) {
    SymN<double, 6> normal_matrix;
    double right[6] = {};
    for (const Vec3d& p : samples) {
      const double scale_sq = kWeightScale_m * kWeightScale_m;
      const double error = graph.height(p) - p.z;
      const double weight = iterations > 1 ? scale_sq / (scale_sq + error * error) : 1.0;
      // Lengths in centimetres keep the columns of like size.
      const Vec3d q = p * 100.0;
      double row[6];
      Graph2::terms(q, row);
      normal_matrix.add_outer(row, weight);
      for (int i = 0; i < 6; ++i) right[i] += weight * row[i] * q.z;
    }
    const Cholesky<double, 6> factor = cholesky(normal_matrix, 1e-12);
    if (!factor.ok) return false;
    factor.solve(right);
    const double to_metres[6] = {100, 100, 100, 1, 1, 0.01};
    for (int i = 0; i < 6; ++i) graph.c[i] = right[i] * to_metres[i];
  }
  return true;
}

/// Principal curvatures of the graph at x = y = 0, from its two fundamental forms.
Vec2d curvatures_of(const Graph2& graph) {
  const auto& [a, b, c, d, e, f] = graph.c;
  const double w = std::sqrt(1 + d * d + e * e);
  const double e1 = 1 + d * d, f1 = d * e, g1 = 1 + e * e;
  const double l = a / w, m = b / w, n = c / w;
  const double area = e1 * g1 - f1 * f1;
  const double gaussian = (l * n - m * m) / area;
  const double mean = (e1 * n - 2 * f1 * m + g1 * l) / (2 * area);
  const double root = std::sqrt(std::max(0.0, mean * mean - gaussian));
  return {mean + root, mean - root};
}

PrincipalCurvatures graph_curvature(ImageView<const Vec3f> points, ImageView<const Vec3f> normals,
                                    const std::vector<char>& wanted, int iterations) {
  PrincipalCurvatures result(static_cast<std::size_t>(points.pixels()));
  for_each_chunk(Context::cpu(), points.height, 1, [&](std::int64_t row, std::int64_t) {
    const int v = static_cast<int>(row);
    for (int u = 0; u < points.width; ++u) {
      const auto pixel = static_cast<std::size_t>(row * points.width + u);
      if (!wanted[pixel] || !is_finite(points(u, v)) || !is_finite(normals(u, v))) continue;
      const Mat3d r = frame_of(cast<double>(normals(u, v)));
      const std::vector<Vec3d> samples = samples_in_frame(points, u, v, r);
      Graph2 graph;
      if (samples.size() < kLeastSamples || !fit(samples, iterations, graph)) continue;
      const Vec2d k = curvatures_of(graph);
      result.k1_per_m[pixel] = static_cast<float>(k.x);
      result.k2_per_m[pixel] = static_cast<float>(k.y);
    }
  });
  return result;
}

}  // namespace

PrincipalCurvatures douros_curvature(ImageView<const Vec3f> points, ImageView<const Vec3f> normals,
                                     const std::vector<char>& wanted) {
  return graph_curvature(points, normals, wanted, 1);
}

PrincipalCurvatures besl_curvature(ImageView<const Vec3f> points, ImageView<const Vec3f> normals,
                                   const std::vector<char>& wanted) {
  return graph_curvature(points, normals, wanted, 3);
}

PrincipalCurvatures covariance_of_normals(View<const Vec3f> points, View<const Vec3f> normals,
                                          float radius_m, const std::vector<char>& wanted) {
  const Context context = Context::cpu();
  const NeighbourGrid grid =
      build_neighbour_grid(context, points, NeighbourGridOptions::for_radius(radius_m));
  PrincipalCurvatures result(static_cast<std::size_t>(points.size));
  for_each(context, points.size, [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    if (!wanted[at] || !is_finite(points[i]) || !is_finite(normals[i])) return;
    const Vec3d n = cast<double>(normals[i]);
    Vec3d sum;
    Sym3d squares;
    double count = 0;
    for_each_neighbour(grid.view(), points[i], radius_m, [&](const GridPoint& neighbour, float) {
      const Vec3d other = cast<double>(normals[neighbour.index]);
      const Vec3d projected = other - n * dot(n, other);
      sum += projected;
      squares = squares + outer(projected);
      count += 1;
    });
    const Vec3d mean = sum / count;
    const Sym3d covariance = squares * (1 / count) - outer(mean);
    const Eigen3<double> e = eigen_jacobi(covariance);
    result.k1_per_m[at] = static_cast<float>(e.values[2]);
    result.k2_per_m[at] = static_cast<float>(e.values[1]);
  });
  return result;
}

PrincipalCurvatures calibrated(const PrincipalCurvatures& covariance, float radius_m) {
  PrincipalCurvatures result(covariance.k1_per_m.size());
  const auto curvature = [&](float pc) { return 2 * std::sqrt(std::max(pc, 0.0f)) / radius_m; };
  for (std::size_t i = 0; i < covariance.k1_per_m.size(); ++i) {
    if (!covariance.has(i)) continue;
    result.k1_per_m[i] = curvature(covariance.k1_per_m[i]);
    result.k2_per_m[i] = curvature(covariance.k2_per_m[i]);
  }
  return result;
}

std::optional<PrincipalCurvatures> pcl_covariance(const Cloud& cloud, float radius_m, int every) {
  const std::optional<PeerResult> peer =
      run_pcl("curvatures", cloud,
              {"radius_m=" + std::to_string(radius_m), "every=" + std::to_string(every)});
  if (!peer) return std::nullopt;
  PrincipalCurvatures result(static_cast<std::size_t>(cloud.size()));
  for (std::size_t i = 0; i < result.k1_per_m.size(); ++i) {
    result.k1_per_m[i] = peer->value(i, 0);
    result.k2_per_m[i] = peer->value(i, 1);
  }
  return result;
}

CurvatureOptions five_steps(float radius_m) {
  CurvatureOptions options = pixel_curvature();
  options.stride_px = 0;
  options.radius_m = radius_m;
  return options;
}

Image<Vec3f> plane_form_normals(ImageView<const Vec3f> points) {
  constexpr int kReach_px = 3;
  const Context context = Context::cpu();
  Image<Vec3f> normals(context, points.width, points.height);
  for_each_chunk(context, points.height, 1, [&](std::int64_t row, std::int64_t) {
    const int v = static_cast<int>(row);
    for (int u = 0; u < points.width; ++u) {
      normals(u, v) = {NAN, NAN, NAN};
      if (!is_finite(points(u, v))) continue;
      const Vec3d middle = cast<double>(points(u, v));
      SymN<double, 3> matrix;
      double right[3] = {};
      for (int k = 0; k < 49; ++k) {
        const int su = u + k % 7 - kReach_px, sv = v + k / 7 - kReach_px;
        if (!points.contains(su, sv) || !is_finite(points(su, sv))) continue;
        const Vec3d p = cast<double>(points(su, sv)) - middle;
        const double terms[3] = {p.x, p.y, 1};
        matrix.add_outer(terms, 1.0);
        for (int i = 0; i < 3; ++i) right[i] += terms[i] * p.z;
      }
      const Cholesky<double, 3> factor = cholesky(matrix, 1e-12);
      if (!factor.ok) continue;
      factor.solve(right);
      normals(u, v) = cast<float>(normalized(Vec3d{right[0], right[1], -1}));
    }
  });
  return normals;
}

PrincipalCurvatures quadric_curvature(const Context& context, ImageView<const Vec3f> points,
                                      const CurvatureOptions& options) {
  return quadric_curvature(context, points, estimate_normals(context, points), options);
}

PrincipalCurvatures quadric_curvature(const Context& context, ImageView<const Vec3f> points,
                                      ImageView<const Vec3f> normals,
                                      const CurvatureOptions& options) {
  const Curvature found = estimate_curvature(context, points, normals, options);
  PrincipalCurvatures result(0);
  result.k1_per_m = to_host(context, found.k1_per_m.pixels());
  result.k2_per_m = to_host(context, found.k2_per_m.pixels());
  return result;
}

}  // namespace sextant::app
