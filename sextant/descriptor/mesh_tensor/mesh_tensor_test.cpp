// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/mesh_tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "sextant/core/random.h"
#include "sextant/descriptor/cloud_pairs.h"
#include "sextant/io/geometry_file.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/mesh_resolution.h"
#include "sextant/surface/triangulate.h"
#include "tests/devices.h"
#include "tests/organised_scene.h"
#include "tests/recorded_frame.h"
#include "tests/shared_data.h"
#include "tests/tensor_oracle.h"

namespace sextant {
namespace {

using testing::TensorOracle;

/// A mesh with its normals, on a device.
struct DeviceMesh {
  Buffer<Vec3f> vertices, normals;
  TensorMesh mesh;

  DeviceMesh(const Context& context, const TensorOracle& from)
      : vertices(copy(context, from.points)),
        normals(copy(context, from.normals)),
        mesh(prepare_tensor_mesh(context, vertices, normals, copy(context, from.triangles))) {}
};

TensorSet tensors_of(const Context& context, const TensorOracle& mesh,
                     const std::vector<PointPair>& pairs, float resolution_m,
                     const TensorOptions& options = {}) {
  const DeviceMesh on_device(context, mesh);
  const Buffer<PointPair> list = copy(context, pairs);
  return to_host(context, compute_tensors(context, on_device.mesh, list, resolution_m, options));
}

double total(const TensorSet& tensors) {
  return std::accumulate(tensors.values.host().begin(), tensors.values.host().end(), 0.0);
}

void expect_same_areas(const TensorSet& a, const TensorSet& b) {
  ASSERT_EQ(a.values.size(), b.values.size());
  ASSERT_EQ(a.capacity(), b.capacity());
  const auto bytes = [](const auto& part) {
    return static_cast<std::size_t>(part.size()) * sizeof(*part.data());
  };
  if (a.capacity() == 0) return;
  EXPECT_EQ(std::memcmp(a.masks.data(), b.masks.data(), bytes(a.masks)), 0);
  EXPECT_EQ(std::memcmp(a.sizes.data(), b.sizes.data(), bytes(a.sizes)), 0);
  if (a.values.empty()) return;
  EXPECT_EQ(std::memcmp(a.indices.data(), b.indices.data(), bytes(a.indices)), 0);
  EXPECT_EQ(std::memcmp(a.values.data(), b.values.data(), bytes(a.values)), 0);
}

/// A ball of unit radius with 2 · 60 · 30 triangles.
TensorOracle ball() {
  constexpr int kAround = 60, kUp = 31;
  TensorOracle mesh;
  for (int j = 0; j <= kUp; ++j) {
    for (int i = 0; i < kAround; ++i) {
      const double turn = 2 * std::numbers::pi * i / kAround;
      const double rise = std::numbers::pi * j / kUp;
      const Vec3d p{std::cos(turn) * std::sin(rise), std::sin(turn) * std::sin(rise),
                    std::cos(rise)};
      mesh.points.push_back(cast<float>(p));
      mesh.normals.push_back(cast<float>(p));
      if (j == kUp) continue;
      const int here = j * kAround + i, next = j * kAround + (i + 1) % kAround;
      if (j > 0) mesh.triangles.push_back({here, here + kAround, next});
      if (j < kUp - 1) mesh.triangles.push_back({next, here + kAround, next + kAround});
    }
  }
  return mesh;
}

double area_of(const TensorOracle& mesh) {
  double area = 0;
  for (const Vec3i& t : mesh.triangles) {
    const auto at = [&](std::int32_t i) {
      return cast<double>(mesh.points[static_cast<std::size_t>(i)]);
    };
    area += 0.5 * norm(cross(at(t.y) - at(t.x), at(t.z) - at(t.x)));
  }
  return area;
}

TEST(MeshTensor, IsThatOfTheOrganisedSurface) {
  const auto surface = [](const Vec3d& ray) -> std::optional<testing::Hit> {
    if (ray.x > 0.02) return testing::PlaneSurface{0.45, {0.2, 0.1, -1}}(ray);
    return testing::SphereSurface{{0, 0, 0.5}, 0.03}(ray);
  };
  constexpr float kResolution_m = 0.00095f;
  const testing::OrganisedScene scene =
      testing::look_at(surface, {.width = 90, .height = 70, .noise_m = 0.0002});
  std::vector<Vec3f> normals;
  for (const Vec3d& n : scene.normals) normals.push_back(cast<float>(n));
  SurfaceStatistics statistics;
  statistics.max_edge_m = 0.004f;
  statistics.max_angle_rad = 1.2f;
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const Image<Vec3f> points = scene.on(context);
    const Image<Vec3f> on_device(copy(context, normals), scene.width, scene.height);
    const Image<std::uint8_t> cells = triangulate(context, points, on_device, statistics);
    const Buffer<PointPair> all = find_pairs(context, points, on_device, kResolution_m);
    const Buffer<PointPair> pairs = select_pairs(context, all, 60);
    ASSERT_EQ(pairs.size(), 60);
    const TensorMesh mesh = prepare_tensor_mesh(context, points.pixels(), on_device.pixels(),
                                                triangle_indices(context, cells));
    for (const TensorMode mode : {TensorMode::kGrow, TensorMode::kAll}) {
      const TensorOptions options{.mode = mode};
      const TensorSet from_mesh = compute_tensors(context, mesh, pairs, kResolution_m, options);
      const TensorSet from_image = compute_tensors(
          context, OrganisedSurface{points, on_device, cells}, pairs, kResolution_m, options);
      EXPECT_GT(from_mesh.values.size(), 2000);
      expect_same_areas(to_host(context, from_mesh), to_host(context, from_image));
    }
  }
}

TEST(MeshTensor, HoldsAWholeBall) {
  const TensorOracle mesh = ball();
  const double area = area_of(mesh);
  EXPECT_NEAR(area, 4 * std::numbers::pi, 0.1);
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const DeviceMesh on_device(context, mesh);
    const float resolution_m =
        mesh_resolution(context, on_device.vertices, copy(context, mesh.triangles));
    EXPECT_GT(resolution_m, 0.05f);
    EXPECT_LT(resolution_m, 0.15f);
    // Partners at 15° and more: 0.26 and up.
    const Buffer<PointPair> pairs =
        find_cloud_pairs(context, on_device.vertices, on_device.normals, 0.1f,
                         {.least_resolutions = 2, .most_resolutions = 4});
    EXPECT_GT(pairs.size(), 1000);
    const Buffer<PointPair> some = select_pairs(context, pairs, 20);
    // The centre of a cube lies inside the ball, near its surface: 5 m hold all of it.
    const TensorSet tensors = to_host(
        context, compute_tensors(context, on_device.mesh, some, 0.1f, {.bin_resolutions = 5}));
    EXPECT_NEAR(total(tensors), 20 * area / (0.5 * 0.5), 1e-3 * 20 * area / 0.25);
  }
}

TEST(MeshTensor, IsThatOfTheOracle) {
  // Triangles between any of 60 points: edges with many triangles, and some with one.
  TensorOracle mesh;
  const std::uint64_t seed = testing::seed_of_test();
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Random random{seed, i};
    mesh.points.push_back({random.uniform(0) * 30, random.uniform(1) * 30, random.uniform(2) * 30});
    mesh.normals.push_back(
        normalized(Vec3f{random.uniform(3) - 0.5f, random.uniform(4) - 0.5f, 1}));
  }
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Random random{seed + 1, i};
    const auto corner = [&](std::uint64_t draw) {
      return static_cast<std::int32_t>(random.below(60, draw));
    };
    mesh.triangles.push_back({corner(0), corner(1), corner(2)});
  }
  // Three pages of a book, apart from all others: an edge that three triangles share.
  const auto spine = static_cast<std::int32_t>(mesh.points.size());
  for (const Vec3f& p :
       {Vec3f{100, 0, 0}, Vec3f{100, 4, 0}, Vec3f{104, 2, 0}, Vec3f{96, 2, 0}, Vec3f{100, 2, 4}}) {
    mesh.points.push_back(p);
    mesh.normals.push_back({0, 0, 1});
  }
  mesh.normals[static_cast<std::size_t>(spine + 2)] = {0.6f, 0, 0.8f};
  for (int page = 2; page < 5; ++page) {
    mesh.triangles.push_back({spine, spine + 1, spine + page});
  }
  const std::vector<PointPair> pairs{{0, 1}, {4, 9}, {13, 50}, {spine + 2, spine}};
  for (const TensorMode mode : {TensorMode::kGrow, TensorMode::kAll}) {
    const TensorOptions options{.bins = 6, .mode = mode};
    std::vector<TensorOracle::Answer> truth;
    for (const PointPair& pair : pairs) truth.push_back(mesh.tensor(pair, 1.0, options));
    EXPECT_NEAR(truth[3].in_cube, 3 * 8 / 4.0, 1.0);
    TensorSet first_answer;
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      TensorSet tensors = tensors_of(context, mesh, pairs, 1.0f, options);
      std::vector<float> dense(pairs.size() * 216);
      unpack_tensors_into(Context::cpu(1), tensors, view_of(dense));
      for (std::size_t t = 0; t < pairs.size(); ++t) {
        for (std::size_t bin = 0; bin < 216; ++bin) {
          EXPECT_NEAR(dense[t * 216 + bin], truth[t].bins[bin], 5e-4);
        }
      }
      if (first_answer.bins > 0) expect_same_areas(tensors, first_answer);
      first_answer = std::move(tensors);
    }
  }
}

TEST(MeshTensor, IsRecordedWithoutWaiting) {
  const TensorOracle mesh = ball();
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const DeviceMesh on_device(context, mesh);
    const std::vector<PointPair> pairs{{300, 364}, {305, 369}, {700, 764}};
    const Buffer<PointPair> list = copy(context, pairs);
    const Buffer<std::int32_t> count = copy(context, std::vector<std::int32_t>{3});
    TensorSet tensors(context, 2, 10);
    Workspace workspace;
    const auto frame = [&] {
      compute_tensors_into(context, on_device.mesh, list, count, 0.1f, {}, tensors, workspace);
    };
    EXPECT_EQ(testing::launch_recorded(context, frame), 0);
    // There is room for two of the three.
    EXPECT_EQ(to_host(context, tensors.count)[0], 2);
    expect_same_areas(to_host(context, pack_tensors(context, tensors)),
                      tensors_of(context, mesh, {pairs[0], pairs[1]}, 0.1f));
  }
}

TEST(MeshTensor, OfTheBunny) {
  const auto file = testing::shared_data("stanford_bunny/bun_zipper_res2.ply");
  if (!file) GTEST_SKIP() << "no captured data beside the checkout";
  const TriangleMesh bunny = read_geometry(*file);
  TensorOracle mesh;
  mesh.points.assign(bunny.vertices.points.host().begin(), bunny.vertices.points.host().end());
  mesh.triangles.assign(bunny.triangles.host().begin(), bunny.triangles.host().end());
  const Buffer<Vec3f> normals = estimate_cloud_normals(Context::cpu(), view_of(mesh.points));
  mesh.normals.assign(normals.host().begin(), normals.host().end());
  constexpr std::size_t kPairs = 3;
  std::vector<TensorOracle::Answer> truth;  // in both modes
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const DeviceMesh on_device(context, mesh);
    const float resolution_m =
        mesh_resolution(context, on_device.vertices, copy(context, mesh.triangles));
    EXPECT_NEAR(resolution_m, 0.0029, 0.0005);
    const Buffer<PointPair> all =
        find_cloud_pairs(context, on_device.vertices, on_device.normals, resolution_m);
    EXPECT_GT(all.size(), 8000);
    const Buffer<PointPair> pairs = select_pairs(context, all, kPairs);
    std::size_t answer = 0;
    for (const TensorMode mode : {TensorMode::kGrow, TensorMode::kAll}) {
      const TensorOptions options{.mode = mode};
      const TensorSet tensors =
          to_host(context, compute_tensors(context, on_device.mesh, pairs, resolution_m, options));
      std::vector<float> dense(kPairs * 1000);
      unpack_tensors_into(Context::cpu(1), tensors, view_of(dense));
      for (std::size_t t = 0; t < kPairs; ++t, ++answer) {
        if (truth.size() == answer) {
          truth.push_back(mesh.tensor(tensors.frames.host()[t].pair, resolution_m, options));
        }
        EXPECT_GT(truth[answer].in_cube, 10.0);
        for (std::size_t bin = 0; bin < 1000; ++bin) {
          EXPECT_NEAR(dense[t * 1000 + bin], truth[answer].bins[bin], 2e-4);
        }
      }
    }
  }
}

TEST(MeshTensor, BadInput) {
  for (const Context& context : testing::all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    const TensorSet none = tensors_of(context, {}, {{0, 1}}, 1.0f);
    EXPECT_EQ(none.count.host()[0], 1);
    EXPECT_EQ(none.values.size(), 0);
    TensorOracle mesh = ball();
    const std::vector<PointPair> pairs{{300, 364}, {-4, 2}, {3, 1 << 30}, {5, 5}};
    // Triangles without vertices, and vertices nowhere.
    mesh.triangles.push_back({-1, 2, 3});
    mesh.triangles.push_back({0, 1, 1 << 30});
    mesh.points.push_back({NAN, 0, INFINITY});
    mesh.normals.push_back({NAN, NAN, NAN});
    const auto last = static_cast<std::int32_t>(mesh.points.size()) - 1;
    mesh.triangles.push_back({300, 301, last});
    const TensorSet tensors = tensors_of(context, mesh, pairs, 0.1f);
    expect_same_areas(tensors, tensors_of(context, ball(), pairs, 0.1f));
    EXPECT_GT(tensors.sizes.host()[0], 20);
    for (int t = 1; t < 4; ++t) EXPECT_EQ(tensors.sizes.host()[static_cast<std::size_t>(t)], 0);
    for (const float resolution_m : {0.0f, NAN, INFINITY}) {
      EXPECT_EQ(tensors_of(context, mesh, pairs, resolution_m).values.size(), 0);
    }
    TensorOracle without = ball();
    without.normals.clear();
    EXPECT_THROW(tensors_of(context, without, pairs, 0.1f), Error);
  }
}

}  // namespace
}  // namespace sextant
