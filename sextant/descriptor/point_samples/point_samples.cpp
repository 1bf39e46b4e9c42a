// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/point_samples.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/core/sort.h"
#include "sextant/geometry/diameter.h"
#include "sextant/geometry/neighbours.h"

namespace sextant {

namespace {

constexpr int kKeyBits = 21;  // of an axis: three of them fill a 64-bit key
constexpr float kMostVoxels = 1 << kKeyBits;

bool usable(const Vec3f& point, const Vec3f& normal) {
  return is_finite(point) && is_finite(normal);
}

struct Group {
  Vec3f first_normal;
  Vec3f normal_sum{};
  Vec3d point_sum{};
  std::int64_t members = 0;
  std::int64_t nearest = -1;
  float nearest_sq = INFINITY;
};

/// The points order[begin .. end) of one voxel as groups of normals.
void find_groups(std::span<const std::uint32_t> voxel, View<const Vec3f> points,
                 View<const Vec3f> normals, float least_cosine, std::vector<Group>& groups,
                 std::vector<std::int32_t>& group_of) {
  groups.clear();
  group_of.clear();
  for (const std::uint32_t i : voxel) {
    std::size_t g = 0;
    while (g < groups.size() && dot(groups[g].first_normal, normals[i]) < least_cosine) ++g;
    if (g == groups.size()) groups.push_back({.first_normal = normals[i]});
    groups[g].normal_sum += normals[i];
    groups[g].point_sum += cast<double>(points[i]);
    ++groups[g].members;
    group_of.push_back(static_cast<std::int32_t>(g));
  }
  for (std::size_t k = 0; k < voxel.size(); ++k) {
    Group& group = groups[static_cast<std::size_t>(group_of[k])];
    const Vec3f mean = cast<float>(group.point_sum / static_cast<double>(group.members));
    const float distance_sq = norm_sq(points[voxel[k]] - mean);
    if (!(distance_sq < group.nearest_sq)) continue;
    group.nearest_sq = distance_sq;
    group.nearest = voxel[k];
  }
}

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

PointSamples sample_points(const Context& context, View<const Vec3f> points,
                           View<const Vec3f> normals, const PointSamplesOptions& options) {
  check_options(options);
  require(context.is_cpu(), "sample_points: runs on the CPU, the context on ",
          to_string(context.device()));
  require_on(context, points, "points");
  require_room(context, normals, points.size, "normals");
  const float inverse = 1.0f / options.leaf_m;
  const auto along = [&](float x) { return std::floor(x * inverse); };
  Vec3f low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < points.size; ++i) {
    if (!usable(points[i], normals[i])) continue;
    const Vec3f cell{along(points[i].x), along(points[i].y), along(points[i].z)};
    low = {min_of(low.x, cell.x), min_of(low.y, cell.y), min_of(low.z, cell.z)};
    high = {max_of(high.x, cell.x), max_of(high.y, cell.y), max_of(high.z, cell.z)};
    ++count;
  }
  if (count == 0) return {};
  const float longest = max_of(max_of(high.x - low.x, high.y - low.y), high.z - low.z);
  require(longest < kMostVoxels, "leaf_m: ", options.leaf_m, " makes more than ",
          static_cast<std::int64_t>(kMostVoxels),
          " voxels along an axis; take a larger one or leave out far points");

  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> order;
  keys.reserve(static_cast<std::size_t>(count));
  order.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < points.size; ++i) {
    if (!usable(points[i], normals[i])) continue;
    const auto part = [&](float x, float first) {
      return static_cast<std::uint64_t>(along(x) - first);
    };
    keys.push_back(part(points[i].z, low.z) << (2 * kKeyBits) |
                   part(points[i].y, low.y) << kKeyBits | part(points[i].x, low.x));
    order.push_back(static_cast<std::uint32_t>(i));
  }
  sort_pairs(context, view_of(keys), view_of(order));

  const float least_cosine = std::cos(options.normal_angle_rad);
  std::vector<Vec3f> sampled, sampled_normals;
  std::vector<Group> groups;
  std::vector<std::int32_t> group_of;
  for (std::size_t begin = 0; begin < keys.size();) {
    std::size_t end = begin;
    while (end < keys.size() && keys[end] == keys[begin]) ++end;
    find_groups(std::span(order).subspan(begin, end - begin), points, normals, least_cosine, groups,
                group_of);
    for (const Group& group : groups) {
      sampled.push_back(points[group.nearest]);
      sampled_normals.push_back(norm_sq(group.normal_sum) > 0 ? normalized(group.normal_sum)
                                                              : group.first_normal);
    }
    begin = end;
  }
  return {buffer_of(sampled), buffer_of(sampled_normals)};
}

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
