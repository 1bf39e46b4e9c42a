// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "sextant/descriptor/tensor.h"
#include "sextant/surface/triangulate.h"
#include "tests/organised_scene.h"
#include "tests/tensor_oracle.h"

namespace sextant::testing {

/// An organised surface in host memory.
struct HostSurface {
  int width = 0, height = 0;
  std::vector<Vec3f> points, normals;
  std::vector<std::uint8_t> cells;

  std::int32_t index(int u, int v) const { return v * width + u; }
  TensorOracle oracle() const {
    const Context cpu = Context::cpu(1);
    const Image<std::uint8_t> image(copy(cpu, cells), width - 1, height - 1);
    const Buffer<Vec3i> triangles = triangle_indices(cpu, image);
    return {points, normals, {triangles.host().begin(), triangles.host().end()}};
  }
};

struct DeviceSurface {
  Image<Vec3f> points, normals;
  Image<std::uint8_t> cells;

  DeviceSurface(const Context& context, const HostSurface& from)
      : points(copy(context, from.points), from.width, from.height),
        normals(copy(context, from.normals), from.width, from.height),
        cells(copy(context, from.cells), from.width > 1 && from.height > 1 ? from.width - 1 : 0,
              from.width > 1 && from.height > 1 ? from.height - 1 : 0) {}
  operator OrganisedSurface() const { return {points, normals, cells}; }
};

/// z = depth(x, y) over a grid of points one apart, (0, 0) in the middle; all triangles exist and
/// all normals look at the sensor.
template <class Depth>
HostSurface height_field(int width, int height, const Depth& depth) {
  HostSurface surface{width, height, {}, {}, {}};
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const double x = u - width / 2, y = v - height / 2;
      surface.points.push_back(cast<float>(Vec3d{x, y, depth(x, y)}));
      surface.normals.push_back({0, 0, -1});
    }
  }
  surface.cells.assign(static_cast<std::size_t>((width - 1) * (height - 1)), 3);
  return surface;
}

/// Turns the normals of a pair so that the tensor's z axis is (0, 0, -1) and its x axis ± y.
inline PointPair aligned_pair(HostSurface& surface, int pu, int pv, int qu, int qv) {
  const PointPair pair{surface.index(pu, pv), surface.index(qu, qv)};
  surface.normals[static_cast<std::size_t>(pair.p)] = {0.6f, 0, -0.8f};
  surface.normals[static_cast<std::size_t>(pair.q)] = {-0.6f, 0, -0.8f};
  return pair;
}

inline TensorSet tensors_of(const Context& context, const HostSurface& surface,
                            const std::vector<PointPair>& pairs, float resolution_m,
                            const TensorOptions& options = {}) {
  const DeviceSurface on_device(context, surface);
  const Buffer<PointPair> list = copy(context, pairs);
  return to_host(context, compute_tensors(context, on_device, list, resolution_m, options));
}

inline double total(const TensorSet& tensors) {
  return std::accumulate(tensors.values.host().begin(), tensors.values.host().end(), 0.0);
}

/// Bits of everything but the angle, which may differ by rounding between devices.
inline void expect_same(const TensorSet& a, const TensorSet& b) {
  ASSERT_EQ(a.bins, b.bins);
  ASSERT_EQ(a.capacity(), b.capacity());
  ASSERT_EQ(a.values.size(), b.values.size());
  const auto same = [](const auto& x, const auto& y) {
    using T = typename std::decay_t<decltype(x)>;
    static_assert(std::is_same_v<T, std::decay_t<decltype(y)>>);
    return x.size() == 0 ||
           std::memcmp(x.data(), y.data(),
                       static_cast<std::size_t>(x.size()) * sizeof(*x.data())) == 0;
  };
  EXPECT_TRUE(same(a.count, b.count));
  EXPECT_TRUE(same(a.masks, b.masks));
  EXPECT_TRUE(same(a.sizes, b.sizes));
  EXPECT_TRUE(same(a.first, b.first));
  EXPECT_TRUE(same(a.indices, b.indices));
  EXPECT_TRUE(same(a.values, b.values));
  for (std::int64_t t = 0; t < a.capacity(); ++t) {
    TensorFrame x = a.frames.data()[t], y = b.frames.data()[t];
    EXPECT_EQ(std::isnan(x.angle_rad), std::isnan(y.angle_rad));
    if (!std::isnan(x.angle_rad)) {
      EXPECT_NEAR(x.angle_rad, y.angle_rad, 1e-6);
    }
    x.angle_rad = y.angle_rad = 0;
    EXPECT_EQ(std::memcmp(&x, &y, sizeof x), 0);
  }
}

/// A lumpy ball with noise and a plate that hides part of it.
inline HostSurface lumpy_scene(int width = 96, int height = 80) {
  const auto surface = [](const Vec3d& ray) -> std::optional<Hit> {
    if (ray.x > 0.02) return PlaneSurface{0.45, {0.2, 0.1, -1}}(ray);
    if (ray.y > 0.045) return PlaneSurface{0.55, {0, 0.5, -1}}(ray);
    return SphereSurface{{0, 0, 0.5}, 0.03}(ray);
  };
  const OrganisedScene scene =
      look_at(surface, {.width = width, .height = height, .noise_m = 0.0002});
  HostSurface result{width, height, scene.points, {}, {}};
  for (const Vec3d& n : scene.normals) result.normals.push_back(cast<float>(n));
  const Context cpu = Context::cpu(1);
  SurfaceStatistics statistics;
  statistics.max_edge_m = 0.004f;
  statistics.max_angle_rad = 1.2f;
  const Image<Vec3f> points(copy(cpu, result.points), width, height);
  const Image<Vec3f> normals(copy(cpu, result.normals), width, height);
  const Image<std::uint8_t> cells = triangulate(cpu, points, normals, statistics);
  result.cells.assign(cells.pixels().host().begin(), cells.pixels().host().end());
  return result;
}
inline constexpr float kLumpyResolution_m = 0.00095f;

inline std::vector<PointPair> pairs_of(const HostSurface& surface, float resolution_m, int amount) {
  const Context cpu = Context::cpu(1);
  const Image<Vec3f> points(copy(cpu, surface.points), surface.width, surface.height);
  const Image<Vec3f> normals(copy(cpu, surface.normals), surface.width, surface.height);
  const Buffer<PointPair> all = find_pairs(cpu, points, normals, resolution_m);
  const Buffer<PointPair> some = select_pairs(cpu, all, amount, 1);
  return {some.host().begin(), some.host().end()};
}

}  // namespace sextant::testing
