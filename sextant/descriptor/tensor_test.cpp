// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "sextant/core/graph.h"
#include "sextant/core/random.h"
#include "sextant/core/rigid3.h"
#include "sextant/surface/triangulate.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"
#include "tests/tensor_oracle.h"

namespace sextant {
namespace {

using testing::OrganisedScene;
using testing::TensorOracle;

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
PointPair aligned_pair(HostSurface& surface, int pu, int pv, int qu, int qv) {
  const PointPair pair{surface.index(pu, pv), surface.index(qu, qv)};
  surface.normals[static_cast<std::size_t>(pair.p)] = {0.6f, 0, -0.8f};
  surface.normals[static_cast<std::size_t>(pair.q)] = {-0.6f, 0, -0.8f};
  return pair;
}

TensorSet tensors_of(const Context& context, const HostSurface& surface,
                     const std::vector<PointPair>& pairs, float resolution_m,
                     const TensorOptions& options = {}) {
  const DeviceSurface on_device(context, surface);
  const Buffer<PointPair> list = copy(context, pairs);
  return to_host(context, compute_tensors(context, on_device, list, resolution_m, options));
}

double total(const TensorSet& tensors) {
  return std::accumulate(tensors.values.host().begin(), tensors.values.host().end(), 0.0);
}

/// Bits of everything but the angle, which may differ by rounding between devices.
void expect_same(const TensorSet& a, const TensorSet& b) {
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
HostSurface lumpy_scene(int width = 96, int height = 80) {
  const auto surface = [](const Vec3d& ray) -> std::optional<testing::Hit> {
    if (ray.x > 0.02) return testing::PlaneSurface{0.45, {0.2, 0.1, -1}}(ray);
    if (ray.y > 0.045) return testing::PlaneSurface{0.55, {0, 0.5, -1}}(ray);
    return testing::SphereSurface{{0, 0, 0.5}, 0.03}(ray);
  };
  const OrganisedScene scene =
      testing::look_at(surface, {.width = width, .height = height, .noise_m = 0.0002, .seed = 3});
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
constexpr float kLumpyResolution_m = 0.00095f;

std::vector<PointPair> pairs_of(const HostSurface& surface, float resolution_m, int amount) {
  const Context cpu = Context::cpu(1);
  const Image<Vec3f> points(copy(cpu, surface.points), surface.width, surface.height);
  const Image<Vec3f> normals(copy(cpu, surface.normals), surface.width, surface.height);
  const Buffer<PointPair> all = find_pairs(cpu, points, normals, resolution_m);
  const Buffer<PointPair> some = select_pairs(cpu, all, amount, 1);
  return {some.host().begin(), some.host().end()};
}

TEST(Tensor, APlaneFillsASlabOfBins) {
  HostSurface surface = height_field(41, 37, [](double, double) { return 50.0; });
  // Once with the faces of the bins along the edges of the cells, once across them.
  const PointPair along = aligned_pair(surface, 16, 18, 24, 18);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    for (const int bins : {10, 5}) {
      // The plane is the face between bins 4 and 5 of ten, and the middle of bin 2 of five.
      const TensorSet tensors = tensors_of(context, surface, {along}, 1.0f, {.bins = bins});
      ASSERT_EQ(tensors.sizes.host()[0], bins * bins);
      const TensorFrame& frame = tensors.frames.host()[0];
      EXPECT_NEAR(frame.angle_rad, std::acos(0.28), 1e-6);
      EXPECT_EQ(frame.origin_m, (Vec3f{0, 0, 50}));
      EXPECT_NEAR(frame.axes.row[2].z, -1, 1e-6);
      EXPECT_NEAR(std::abs(frame.axes.row[0].y), 1, 1e-6);
      EXPECT_EQ(frame.bin_m, 2.0f);
      EXPECT_EQ(frame.pair, along);
      for (int i = 0; i < bins * bins; ++i) {
        EXPECT_EQ(tensors.indices.host()[static_cast<std::size_t>(i)],
                  bins * bins * (bins / 2) + i);
        EXPECT_NEAR(tensors.values.host()[static_cast<std::size_t>(i)], 1.0, 1e-5);
      }
    }
    HostSurface shifted = surface;
    const PointPair across = aligned_pair(shifted, 17, 18, 24, 17);
    const TensorSet tensors = tensors_of(context, shifted, {across}, 1.0f);
    ASSERT_EQ(tensors.sizes.host()[0], 100);
    // A bin has up to 25 pieces, each rounded to 2⁻²⁰; positions of 20 are right to 1e-6.
    for (const float value : tensors.values.host()) EXPECT_NEAR(value, 1.0, 5e-5);
  }
}

TEST(Tensor, AddsUpToTheAreaInTheCube) {
  // Planes tilted about one axis cut a cube of ten bins in 10 by 10 / cos.
  for (const double slope : {0.0, 0.3, 0.7, 1.0}) {
    HostSurface surface = height_field(61, 61, [&](double, double y) { return 90 + slope * y; });
    const PointPair pair = aligned_pair(surface, 26, 30, 34, 30);
    for (const Context& context : testing::all_contexts()) {
      const TensorSet tensors =
          tensors_of(context, surface, {pair}, 1.3f, {.bin_resolutions = 1.7f});
      const double expected = 100 * std::sqrt(1 + slope * slope);
      EXPECT_NEAR(total(tensors), expected, 1e-4 * expected);
    }
  }
}

TEST(Tensor, IsThatOfTheOracle) {
  const HostSurface surface = lumpy_scene();
  const TensorOracle oracle = surface.oracle();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 8);
  ASSERT_EQ(pairs.size(), 8u);
  for (const TensorOptions& options :
       {TensorOptions{}, TensorOptions{.mode = TensorMode::kAll},
        TensorOptions{.bins = 4, .bin_resolutions = 3.5f},
        TensorOptions{.bins = 7, .bin_resolutions = 4.5f, .mode = TensorMode::kAll}}) {
    std::vector<TensorOracle::Answer> truth;
    for (const PointPair& pair : pairs) {
      truth.push_back(oracle.tensor(pair, kLumpyResolution_m, options));
    }
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const TensorSet tensors = tensors_of(context, surface, pairs, kLumpyResolution_m, options);
      std::vector<float> dense(pairs.size() * truth[0].bins.size());
      unpack_tensors_into(Context::cpu(1), tensors, view_of(dense));
      double all = 0;
      for (std::size_t t = 0; t < pairs.size(); ++t) {
        double sum = 0, worst = 0;
        for (std::size_t bin = 0; bin < truth[t].bins.size(); ++bin) {
          const double value = dense[t * truth[t].bins.size() + bin];
          sum += value;
          worst = std::max(worst, std::abs(value - truth[t].bins[bin]));
        }
        // Points at half a metre are right to 3e-8 m, 1.6e-5 of the smallest bin, along an
        // outline of a few bins; less than 2⁻¹⁴ counts as nothing.
        EXPECT_LT(worst, 2e-4);
        EXPECT_NEAR(sum, truth[t].in_cube, 1e-4 * truth[t].in_cube + 0.01);
        all += sum;
      }
      EXPECT_GT(all, 50.0);
    }
  }
}

TEST(Tensor, HasTheSameBitsEverywhere) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 150);
  // The last fills the image and more.
  for (const TensorOptions& options : {TensorOptions{}, TensorOptions{.mode = TensorMode::kAll},
                                       TensorOptions{.bins = 3, .bin_resolutions = 70.0f}}) {
    const TensorSet expected =
        tensors_of(Context::cpu(1), surface, pairs, kLumpyResolution_m, options);
    EXPECT_GT(expected.values.size(), 200);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      expect_same(tensors_of(context, surface, pairs, kLumpyResolution_m, options), expected);
    }
  }
}

TEST(Tensor, CubesLargerThanSharedMemory) {
  HostSurface surface = height_field(300, 260, [](double x, double y) {
    return 400 + 10 * std::sin(0.1 * x) + 8 * std::cos(0.13 * y);
  });
  for (std::size_t i = 0; i < surface.cells.size(); i += 7) surface.cells[i] = 1;
  const PointPair large = aligned_pair(surface, 140, 130, 160, 130);
  const PointPair small = aligned_pair(surface, 20, 20, 28, 20);
  for (const TensorMode mode : {TensorMode::kGrow, TensorMode::kAll}) {
    const TensorOptions options{.bin_resolutions = 24.0f, .mode = mode};
    const TensorSet expected =
        tensors_of(Context::cpu(1), surface, {large, small, large}, 1.0f, options);
    EXPECT_GT(total(expected), 250.0);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      expect_same(tensors_of(context, surface, {large, small, large}, 1.0f, options), expected);
    }
  }
}

TEST(Tensor, MovesWithTheSurface) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 40);
  Rigid3d motion;
  motion.rotation = exp_rotation(Vec3d{0.7, -1.1, 0.4});
  motion.translation = {0.1, 0.3, -0.2};
  HostSurface moved = surface;
  for (Vec3f& p : moved.points) p = cast<float>(motion * cast<double>(p));
  for (Vec3f& n : moved.normals) n = cast<float>(motion.rotation * cast<double>(n));
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const TensorSet a = tensors_of(context, surface, pairs, kLumpyResolution_m);
    const TensorSet b = tensors_of(context, moved, pairs, kLumpyResolution_m);
    std::vector<float> before(pairs.size() * 1000), after(pairs.size() * 1000);
    unpack_tensors_into(Context::cpu(1), a, view_of(before));
    unpack_tensors_into(Context::cpu(1), b, view_of(after));
    double worst = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      worst = std::max(worst, std::abs(double(before[i]) - after[i]));
    }
    EXPECT_LT(worst, 5e-4);
    for (std::size_t t = 0; t < pairs.size(); ++t) {
      const TensorFrame& x = a.frames.host()[t];
      const TensorFrame& y = b.frames.host()[t];
      EXPECT_LT(norm(motion * cast<double>(x.origin_m) - cast<double>(y.origin_m)), 1e-6);
      EXPECT_LT(norm(motion.rotation * cast<double>(x.axes.row[1]) - cast<double>(y.axes.row[1])),
                1e-5);
      EXPECT_NEAR(x.angle_rad, y.angle_rad, 1e-5);
    }
  }
}

TEST(Tensor, SwappingThePairFlipsIt) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 40);
  std::vector<PointPair> swapped;
  for (const PointPair& pair : pairs) swapped.push_back({pair.q, pair.p});
  for (const Context& context : testing::all_contexts()) {
    for (const int bins : {10, 7}) {
      SCOPED_TRACE(testing::describe(context));
      const TensorOptions options{.bins = bins};
      const DeviceSurface on_device(context, surface);
      const TensorSet tensors =
          compute_tensors(context, on_device, copy(context, pairs), kLumpyResolution_m, options);
      TensorSet flipped = copy(context, tensors);
      flip_tensors_into(context, tensors, flipped);
      TensorSet back = copy(context, tensors);
      flip_tensors_into(context, flipped, back);
      expect_same(to_host(context, back), to_host(context, tensors));

      const TensorSet host = to_host(context, flipped);
      const TensorSet direct = tensors_of(context, surface, swapped, kLumpyResolution_m, options);
      const std::size_t all = static_cast<std::size_t>(bins * bins * bins);
      std::vector<float> a(pairs.size() * all), b(a), c(a);
      unpack_tensors_into(Context::cpu(1), host, view_of(a));
      unpack_tensors_into(Context::cpu(1), direct, view_of(b));
      unpack_tensors_into(Context::cpu(1), to_host(context, tensors), view_of(c));
      double worst = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        worst = std::max(worst, std::abs(double(a[i]) - b[i]));
        // T'(i, j, k) = T(bins - 1 - i, bins - 1 - j, k)
        const int bin = static_cast<int>(i % all);
        const int x = bin % bins, y = bin / bins % bins, z = bin / bins / bins;
        const int from = (bins - 1 - x) + bins * ((bins - 1 - y) + bins * z);
        EXPECT_EQ(a[i], c[i - i % all + static_cast<std::size_t>(from)]);
      }
      EXPECT_LT(worst, 2e-4);
      for (std::size_t t = 0; t < pairs.size(); ++t) {
        const TensorFrame& x = host.frames.host()[t];
        const TensorFrame& y = direct.frames.host()[t];
        EXPECT_EQ(x.pair, y.pair);
        for (int row = 0; row < 3; ++row) {
          EXPECT_LT(norm(x.axes.row[row] - y.axes.row[row]), 1e-6f);
        }
      }
    }
  }
}

TEST(Tensor, GrowsOverEdgesInsideTheCubeAlone) {
  // A wall with a step of 3 behind x = 4: two sheets, both in the cube.
  HostSurface surface = height_field(61, 41, [](double x, double) { return x > 4 ? 73.0 : 70.0; });
  const int step = 30 + 4;  // the column of cells between the sheets
  for (int v = 0; v < 40; ++v) surface.cells[static_cast<std::size_t>(v * 60 + step)] = 0;
  const PointPair pair = aligned_pair(surface, 26, 20, 34, 20);
  // The same, joined far outside the cube, at the upper edge of the image.
  HostSurface joined = surface;
  for (int v = 0; v < 3; ++v) joined.cells[static_cast<std::size_t>(v * 60 + step)] = 3;
  // And joined by one cell inside the cube.
  HostSurface bridged = surface;
  bridged.cells[static_cast<std::size_t>(22 * 60 + step)] = 3;
  // By one triangle of that cell, which meets the near sheet in an edge and the far one in a point.
  HostSurface pointed = surface;
  pointed.cells[static_cast<std::size_t>(22 * 60 + step)] = 1;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto area = [&](const HostSurface& s, TensorMode mode) {
      return total(tensors_of(context, s, {pair}, 1.0f, {.mode = mode}));
    };
    // The cube is 20 wide about x = 0: the near sheet has 14 × 20, the far one 5 × 20 of it; a
    // bin's face is 4. The cells that join are 1 wide and rise by 3.
    const double near = 14 * 20 / 4.0, far = 5 * 20 / 4.0, bridge = std::sqrt(10.0) / 4;
    EXPECT_NEAR(area(surface, TensorMode::kGrow), near, 1e-3);
    EXPECT_NEAR(area(surface, TensorMode::kAll), near + far, 1e-3);
    EXPECT_NEAR(area(joined, TensorMode::kGrow), near, 1e-3);
    EXPECT_NEAR(area(joined, TensorMode::kAll), near + far, 1e-3);
    EXPECT_NEAR(area(bridged, TensorMode::kGrow), near + far + bridge, 1e-3);
    EXPECT_NEAR(area(pointed, TensorMode::kGrow), near + bridge / 2, 1e-3);
  }
}

TEST(Tensor, GrowsAroundCorners) {
  // A path of cells that winds through the cube like a snake, one cell wide.
  HostSurface surface = height_field(61, 61, [](double, double) { return 100.0; });
  int cells = 0;
  for (int v = 0; v < 60; ++v) {
    for (int u = 0; u < 60; ++u) {
      const bool in_range = v >= 22 && v < 39 && u >= 21 && u < 39;
      const bool corridor = v % 2 == 0 || u == (v % 4 == 1 ? 38 : 21);
      surface.cells[static_cast<std::size_t>(v * 60 + u)] = in_range && corridor ? 3 : 0;
      cells += in_range && corridor ? 1 : 0;
    }
  }
  // From the first row to the middle of the cube.
  const PointPair pair = aligned_pair(surface, 21, 22, 39, 38);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    EXPECT_NEAR(total(tensors_of(context, surface, {pair}, 1.0f)), cells / 4.0, 1e-3);
    // Without one cell of the way and the far end, half of it is not reached.
    HostSurface cut = surface;
    cut.cells[static_cast<std::size_t>(30 * 60 + 30)] = 0;
    const double all = total(tensors_of(context, cut, {pair}, 1.0f, {.mode = TensorMode::kAll}));
    EXPECT_NEAR(all, (cells - 1) / 4.0, 1e-3);
    EXPECT_NEAR(total(tensors_of(context, cut, {pair}, 1.0f)), all, 1e-3);
    PointPair one_end = aligned_pair(cut, 21, 22, 22, 22);
    cut.points[static_cast<std::size_t>(one_end.q)] =
        cut.points[static_cast<std::size_t>(one_end.p)];
    EXPECT_LT(total(tensors_of(context, cut, {one_end}, 4.0f)), 0.6 * all / 16);
  }
}

TEST(Tensor, HugeAndDegenerateTriangles) {
  // Two triangles of 2000 cut by a cube of 20 about the middle of their diagonal.
  HostSurface huge{2, 2, {}, {}, {3}};
  for (const Vec3f& p : {Vec3f{-1000, -1000, 30}, Vec3f{1000, -1000, 30}, Vec3f{-1000, 1000, 30},
                         Vec3f{1000, 1000, 30}}) {
    huge.points.push_back(p);
    huge.normals.push_back({0, 0, -1});
  }
  const PointPair across = aligned_pair(huge, 0, 0, 1, 1);
  // A surface folded on itself: 20 thousand sheets in the same four bins.
  HostSurface folded = height_field(101, 101, [](double, double) { return 40.0; });
  for (int v = 0; v < 101; ++v) {
    for (int u = 0; u < 101; ++u) {
      const Vec3d corner{u % 2 * 3.0, v % 2 * 3.0, 40};
      folded.points[static_cast<std::size_t>(folded.index(u, v))] = cast<float>(corner);
    }
  }
  const PointPair fold = aligned_pair(folded, 50, 50, 51, 51);
  // All points in one place, or in a line.
  HostSurface flat = height_field(9, 9, [](double, double) { return 5.0; });
  for (Vec3f& p : flat.points) p = {1, 2, 3};
  const PointPair nowhere = aligned_pair(flat, 2, 2, 5, 5);
  HostSurface line = height_field(9, 9, [](double x, double) { return 5.0 + x; });
  for (Vec3f& p : line.points) p.y = 0;
  const PointPair on_line = aligned_pair(line, 2, 2, 5, 5);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const TensorSet plane = tensors_of(context, huge, {across}, 1.0f);
    EXPECT_EQ(plane.sizes.host()[0], 100);
    // Cuts of an edge of 2000 (1000 bins) are right to 1e-7 of it.
    for (const float value : plane.values.host()) EXPECT_NEAR(value, 1.0, 2e-3);
    const TensorSet sheets = tensors_of(context, folded, {fold}, 1.0f);
    EXPECT_EQ(sheets.sizes.host()[0], 4);
    for (const float value : sheets.values.host()) EXPECT_EQ(value, 4096.0f);
    EXPECT_EQ(tensors_of(context, flat, {nowhere}, 1.0f).values.size(), 0);
    EXPECT_EQ(tensors_of(context, line, {on_line}, 1.0f).values.size(), 0);
  }
}

TEST(Tensor, RandomTrianglesAreThoseOfTheOracle) {
  // Random points: triangles of every size and direction, through every corner of the grid.
  HostSurface surface = height_field(24, 24, [](double, double) { return 0.0; });
  for (std::size_t i = 0; i < surface.points.size(); ++i) {
    const Random random{testing::seed_of_test(), i};
    surface.points[i] = {random.uniform(0) * 30, random.uniform(1) * 30, random.uniform(2) * 30};
    // Some exactly on the faces of bins.
    if (i % 3 == 0) {
      surface.points[i] = {std::round(surface.points[i].x), std::round(surface.points[i].y),
                           std::round(surface.points[i].z)};
    }
  }
  surface.points[0] = {13, 15, 15};
  surface.points[23] = {17, 15, 15};
  const PointPair pair = aligned_pair(surface, 0, 0, 23, 0);
  const TensorOracle oracle = surface.oracle();
  for (const TensorMode mode : {TensorMode::kGrow, TensorMode::kAll}) {
    const TensorOptions options{.mode = mode};
    const TensorOracle::Answer truth = oracle.tensor(pair, 1.0, options);
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const TensorSet tensors = tensors_of(context, surface, {pair}, 1.0f, options);
      std::vector<float> dense(1000);
      unpack_tensors_into(Context::cpu(1), tensors, view_of(dense));
      // About a hundred pieces a bin, each within 2⁻²¹ of rounding and 1e-6 of cutting.
      for (std::size_t bin = 0; bin < 1000; ++bin) EXPECT_NEAR(dense[bin], truth.bins[bin], 5e-4);
      EXPECT_NEAR(total(tensors), truth.in_cube, 1e-4 * truth.in_cube);
    }
  }
}

TEST(Tensor, IsRecordedWithoutWaiting) {
  const HostSurface surface = lumpy_scene();
  const std::vector<PointPair> pairs = pairs_of(surface, kLumpyResolution_m, 30);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const DeviceSurface on_device(context, surface);
    const Buffer<PointPair> list = copy(context, pairs);
    const Buffer<std::int32_t> count = copy(context, std::vector<std::int32_t>{20});
    SurfaceStatistics known;
    known.resolution_m = kLumpyResolution_m;
    const Buffer<SurfaceStatistics> statistics =
        copy(context, std::vector<SurfaceStatistics>{known});
    TensorSet tensors(context, 25, 10);
    TensorWorkspace workspace;
    const auto frame = [&] {
      compute_tensors_into(context, on_device, list, count, statistics, {}, tensors, workspace);
    };
    frame();
    const Graph graph = Graph::capture(context, frame);
    context.synchronize();
    const Counters before = context.counters();
    graph.launch();
    EXPECT_EQ(context.counters().allocations, before.allocations);
    EXPECT_EQ(context.counters().synchronisations, before.synchronisations);
    const std::vector<PointPair> some(pairs.begin(), pairs.begin() + 20);
    expect_same(to_host(context, pack_tensors(context, tensors)),
                tensors_of(context, surface, some, kLumpyResolution_m));
    EXPECT_EQ(to_host(context, tensors.first)[19], 19000);
  }
}

TEST(Tensor, BadInput) {
  const HostSurface good = lumpy_scene(40, 40);
  const std::vector<PointPair> pairs = pairs_of(good, kLumpyResolution_m, 3);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const auto expect_empty = [&](const HostSurface& surface, const PointPair& pair,
                                  float resolution_m) {
      const TensorSet tensors = tensors_of(context, surface, {pair}, resolution_m);
      EXPECT_EQ(tensors.count.host()[0], 1);
      EXPECT_EQ(tensors.sizes.host()[0], 0);
      EXPECT_TRUE(std::isnan(tensors.frames.host()[0].angle_rad));
      EXPECT_EQ(tensors.masks.host()[0].words[0], 0u);
    };
    for (const float resolution_m : {0.0f, -1.0f, NAN, INFINITY, 1e-42f}) {
      expect_empty(good, pairs[0], resolution_m);
    }
    for (const PointPair& pair : {PointPair{-1, 4}, PointPair{3, 1600}, PointPair{7, 7}}) {
      expect_empty(good, pair, kLumpyResolution_m);
    }
    HostSurface opposite = good;
    const Vec3f n = opposite.normals[static_cast<std::size_t>(pairs[0].p)];
    opposite.normals[static_cast<std::size_t>(pairs[0].q)] = -n;
    expect_empty(opposite, pairs[0], kLumpyResolution_m);
    HostSurface holes = good;
    for (Vec3f& p : holes.points) p = {NAN, 0, INFINITY};
    expect_empty(holes, pairs[0], kLumpyResolution_m);
    // Triangles that are said to exist but have no corners count for nothing.
    HostSurface lies = good;
    lies.cells.assign(lies.cells.size(), 0xff);
    const TensorSet tensors = tensors_of(context, lies, pairs, kLumpyResolution_m);
    for (const float value : tensors.values.host()) EXPECT_TRUE(std::isfinite(value));
    EXPECT_GT(tensors.values.size(), 50);

    const HostSurface dot{1, 1, {{0, 0, 1}}, {{0, 0, -1}}, {}};
    expect_empty(dot, {0, 0}, 1.0f);
    expect_empty(HostSurface{}, {0, 1}, 1.0f);
    EXPECT_EQ(tensors_of(context, good, {}, 1.0f).capacity(), 0);
    EXPECT_EQ(tensors_of(context, HostSurface{}, {}, 1.0f).capacity(), 0);

    EXPECT_THROW(tensors_of(context, good, pairs, 1.0f, {.bins = 11}), Error);
    EXPECT_THROW(tensors_of(context, good, pairs, 1.0f, {.bin_resolutions = NAN}), Error);
    HostSurface wrong = good;
    wrong.cells.resize(39 * 38);
    const DeviceSurface on_device(context, good);
    const Image<std::uint8_t> few(copy(context, wrong.cells), 39, 38);
    const OrganisedSurface mixed{on_device.points, on_device.normals, few};
    EXPECT_THROW(compute_tensors(context, mixed, copy(context, pairs), 1.0f), Error);
    EXPECT_THROW(TensorSet(context, -1, 10), Error);
    EXPECT_THROW(TensorSet(context, 1, 0), Error);
    const TensorSet none;
    EXPECT_THROW(pack_tensors(Context::cpu(), none), Error);
  }
}

TEST(FlippedBin, ReversesASlab) {
  EXPECT_EQ(flipped_bin(0, 10), 99);
  EXPECT_EQ(flipped_bin(999, 10), 900);
  EXPECT_EQ(flipped_bin(flipped_bin(123, 7), 7), 123);
}

}  // namespace
}  // namespace sextant
