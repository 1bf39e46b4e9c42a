// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/point_samples.h"

#include <array>

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/descriptor/point_samples/math.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/neighbours.h"

namespace sextant {

using namespace detail::point_samples;

namespace {

Buffer<Vec3f> buffer_of(const std::vector<Vec3f>& values) { return copy(Context::cpu(), values); }

/// Points spread over the triangles by area: of equal strips of the running sum of areas, each
/// gives one, at a random place of its triangle.
void spread_over_triangles(const TriangleMesh& mesh, int wanted, std::vector<Vec3f>& points,
                           std::vector<Vec3f>& normals) {
  const std::span<const Vec3f> vertices = mesh.vertices.points.host();
  const std::span<const Vec3i> triangles = mesh.triangles.host();
  const auto corners = [&](std::size_t t) {
    const Vec3i& i = triangles[t];
    return std::array<Vec3f, 3>{vertices[static_cast<std::size_t>(i.x)],
                                vertices[static_cast<std::size_t>(i.y)],
                                vertices[static_cast<std::size_t>(i.z)]};
  };
  const auto area_vector = [](const std::array<Vec3f, 3>& c) {
    return cross(cast<double>(c[1] - c[0]), cast<double>(c[2] - c[0]));
  };
  double total = 0;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const double area = norm(area_vector(corners(t)));
    if (std::isfinite(area)) total += area;
  }
  if (!(total > 0)) return;
  const double strip = total / wanted;
  double sum = 0;
  std::int64_t drawn = 0;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const std::array<Vec3f, 3> c = corners(t);
    const Vec3d across = area_vector(c);
    const double area = norm(across);
    if (!std::isfinite(area) || !(area > 0)) continue;
    sum += area;
    for (; (static_cast<double>(drawn) + 0.5) * strip < sum && drawn < wanted; ++drawn) {
      const Random random{0, static_cast<std::uint64_t>(drawn)};
      float a = random.uniform(0), b = random.uniform(1);
      if (a + b > 1) {
        a = 1 - a;
        b = 1 - b;
      }
      points.push_back(c[0] + (c[1] - c[0]) * a + (c[2] - c[0]) * b);
      normals.push_back(cast<float>(across / area));
    }
  }
}

/// Normals averaged over neighbours on the same side of the surface.
Buffer<Vec3f> smoothed(const Context& context, const Buffer<Vec3f>& points,
                       const Buffer<Vec3f>& normals, float radius_m) {
  constexpr float kFarSide =
      -0.34f;  // cosine of 110°: right-angled creases count, far sides do not
  const NeighbourGrid grid =
      build_neighbour_grid(context, points.view(), NeighbourGridOptions::for_radius(radius_m));
  const NeighbourGridView view = grid.view();
  Buffer<Vec3f> result(context, points.size());
  const std::span<const Vec3f> p = points.host(), n = normals.host();
  const std::span<Vec3f> out = result.host();
  for_each(context, points.size(), [&](std::int64_t index) {
    const std::size_t i = static_cast<std::size_t>(index);
    Vec3f sum{};
    for_each_neighbour(view, p[i], radius_m, [&](const GridPoint& neighbour, float distance_sq) {
      const Vec3f& other = n[static_cast<std::size_t>(neighbour.index)];
      if (dot(other, n[i]) < kFarSide) return;
      sum += other * std::exp(-2.0f * distance_sq / (radius_m * radius_m));
    });
    out[i] = norm_sq(sum) > 0 ? normalized(sum) : n[i];
  });
  return result;
}

}  // namespace

PointSamples dense_model_points(const Context& context, const TriangleMesh& mesh,
                                const ModelSamplesOptions& options) {
  check_options(options);
  require(context.is_cpu(), "dense_model_points: runs on the CPU, the context on ",
          to_string(context.device()));
  check_mesh(mesh);
  std::vector<Vec3f> points, normals;
  spread_over_triangles(mesh, options.dense_points, points, normals);
  if (points.empty() && !mesh.vertices.normals.empty()) {
    const std::span<const Vec3f> p = mesh.vertices.points.host();
    const std::span<const Vec3f> n = mesh.vertices.normals.host();
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (!usable(p[i], n[i]) || !(norm_sq(n[i]) > 0)) continue;
      points.push_back(p[i]);
      normals.push_back(normalized(n[i]));
    }
  }
  require(!points.empty(),
          "mesh: has no triangle of any area and no vertex with a normal; give it triangles or "
          "normals");
  PointSamples dense{buffer_of(points), buffer_of(normals)};
  if (options.smoothing_m > 0) {
    dense.normals = smoothed(context, dense.points, dense.normals, options.smoothing_m);
  }
  return dense;
}

ModelSamples sample_model(const Context& context, const TriangleMesh& mesh,
                          const ModelSamplesOptions& options) {
  const PointSamples dense = dense_model_points(context, mesh, options);
  ModelSamples model;
  model.diameter_m = diameter_m(Context::cpu(), dense.points);
  model.leaf_m = options.leaf_m > 0 ? options.leaf_m
                                    : options.leaf_share * static_cast<float>(model.diameter_m);
  require(model.leaf_m > 0, "mesh: all its points lie in one place");
  model.samples =
      sample_points(context, dense.points, dense.normals,
                    {.leaf_m = model.leaf_m, .normal_angle_rad = options.normal_angle_rad});
  return model;
}

}  // namespace sextant
